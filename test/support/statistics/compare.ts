import { expect } from 'vitest'
import { ImportFileError } from '../../../src/transfer/entries/entry'
import { decodeMissing } from '../../../src/transfer/reader/statistics/missing-rows'
import { documentOf, type Rows, startOf } from '../../../src/transfer/reader/statistics/rows'
import { createDocuments, readStatisticsFile } from '../../../src/transfer/reader/statistics/statistics-file'
import { query } from './write-file'

type Read = [document: string, start: number, page: number, duration: number]

const toTuples = ({ length, keys, pages, durations }: Rows, names: string[]) =>
  Array.from({ length }, (_, at): Read => {
    const key = keys[at] ?? 0
    return [names[documentOf(key)] ?? '', startOf(key), pages[at] ?? 0, durations[at] ?? 0]
  })

/** What the reader reads of a file: rows by document, start and page, and titles and authors by document. */
export const readFileRows = (bytes: Uint8Array) => {
  const documents = createDocuments()
  const { rows, books } = readStatisticsFile(bytes, documents)
  const byName = Object.groupBy(toTuples(rows, documents.names()), ([document]) => document)
  const names = Object.keys(byName).sort()
  return {
    rows: names.flatMap((name) => byName[name] ?? []),
    books: [...books].map(([document, { title, authors }]) => [document, title, authors]).sort(),
  }
}

/** The durations of rows that a file lacks, by document, start and page. */
export const readMissing = (bytes: Uint8Array | null): [string, number][] => {
  if (!bytes) return []
  const documents = createDocuments()
  const rows = toTuples(decodeMissing(bytes, documents), documents.names())
  return rows
    .map(([document, start, page, duration]): [string, number] => [`${document} ${start} ${page}`, duration])
    .sort()
}

/** The same, as SQLite reads it. */
export const queryRows = (bytes: Uint8Array, table = 'page_stat_data', duration = 'duration') => {
  const isNumber = ['page', 'start_time', duration].map((column) => `typeof(stat."${column}") in ('integer', 'real')`)
  return {
    rows: query(
      bytes,
      `select lower(book.md5), cast(round(start_time) as integer) as start, cast(round(page) as integer) as number,
         max(cast(round("${duration}") as integer)) as seconds
       from "${table}" as stat join book on book.id = stat.id_book
       where ${isNumber.join(' and ')} and lower(book.md5) glob '${'[0-9a-f]'.repeat(32)}'
         and round("${duration}") between 1 and 86400 and round(start_time) between 0 and 253402300799
         and round(page) between 0 and 2147483647
       group by 1, 2, 3 order by 1, 2, 3`,
    ),
    books: query(
      bytes,
      `select lower(md5), nullif(trim(title), ''), nullif(trim(authors), '') from book
       where lower(md5) glob '${'[0-9a-f]'.repeat(32)}' order by 1`,
    ),
  }
}

/** Expects the reader to read what SQLite reads, and some rows. */
export const expectEqual = (bytes: Uint8Array, ...table: string[]) => {
  const read = readFileRows(bytes)
  expect(read).toEqual(queryRows(bytes, ...table))
  expect(read.rows.length).toBeGreaterThan(0)
  return read
}

/** Why a file is refused. Undefined if it is read. */
export const reasonOf = (bytes: Uint8Array) => {
  try {
    readStatisticsFile(bytes, createDocuments())
    return undefined
  } catch (error) {
    if (error instanceof ImportFileError) return error.message
    throw error
  }
}
