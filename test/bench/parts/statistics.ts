import { readStatistics } from '../../../src/transfer/reader/statistics/read-statistics.ts'
import { median } from '../../support/service/http-client.ts'
import { manyRows, writeStatistics } from '../../support/statistics/write-file.ts'
import { timeCpu } from './picture.ts'

export type StatisticsCost = { rows: number; firstMs: number; laterMs: number }

const OPTIONS = { timeZone: 'Europe/Berlin', maxSittings: 10_000 }
/** Pages of a day. */
const DAY = 60

/** CPU of the reader for a first file of reading statistics, and for the same with a day more: medians, in milliseconds. */
export const measureStatistics = (isQuick: boolean): StatisticsCost => {
  const rows = isQuick ? 2000 : 200_000
  const [before, after] = [rows, rows + DAY].map((count) => {
    const many = manyRows(count)
    return writeStatistics(many.books, many.rows)
  })
  if (!before || !after) throw new Error('no files')
  const first: number[] = []
  const later: number[] = []
  for (let run = 0; run < (isQuick ? 1 : 15); run++) {
    first.push(timeCpu(() => readStatistics(before, { file: null, missing: null }, OPTIONS)))
    later.push(timeCpu(() => readStatistics(after, { file: before, missing: null }, OPTIONS)))
  }
  return { rows, firstMs: median(first), laterMs: median(later) }
}
