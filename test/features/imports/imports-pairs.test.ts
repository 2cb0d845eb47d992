// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import type { ImportRow } from '../../../src/transfer/imports/responses'
import librarything from '../../fixtures/imports/pairs/goodreads-librarything.tsv?raw'
import storygraph from '../../fixtures/imports/pairs/goodreads-storygraph.tsv?raw'
import { type Reader, signUp } from '../../support/api'
import { importFile } from '../../support/transfer/imports'

// Each line is a book: what Goodreads says of it, and what the other service says. README.md beside the fixtures has more.
const linesOf = (table: string) => table.trimEnd().split('\n').slice(1)
const quote = (cell = '') => `"${cell.replaceAll('"', '""')}"`

const GOODREADS = 'Book Id,Title,Author,Additional Authors,ISBN13,Exclusive Shelf'
const STORYGRAPH = 'Title,Authors,Contributors,ISBN/UID,Format,Read Status'
const toCsv = (header: string, rows: string[][]) => [header, ...rows.map((row) => row.map(quote).join(','))].join('\n')
const toGoodreads = (rows: string[][]) =>
  toCsv(
    GOODREADS,
    rows.map(([id = '', title = '', author = '', additional = '', isbn]) => [
      ...[id, title, author, additional, isbn ? `="${isbn}"` : '', 'to-read'],
    ]),
  )
const toStorygraph = (rows: string[][]) =>
  toCsv(
    STORYGRAPH,
    rows.map(([title = '', authors = '', isbn = '']) => [title, authors, '', isbn, 'paperback', 'to-read']),
  )
const toLibrarything = (rows: string[][]) =>
  JSON.stringify(
    Object.fromEntries(
      rows.map(([id = '', title, authors = '', isbn]) => [
        id,
        { books_id: id, title, authors: authors.split('|').map((fl) => ({ fl })), isbn: isbn && { 0: isbn } },
      ]),
    ),
  )

const SERVICES = {
  StoryGraph: { table: storygraph, toFile: toStorygraph, counts: { same: 142, flagged: 23 } },
  LibraryThing: { table: librarything, toFile: toLibrarything, counts: { same: 19, flagged: 7 } },
}

/** The rows of the report, in the order of the file. */
const importRows = async (reader: Reader, file: string) => {
  const { importId } = await importFile(reader, file)
  const rows: ImportRow[] = []
  for (let page = 1; rows.length === (page - 1) * 100; page++) {
    rows.push(...(await reader.get(`/imports/${importId}/rows?page=${page}&size=100`)).body.item)
  }
  return rows.sort((one, other) => one.line - other.line)
}

describe.each(Object.entries(SERVICES))('the books of a reader of Goodreads and %s', (_, { table, toFile, counts }) => {
  const cells = linesOf(table).map((line) => line.split('\t'))
  const books = cells
    .map((row) => ({ goodreads: row.slice(0, 5), other: row.slice(5) }))
    // JSON has its numbers in order.
    .sort((one, other) => Number(one.other[0]) - Number(other.other[0]) || 0)
  const isListed = (cells: string[]) => cells.some(Boolean)

  it.each([
    ['from Goodreads first', true],
    ['from Goodreads last', false],
  ])('are neither doubled without a flag nor mixed up: %s', async (_, isGoodreadsFirst) => {
    const reader = await signUp()
    const sides = [
      { key: 'goodreads' as const, toFile: toGoodreads },
      { key: 'other' as const, toFile },
    ]
    const [first, second] = isGoodreadsFirst ? sides : sides.toReversed()
    if (!first || !second) throw new Error('two services are compared')
    const load = async ({ key, toFile }: (typeof sides)[number]) => {
      const listed = books.filter((book) => isListed(book[key]))
      const rows = await importRows(reader, toFile(listed.map((book) => book[key])))
      expect(rows).toHaveLength(listed.length)
      return new Map(listed.map((book, at) => [book, rows[at]]))
    }
    const earlier = await load(first)
    const later = await load(second)
    const found = { same: 0, flagged: 0 }
    for (const [book, row] of later) {
      const known = earlier.get(book)
      const says = book[second.key].join()
      if (!known) expect(row, says).toMatchObject({ outcome: 'created' })
      else if (row?.outcome === 'created') {
        expect(row, says).toMatchObject({ code: 'possible-duplicate' })
        found.flagged++
      } else {
        expect(row, says).toMatchObject({ bookId: known.bookId })
        found.same++
      }
    }
    expect(found).toEqual(counts)
  })
})
