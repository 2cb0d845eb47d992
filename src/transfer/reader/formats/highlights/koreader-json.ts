import { MAX_INT } from '../../../../values/contract'
import { type Entry, emptyEntry, type Format } from '../../../entry'
import { isObject } from '../../json'
import { limitEntries } from '../../limit-entries'
import { addLoss, addMemo, cleanText, joinNotes } from './clippings/clipped-memos'
import { toLocal } from './clippings/dates'

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const toText = (value: unknown) => (typeof value === 'string' ? cleanText(value) : '')

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

const addHighlight = (entry: Entry, item: unknown, number: number) => {
  const field = `entry ${number}`
  if (!isObject(item)) return addLoss(entry, 'bad-row', field)
  const isBookmark = item.sort === 'bookmark'
  // The text of a bookmark is that of its page: the reader did not select it.
  const text = isBookmark ? '' : toText(item.text)
  const note = toText(item.note)
  if (!text && !note) return addLoss(entry, isBookmark ? 'bookmark' : 'empty-highlight', field)
  const createdAt = typeof item.time === 'number' ? toLocal(item.time * 1000) : null
  if (createdAt === null) addLoss(entry, 'bad-date', field)
  const type = text ? 'BOOK_CONTENT' : 'THOUGHT'
  addMemo(entry, { type, content: joinNotes(text, note), page: toPage(item.page), createdAt }, field)
}

const toEntry = (book: unknown, line: number): Entry => {
  const entry = emptyEntry(line)
  if (!isObject(book)) return { ...entry, failure: 'bad-row' }
  entry.title = toText(book.title) || null
  // Each author is on a separate line.
  entry.author = toText(book.author).split('\n').map(cleanText).filter(Boolean).join(', ') || null
  if (entry.title === null) entry.failure = 'no-title'
  const md5 = toText(book.md5sum).toLowerCase()
  if (/^[\da-f]{32}$/.test(md5)) entry.sourceIds.push(`koreader:${md5}`)
  toList(book.entries).forEach((item, at) => {
    addHighlight(entry, item, at + 1)
  })
  for (const name of ['drawer', 'color']) {
    if (toList(book.entries).some((item) => isObject(item) && toText(item[name]))) addLoss(entry, 'not-supported', name)
  }
  return entry
}

/** KOReader's export as JSON. Times are Unix times in seconds. */
export const koreaderJson: Format = {
  name: 'koreader-json',
  matches: ({ json }) => toBooks(json).some(isBook),
  read: ({ json }) => limitEntries(toBooks(json)).map((book, at) => toEntry(book, at + 1)),
}
