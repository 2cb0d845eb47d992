import { MAX_SECONDS, MAX_SOURCE_IDS, MAX_YEAR, MIN_YEAR } from '../../../library/editions/schema'
import { MAX_CONTENT } from '../../../library/memos/schema'
import { MAX_BOOK_TAGS } from '../../../library/tags/schema'
import { MAX_NAME, MAX_TAG } from '../../../values/contract'
import { fold } from '../../../values/text/fold'
import { truncate } from '../../../values/text/truncate'
import { type Code, type EntryMemo, MAX_COLUMN_NAME } from '../../entries/entry'
import { findDates, withTime } from './dates'
import type { ReadCell, Row } from './row'
import { parseSourceId } from './source-ids'
import { parseDecimal, parseInteger, parseIsbn, parseQuarters, splitList, storable, toKey } from './values'
import { parseFormat, parseLanguage } from './words'

/** Columns with the functions that read them, by folded names, in the order in which they are read. */
export type Columns = Record<string, ReadCell>

/** A column that is left out, or that the function of another column reads. */
export const ignored: ReadCell = () => undefined

/** A column of the member's own data that the library has no place for. */
export const unsupported: ReadCell = (row, cell, column) => {
  if (!/^(?:0|no|false|n\/a|unknown)?$/i.test(cell)) row.lose('not-supported', column)
}

/** Fails a row as `not-supported` unless its cell matches. */
export const failUnless =
  (pattern: RegExp): ReadCell =>
  ({ entry, lose }, cell, column) => {
    if (pattern.test(cell)) return
    entry.failure = 'not-supported'
    lose('not-supported', column)
  }

/** Reads what a service writes for an unknown value as an empty cell. */
export const unless =
  (unknown: RegExp, read: ReadCell): ReadCell =>
  (row, cell, column) =>
    read(row, unknown.test(cell) ? '' : cell, column)

/** Several columns that are read alike. Their names are separated by commas. */
export const each = (names: string, read: ReadCell): Columns =>
  Object.fromEntries(names.split(',').map((name) => [name, read]))

// If several columns have a value of the entry, the first one counts.

const name =
  (field: 'title' | 'subtitle' | 'publisher' | 'series'): ReadCell =>
  (row, cell, column) => {
    row.entry[field] ??= row.text(cell, column)
  }
export const title = name('title')
export const subtitle = name('subtitle')
export const publisher = name('publisher')
export const series = name('series')

/** @param code the loss if `parse` returns undefined */
const value =
  <Field extends keyof Row['entry']>(
    field: Field,
    parse: (cell: string) => Row['entry'][Field] | undefined,
    code: Code,
  ): ReadCell =>
  (row, cell, column) => {
    if (row.entry[field] !== null) return
    const parsed = parse(cell)
    if (parsed === undefined) row.lose(code, column)
    else row.entry[field] = parsed
  }
/** Reads an integer of which 0 means that it is unknown: no book has so many pages, and there is no such year. */
const parseKnown = (cell: string, min?: number, max?: number) => {
  const number = parseInteger(cell, min, max)
  return number === 0 ? null : number
}
export const pages = value('itemPage', (cell) => parseKnown(cell), 'bad-number')
export const currentPage = value('currentPage', (cell) => parseInteger(cell), 'bad-number')
export const publishedYear = value('publishedYear', (cell) => parseKnown(cell, MIN_YEAR, MAX_YEAR), 'bad-number')
export const seconds = value('seconds', (cell) => parseKnown(cell, 0, MAX_SECONDS), 'bad-number')
export const seriesNumber = value('seriesNumber', parseDecimal, 'bad-number')
export const language = value('language', parseLanguage, 'not-supported')
export const format = value('format', parseFormat, 'not-supported')

export const languages: ReadCell = (row, cell, column) => {
  const [first = '', ...others] = splitList(cell, ',')
  language(row, first, column)
  if (others.length > 0) row.lose('not-supported', column)
}

export const published: ReadCell = (row, cell, column) => {
  const date = row.date(cell, column)
  if (date) row.entry.publishedYear = Number(date.slice(0, 4))
}
/** A year, or a date. */
export const yearOfDate: ReadCell = (row, cell, column) => {
  // `1965.0` is a number.
  const read = !/^\d+\.?\d*$/.test(cell) && findDates(cell) ? published : publishedYear
  read(row, cell, column)
}

/** How spreadsheets write a long number. The last digits are lost. */
const AS_NUMBER = /^\d(?:[.,]\d{1,12})?E\+1[0-2]$/i

/** Reports each ISBN that is not valid, also if another column has a valid one. */
export const isbn: ReadCell = (row, cell, column) => {
  const isbn = parseIsbn(cell)
  if (isbn === undefined) row.lose(AS_NUMBER.test(cell) ? 'spreadsheet-isbn' : 'bad-isbn', column)
  row.entry.isbn ??= isbn ?? null
}

