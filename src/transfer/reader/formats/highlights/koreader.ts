import { MAX_INT } from '../../../../values/contract'
import * as read from '../../rows/columns'
import { shelfFinder, shelve } from '../../rows/readings'
import type { Row } from '../../rows/row'
import { type Format, readObjects } from '../../rows/table'
import { isObject, parseIsbn, storable, toCell, toObject } from '../../rows/values'
import { toLocal } from './clippings/dates'

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const stringOf = (value: unknown) => (typeof value === 'string' ? storable(value).trim() : '')

/** The clock of KOReader's exports: UTC. That of the files beside books has no zone. */
export const KOREADER = 'koreader'

export const toPage = (value: unknown) => {
  const page = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return typeof page === 'number' && Number.isInteger(page) && page > 0 && page <= MAX_INT ? page : 0
}

/** The file has one book, several in `documents`, or an array of books. */
const toBooks = (json: unknown) => {
  if (isObject(json) && Array.isArray(json.entries)) return [json]
  return toList(isObject(json) ? json.documents : json)
}

const isBook = (value: unknown) => {
  if (!isObject(value) || !Array.isArray(value.entries)) return false
  const [first] = value.entries
  return first === undefined ? 'created_on' in value : isObject(first) && ('text' in first || 'note' in first)
}

/** @param clock names the clock of `time`: a device does not have two highlights of a book in one second of it */
const addItem = (row: Row, item: unknown, field: string, clock: string) => {
  if (!isObject(item)) return row.lose('bad-row', field)
  // Versions before June 2026 export bookmarks as highlights without a style.
  const isBookmark = item.sort === 'bookmark' || ('pn_xp' in item && !('drawer' in item))
  // From the clippings of a Kindle, the text of a note is what the reader wrote.
  const isNote = item.sort === 'note' && !('note' in item)
  // The text of a bookmark is that of its page: the reader did not select it.
  const text = isBookmark || isNote ? '' : stringOf(item.text)
  const note = stringOf(isNote ? item.text : item.note)
  if (!text && !note) return row.lose(isBookmark ? 'bookmark' : 'empty-highlight', field)
  const createdAt = typeof item.time === 'number' ? toLocal(item.time * 1000) : null
  if (createdAt === null) row.lose('bad-date', field)
  const key = createdAt ? `#${clock} ${createdAt}` : undefined
  read.addHighlight(row, [text, note], { page: toPage(item.page), createdAt, key }, field)
}

const addItems = (row: Row, items: unknown[], clock: string) => {
  for (const [at, item] of items.entries()) addItem(row, item, `entry ${at + 1}`, clock)
  for (const name of ['drawer', 'color']) {
    if (items.some((item) => isObject(item) && stringOf(item[name]))) row.lose('not-supported', name)
  }
}

const addBook = (row: Row, book: Record<string, unknown>) => {
  read.title(row, stringOf(book.title), 'title')
  // Each author is on a separate line.
  read.addAuthors(row, stringOf(book.author).split('\n'), 'author')
  const md5 = stringOf(book.md5sum).toLowerCase()
  if (/^[\da-f]{32}$/.test(md5)) read.identify(row, 'koreader', md5, 'md5sum')
  addItems(row, toList(book.entries), KOREADER)
}

/** KOReader's export as JSON. Times are Unix times in seconds. */
export const koreaderJson: Format = {
  matches: ({ json }) => toBooks(json).some(isBook),
  read: ({ json }, options) => readObjects(toBooks(json), options, addBook),
}

/** KOReader shows `abandoned` as “On hold”. */
const findShelf = shelfFinder({ reading: 'ING', complete: 'DONE', abandoned: 'PAUSED' })

/** An annotation as KOReader's export as JSON has it. */
const toItem = (annotation: unknown) => {
  if (!isObject(annotation)) return annotation
  const { pageref, pageno, page, datetime } = annotation
  const time = Date.parse(`${stringOf(datetime).replace(' ', 'T')}Z`) / 1000
  return { ...annotation, page: pageref ?? pageno, ...(page !== undefined && { pn_xp: page }), time }
}

const addSidecar = (
  row: Row,
  { doc_props, doc_path, partial_md5_checksum, summary, annotations }: Record<string, unknown>,
) => {
  const props = toObject(doc_props)
  // Documents without a title have the name of their file.
  const name =
    stringOf(doc_path)
      .split('/')
      .at(-1)
      ?.replace(/\.[^.]{1,10}$/, '') ?? ''
  read.title(row, stringOf(props.title) || name, 'title')
  // Each author, and each identifier, is on a separate line.
  read.addAuthors(row, stringOf(props.authors).split('\n'), 'authors')
  row.entry.isbn =
    stringOf(props.identifiers)
      .split('\n')
      .map((identifier) => parseIsbn(identifier.replace(/^(?:urn:)?isbn:/i, '')))
      .find(Boolean) ?? null
  read.language(row, stringOf(props.language), 'language')
  read.series(row, stringOf(props.series), 'series')
  read.seriesNumber(row, toCell(props.series_index), 'series_index')
  // Unlike the sum in the JSON, this one is of parts of the file.
  read.identify(row, 'koreader-partial', stringOf(partial_md5_checksum), 'partial_md5_checksum')
  const { status, rating, note } = toObject(summary)
  shelve(row, stringOf(status), 'status', findShelf)
  if (rating) read.rating(row, toCell(rating), 'rating')
  read.memo(row, stringOf(note), 'note')
  addItems(row, Object.values(toObject(annotations)).map(toItem), 'koreader-local')
}

/** `metadata.epub.lua` and the like, which KOReader keeps beside a book. Times have no zone. */
export const koreaderLua: Format = {
  // Before July 2024, highlights were not in `annotations`.
  matches: ({ json }) => isObject(json) && isObject(json.doc_props) && (isObject(json.annotations) || !json.bookmarks),
  read: ({ json }, options) => readObjects([json], options, addSidecar),
}
