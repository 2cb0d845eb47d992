import { toIsbn10 } from '../../values/text/isbn'
import { toCsv } from '../entries/csv-writer'
import type { BookRow } from './book-lists'

/** Goodreads' columns, then the dates of all readings and the subtitle as src/transfer/reader/formats/goodreads.ts reads them. */
const HEADER =
  'Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,My Rating,Average Rating,Publisher,Binding,Number of Pages,Year Published,Original Publication Year,Date Read,Date Added,Bookshelves,Bookshelves with positions,Exclusive Shelf,My Review,Spoiler,Private Notes,Read Count,Owned Copies,read_dates,Subtitle'.split(
    ',',
  )

const BINDINGS = { PAPER: 'Paperback', EBOOK: 'ebook', AUDIO: 'Audiobook' }
const SHELVES = { YET: 'to-read', ING: 'currently-reading', DONE: 'read' }

type ReadingDates = { startedAt: string | null; finishedAt: string | null; outcome: string | null }

const toDay = (date: string | null | undefined) => (date ? date.slice(0, 10).replaceAll('-', '/') : '')
const toReadDates = ({ startedAt, finishedAt }: ReadingDates) =>
  startedAt || finishedAt ? `${startedAt ?? ''},${finishedAt ?? ''}` : ''

const goodreadsId = (sourceIds: string[]) =>
  /^goodreads:(\d+)$/.exec(sourceIds.find((id) => id.startsWith('goodreads:')) ?? '')?.[1]

const toCells = (book: BookRow, toIsbn: (isbn: string) => string) => {
  const readings: ReadingDates[] = JSON.parse(book.readings ?? '[]')
  const newest = readings.at(-1)
  const isStopped = book.bookStatus === 'DONE' && newest?.outcome === 'STOPPED'
  // This column takes only complete dates.
  const finishedAt = book.bookStatus === 'DONE' && newest?.finishedAt?.length === 10 ? newest.finishedAt : null
  const values: Record<string, string | number | null | undefined> = {
    'Book Id': goodreadsId(JSON.parse(book.sourceIds ?? '[]')),
    Title: book.title,
    Author: book.author,
    ISBN: toIsbn(toIsbn10(book.isbn ?? '') ?? ''),
    ISBN13: toIsbn(book.isbn ?? ''),
    'My Rating': book.star,
    Publisher: book.publisher,
    Binding: book.format && BINDINGS[book.format],
    'Number of Pages': book.itemPage,
    'Year Published': book.publishedYear,
    'Date Read': toDay(finishedAt),
    'Date Added': toDay(book.createdAt),
    Bookshelves: JSON.parse(book.tags).join(', '),
    'Exclusive Shelf': isStopped ? 'did-not-finish' : SHELVES[book.bookStatus],
    // Other services show reviews to everyone, and notes to nobody.
    'My Review': book.review ?? book.note,
    'Private Notes': book.review === null ? null : book.note,
    'Read Count': readings.filter(({ outcome }) => outcome === 'FINISHED').length,
    Subtitle: book.subtitle,
    read_dates: readings.map(toReadDates).filter(Boolean).join(';'),
  }
  return HEADER.map((column) => String(values[column] ?? ''))
}

// A spreadsheet that splits columns at semicolons or tabs, as in many locales, ignores the quotation marks around a
// cell, so that cells also begin within texts. In Japanese spreadsheets, full-width signs begin formulas, too. The
// lookbehind makes the expression read each run of separators once, which keeps the time linear.
const SIGN = /(?<![;\s"])([;\s"]*)([=+\-@＝＋－＠])/g
const SEPARATOR = /[;\t\r\n]/

/** Puts `'` before what a spreadsheet would run as a formula. */
const escapeFormulas = (text: string) => {
  const escaped = text.replace(SIGN, (match, before: string, sign: string, at: number) => {
    if (at === 0) return `'${match}`
    return SEPARATOR.test(before) ? `${before}'${sign}` : match
  })
  return /^[\t\r\n]/.test(escaped) ? `'${escaped}` : escaped
}

const BOM = '\ufeff'

/**
 * Writes the books as CSV, in chunks.
 * @param forSpreadsheet adds a byte order mark and escapes formulas. Otherwise, ISBNs are formulas, as Goodreads writes
 * them, and texts stay unchanged.
 */
export async function* toTable(pages: AsyncIterable<BookRow[]>, forSpreadsheet: boolean) {
  const toIsbn = (isbn: string) => (forSpreadsheet ? isbn : `="${isbn}"`)
  const toRow = (book: BookRow) => {
    const cells = toCells(book, toIsbn)
    return forSpreadsheet ? cells.map(escapeFormulas) : cells
  }
  yield `${forSpreadsheet ? BOM : ''}${toCsv([HEADER])}`
  for await (const page of pages) yield toCsv(page.map(toRow))
}