const readRating = (row: Row, cell: string, column: string, most?: number) => {
  const rating = parseQuarters(cell, most)
  if (!rating) return row.lose('bad-rating', column)
  if (rating.isRounded) row.lose('rating-rounded', column)
  row.entry.quarters = rating.quarters
}
/** A rating of up to five stars. */
export const rating: ReadCell = (row, cell, column) => readRating(row, cell, column)
/** A rating in a list of the member's own, of as many points as its column has. */
export const scaledRating: ReadCell = (row, cell, column) => {
  const { most, isGuessed } = row.scaleOf(column)
  readRating(row, cell, column, most)
  const { quarters } = row.entry
  const isScaled = isGuessed && quarters !== null && quarters !== parseQuarters(cell)?.quarters
  if (isScaled) row.lose('rating-scaled', column, `of ${most}`)
}

/** When the book was added: a date, or a time if the file has one. */
export const added: ReadCell = (row, cell, column) => {
  const day = row.date(cell, column)
  if (day && day.length < 10) return row.lose('partial-date', column)
  row.entry.addedAt = day && cell.includes(':') ? withTime(day, cell) : day
}

/** Joins the authors, up to a name that fits. */
export const addAuthors = (row: Row, names: string[], column: string) => {
  const [first = '', ...others] = new Set(
    names
      .slice(0, MAX_NAME)
      .map((name) => name.replace(/\s+/g, ' ').trim())
      .filter(Boolean),
  )
  let author = row.text(first, column)
  if (names.length > MAX_NAME) row.lose('too-long', column)
  for (const other of others) {
    if (`${author}, ${other}`.length > MAX_NAME) {
      row.lose('too-long', column)
      break
    }
    author += `, ${other}`
  }
  row.entry.author = author
}
/** The authors, unless an earlier column has them. Without a separator, the cell has one. */
export const authors =
  (separator?: string | RegExp): ReadCell =>
  (row, cell, column) => {
    if (row.entry.author === null) addAuthors(row, separator ? splitList(cell, separator) : [cell], column)
  }

/** Adds tags, without those that differ only in case from others. */
export const addTags = ({ entry: { tags }, tagKeys, lose }: Row, names: string[], column: string) => {
  for (const name of names) {
    // Normalizing a long text can take minutes.
    const tag = storable(name.slice(0, 4 * MAX_TAG))
      .normalize('NFC')
      .trim()
    const kept = truncate(tag, MAX_TAG).trim()
    const key = fold(kept)
    if (!kept || tagKeys.has(key)) continue
    if (tags.length === MAX_BOOK_TAGS) return lose('too-many', column)
    if (tag.length > MAX_TAG || name.length > 4 * MAX_TAG) lose('too-long', column)
    tags.push(kept)
    tagKeys.add(key)
  }
}
export const tags =
  (separator?: string): ReadCell =>
  (row, cell, column) =>
    addTags(row, splitList(cell, separator ?? (cell.includes(';') ? ';' : ',')), column)

export const identify = (row: Row, source: string, id: string, column: string) => {
  const { sourceIds } = row.entry
  const { sourceId, code } = parseSourceId(toKey(source).replace(/[^a-z\d_-]/g, ''), id.trim())
  if (code) return row.lose(code, column)
  if (!sourceId || sourceIds.includes(sourceId)) return
  if (sourceIds.length === MAX_SOURCE_IDS) return row.lose('too-many', column)
  sourceIds.push(sourceId)
}
/** An identifier with its source, such as `goodreads:1`. */
export const sourceId: ReadCell = (row, cell, column) => {
  const colon = cell.indexOf(':')
  if (colon > 0) identify(row, cell.slice(0, colon), cell.slice(colon + 1), column)
  else if (cell) row.lose('not-supported', column)
}
export const identifier =
  (source: string): ReadCell =>
  (row, cell, column) =>
    identify(row, source, cell, column)

/** Adds a memo with what is known of it. HTML stays as it is. Returns whether it has text. */
export const addMemo = (row: Row, memo: Partial<EntryMemo> & { content: string }, column: string) => {
  const content = row.text(memo.content, column, MAX_CONTENT, 'review-truncated')
  if (content === null) return false
  row.entry.memos.push({ type: 'THOUGHT', page: 0, createdAt: null, ...memo, content })
  return true
}
/** Adds a highlight with its notes, or notes on no highlight, as one memo. */
export const addHighlight = (
  row: Row,
  [highlight, ...notes]: string[],
  { page, createdAt, key }: Pick<EntryMemo, 'page' | 'createdAt' | 'key'>,
  field: string,
) => {
  const content = [highlight, ...notes].filter(Boolean).join('\n\n')
  addMemo(row, { type: highlight ? 'BOOK_CONTENT' : 'THOUGHT', content, page, createdAt, key }, field)
}
/** Adds a text of which a book has one in this column. */
export const addOnlyMemo = (row: Row, memo: Partial<EntryMemo> & { content: string }, column: string) => {
  addMemo(row, { ...memo, source: column.slice(0, MAX_COLUMN_NAME) }, column)
}
export const memo: ReadCell = (row, cell, column) => addOnlyMemo(row, { content: cell }, column)
