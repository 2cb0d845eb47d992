// @module-tag slow
import { expect, it } from 'vitest'
import { readStatistics } from '../../src/transfer/reader/statistics/read-statistics'
import { expectLinear } from '../support/runtime/growth'
import { insert, md5Of, SCHEMA, writeDatabase } from '../support/statistics/write-file'

const OPTIONS = { timeZone: 'Europe/Berlin', maxSittings: 1000 }
const NOTHING = { file: null, missing: null }

/** @param row the book, page, start and duration of row `n`, as SQL */
const write = (size: number, row: string) =>
  writeDatabase((database) => {
    database.exec(SCHEMA.replace(/unique \(.+\),|create index.+;/g, ''))
    const ids = Array.from({ length: 2000 }, (_, at) => at + 1)
    const books = ids.map((id) => ({ id, title: null, authors: `${id}`, md5: md5Of(id) }))
    insert(database, books, [])
    database.exec(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${size})
      insert into page_stat_data (id_book, page, start_time, duration) select ${row} from numbers`)
  })

it.each([
  ['rows in random order', '1 + n * 7919 % 2000, n * 104729 % 10007, 1500000000 + n * 15485863 % 100000007, 60'],
  ['pages of one second', '1, n * 7919 % 1000003, 1500000000, 60'],
  ['days that each differ', '1, 1, 100000 * n, 60'],
])('reads and compares %s in linear time', (_, row) => {
  const make = (size: number) => {
    const file = write(size, row)
    const { missing } = readStatistics(write(1, row), { file, missing: null }, OPTIONS)
    return { file, missing }
  }
  return expectLinear(60_000, make, ({ file, missing }) => {
    expect(readStatistics(file, NOTHING, OPTIONS).added.length).toBeGreaterThan(0)
    expect(readStatistics(file, { file: null, missing }, OPTIONS).isComplete).toBe(true)
  })
})
