import { NullableUrl } from '../../../../values/fields'
import type { ImportOptions } from '../../../entries/entry'
import { checkCount } from '../../limits'
import * as read from '../../rows/columns'
import { createRow, type Row } from '../../rows/row'
import { type Format, finish } from '../../rows/table'
import { isObject, toObject } from '../../rows/values'
import { parseZonedDate } from './clippings/dates'
import { KOREADER, stringOf, toPage } from './koreader'

const toHighlights = (json: unknown) => {
  const { highlights } = toObject(json)
  return Array.isArray(highlights) ? (highlights as unknown[]) : undefined
}

/** Highlights with longer addresses are identified by time and location. */
const MAX_URL = 200
/** Readest's addresses end with the place of the text, which changes with the text. */
const READEST_PLACE = /(?<=\/annotation\/[^/?#]{1,100})\?cfi=.*$/s

/** What identifies a highlight when its text is edited. Pages of KOReader change with the size of the font. */
const keyOf = (item: Record<string, unknown>, createdAt: string) => {
  if (item.source_type === KOREADER) return `#${KOREADER} ${createdAt}`
  const url = stringOf(item.highlight_url).replace(READEST_PLACE, '')
  if (url && url.length <= MAX_URL) return `#readwise ${url}`
  return Number.isInteger(item.location) ? `#readwise ${createdAt} ${item.location}` : undefined
}

const addItem = (row: Row, item: Record<string, unknown>, field: string) => {
  const [text, note, date] = [stringOf(item.text), stringOf(item.note), stringOf(item.highlighted_at)]
  if (!text && !note) return row.lose('empty-highlight', field)
  const createdAt = parseZonedDate(date)
  if (date && !createdAt) row.lose('bad-date', field)
  const page = item.location_type === 'page' ? toPage(item.location) : 0
  const key = createdAt ? keyOf(item, createdAt) : undefined
  read.addHighlight(row, [text, note], { page, createdAt, key }, field)
}

/** Like Readwise, takes a source with a URL for an article, unless it says what it is. */
const categoryOf = (item: Record<string, unknown>) =>
  stringOf(item.category).toLowerCase() || (stringOf(item.source_url) ? 'articles' : 'books')

const startBook = (line: number, item: Record<string, unknown>, options: ImportOptions) => {
  const row = createRow(line, options)
  read.title(row, stringOf(item.title), 'title')
  read.addAuthors(row, stringOf(item.author).split('\n'), 'author')
  read.failUnless(/^books?$/)(row, categoryOf(item), 'category')
  return row
}

const addCover = (row: Row, item: Record<string, unknown>) => {
  const url = stringOf(item.image_url)
  if (!url || row.entry.cover !== null) return
  const { data } = NullableUrl.safeParse(url)
  if (data) row.entry.cover = data
  else row.lose('not-supported', 'image_url')
}

const readHighlights = (items: unknown[], options: ImportOptions) => {
  checkCount(items.length, 'highlights')
  const books = new Map<string, Row>()
  const failed: Row[] = []
  for (const [at, item] of items.entries()) {
    const line = at + 1
    if (!isObject(item)) {
      const row = createRow(line, options)
      row.entry.failure = 'bad-row'
      failed.push(row)
      continue
    }
    const key = JSON.stringify([stringOf(item.title), stringOf(item.author), categoryOf(item)])
    const book = books.get(key) ?? startBook(line, item, options)
    books.set(key, book)
    addCover(book, item)
    addItem(book, item, `highlight ${line}`)
    if (stringOf(item.color)) book.lose('not-supported', 'color')
  }
  return [...books.values(), ...failed].map((row) => {
    // A client may send a highlight twice.
    const texts = new Map(row.entry.memos.toReversed().map((memo) => [memo.content, memo]))
    row.entry.memos = row.entry.memos.filter((memo) => texts.get(memo.content) === memo)
    return finish(row)
  })
}

/** What clients of Readwise's API send: `{highlights: […]}`. */
export const readwiseApi: Format = {
  matches: ({ json }) => toHighlights(json)?.some((item) => isObject(item) && 'text' in item) === true,
  read: ({ json }, options) => readHighlights(toHighlights(json) ?? [], options),
}
