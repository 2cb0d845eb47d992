import { createZone, formatDay, type Zone } from '../../../values/time'
import { ImportFileError } from '../../entries/entry'
import type { CountedStatistics, StatisticsOptions, StatisticsResult } from '../../entries/reader-protocol'
import { decodeMissing, encodeMissing } from './missing-rows'
import { align, createCollector, documentOf, orderBy, type Rows, sortRows, startOf, subtract, unite } from './rows'
import { createDocuments, type Documents, readStatisticsFile } from './statistics-file'

/** The rows of the file before. It was accepted, so if it cannot be read, the new file is not at fault. */
const readStored = (file: Uint8Array, documents: Documents) => {
  try {
    return readStatisticsFile(file, documents).rows
  } catch (error) {
    throw error instanceof ImportFileError ? new Error(`stored statistics: ${error.message}`) : error
  }
}

/** The rows with which a file adds to those that were counted, by day, then document. */
const findAdditions = (counted: Rows, current: Rows, zone: Zone) => {
  const [rows, seconds] = [new Int32Array(current.length), new Int32Array(current.length)]
  let length = 0
  align(counted, current, (atCounted, at) => {
    const added = (current.durations[at] ?? 0) - (counted.durations[atCounted] ?? 0)
    if (added <= 0) return
    rows[length] = at
    seconds[length++] = added
  })
  const [documents, days] = [new Int32Array(length), new Int32Array(length)]
  for (let at = 0; at < length; at++) {
    const key = current.keys[rows[at] ?? 0] ?? 0
    documents[at] = documentOf(key)
    // Behind UTC, the first hours of 1970 are in 1969.
    days[at] = Math.max(0, zone.toDay(startOf(key) * 1000))
  }
  return { length, rows, seconds, documents, days, order: orderBy(length, documents, days) }
}

type Sitting = { document: number; day: number; seconds: number }

/** Adds up what the first rows add, and says how many those are. */
const sumUp = ({ length, order, seconds, documents, days }: ReturnType<typeof findAdditions>, max: number) => {
  const sittings: Sitting[] = []
  let last: Sitting | undefined
  for (let n = 0; n < length; n++) {
    const at = order[n] ?? 0
    const [document = 0, day = 0] = [documents[at], days[at]]
    if (last?.document !== document || last.day !== day) {
      if (sittings.length === max) return { sittings, taken: n }
      last = { document, day, seconds: 0 }
      sittings.push(last)
    }
    last.seconds += seconds[at] ?? 0
  }
  return { sittings, taken: length }
}

/** Some rows of a set, by their indexes. */
const pick = ({ keys, pages, durations }: Rows, indexes: Iterable<number>) => {
  const { add, collected } = createCollector()
  for (const at of indexes) add(keys[at] ?? 0, pages[at] ?? 0, durations[at] ?? 0)
  return sortRows(collected())
}

/**
 * What a file of reading statistics adds to the rows that were counted: docs/decisions/0040-reading-time.md.
 * @throws ImportFileError if the file cannot be read
 */
export const readStatistics = (
  file: Uint8Array,
  { file: stored, missing }: CountedStatistics,
  { timeZone, maxSittings }: StatisticsOptions,
): StatisticsResult => {
  const documents = createDocuments()
  const before = stored ? readStored(stored, documents) : createCollector().collected()
  const counted = missing ? unite(before, decodeMissing(missing, documents)) : before
  const { rows: current, books } = readStatisticsFile(file, documents)

  const additions = findAdditions(counted, current, createZone(timeZone))
  const { sittings, taken } = sumUp(additions, maxSittings)
  const isComplete = taken === additions.length
  const indexes = additions.order
    .subarray(0, taken)
    .values()
    .map((at) => additions.rows[at] ?? 0)
  const now = unite(counted, isComplete ? current : pick(current, indexes))

  const names = documents.names()
  const named = [...new Set(sittings.map(({ document }) => document))]
  const positions = new Map(named.map((document, at) => [document, at]))
  return {
    documents: named.map((index) => {
      const document = names[index] ?? ''
      return { document, ...(books.get(document) ?? { title: null, authors: null }) }
    }),
    added: sittings.map(({ document, day, seconds }) => ({
      document: positions.get(document) ?? 0,
      day: formatDay(day),
      seconds,
    })),
    isComplete,
    missing: encodeMissing(subtract(now, isComplete ? current : before), documents),
  }
}
