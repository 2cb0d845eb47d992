import { MAX_INT } from '../../../../values/contract'
import { addAuthors, addHighlight, identify, title } from '../../rows/columns'
import type { Row } from '../../rows/row'
import { type Format, readObjects } from '../../rows/table'
import { isObject, storable } from '../../rows/values'
import { toLocal } from './clippings/dates'

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const stringOf = (value: unknown) => (typeof value === 'string' ? storable(value).trim() : '')

const toPage = (value: unknown) => {
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

const addItem = (row: Row, item: unknown, field: string) => {
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
  addHighlight(row, [text, note], { page: toPage(item.page), createdAt }, field)
}

/** Adds the highlights and notes of a book. */
export const addItems = (row: Row, items: unknown[]) => {
  for (const [at, item] of items.entries()) addItem(row, item, `entry ${at + 1}`)
  for (const name of ['drawer', 'color']) {
    if (items.some((item) => isObject(item) && stringOf(item[name]))) row.lose('not-supported', name)
  }
}

const addBook = (row: Row, book: Record<string, unknown>) => {
  title(row, stringOf(book.title), 'title')
  // Each author is on a separate line.
  addAuthors(row, stringOf(book.author).split('\n'), 'author')
  const md5 = stringOf(book.md5sum).toLowerCase()
  if (/^[\da-f]{32}$/.test(md5)) identify(row, 'koreader', md5, 'md5sum')
  addItems(row, toList(book.entries))
}

/** KOReader's export as JSON. Times are Unix times in seconds. */
export const koreaderJson: Format = {
  matches: ({ json }) => toBooks(json).some(isBook),
  read: ({ json }, options) => readObjects(toBooks(json), options, addBook),
}
