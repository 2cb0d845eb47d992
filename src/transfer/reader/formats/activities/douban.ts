import * as read from '../../rows/columns'
import { parseTime } from '../../rows/dates'
import { shelfFinder, shelve } from '../../rows/readings'
import type { Row } from '../../rows/row'
import { type Format, readObjects } from '../../rows/table'
import { isObject, toCell, toCells, toObject } from '../../rows/values'

const findShelf = shelfFinder({ mark: 'YET', doing: 'ING', done: 'DONE' })

/** `[日] 岛田洋七`, with the country of the author. */
const COUNTRY = /^[[(（【［〔][^\])）】］〕]{1,10}[\])）】］〕]\s*/

const toCellList = (value: unknown) => (Array.isArray(value) ? value : [value]).map(toCell)

const addBook = (row: Row, { subject, comment, rating, tags, create_time, status }: Record<string, unknown>) => {
  const { id, type, title, book_subtitle, author, press, pages, pubdate } = toObject(subject)
  const { entry, lose } = row
  if (type !== undefined && type !== 'book') {
    entry.failure = 'not-supported'
    lose('not-supported', 'type')
  }
  read.identify(row, 'douban', toCell(id), 'id')
  read.title(row, toCell(title), 'title')
  read.subtitle(row, toCell(book_subtitle), 'book_subtitle')
  const authors = toCellList(author).map((name) => name.replace(COUNTRY, '') || name)
  const publisher = toCellList(press).join(', ')
  const [pageCount = ''] = toCellList(pages)
  entry.cells = toCells({ title, author: authors.join(', '), publisher, pages: pageCount, status })
  read.addAuthors(row, authors, 'author')
  read.publisher(row, publisher, 'press')
  read.pages(row, pageCount, 'pages')
  // `2009年12月第一版`
  const date = toCellList(pubdate)[0] ?? ''
  read.publishedYear(row, /(?<!\d)\d{4}(?!\d)/.exec(date)?.[0] ?? date, 'pubdate')
  read.rating(row, toCell(toObject(rating).value), 'rating')
  read.addTags(row, toCellList(tags), 'tags')
  // When the member marked the book, which is not when it was read.
  const markedAt = toCell(create_time)
  read.added(row, markedAt, 'create_time')
  read.addOnlyMemo(row, { content: toCell(comment), createdAt: parseTime(markedAt) ?? null }, 'comment')
  shelve(row, toCell(status), 'status', findShelf)
}

/** The marks of a reader of Douban, as its interface and doumark-action have them. */
export const douban: Format = {
  matches: ({ json }) =>
    Array.isArray(json) && json.some((item) => isObject(item) && isObject(item.subject) && 'create_time' in item),
  read: ({ json }, options) => readObjects(Array.isArray(json) ? json : [], options, addBook),
}
