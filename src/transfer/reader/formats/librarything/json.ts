import { decodeEntities } from '../../../../values/text/html'
import { checkCount } from '../../limits'
import { addTags } from '../../rows/columns'
import { createRow } from '../../rows/row'
import { type Format, readColumns } from '../../rows/table'
import { isObject, toCell, toCells, toObject } from '../../rows/values'
import { addCollections, librarything } from './table'

const itemsOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value]
const textsOf = (value: unknown) =>
  itemsOf(value)
    .filter((item) => typeof item === 'string')
    .map((item) => decodeEntities(toCell(item)))
    .filter(Boolean)

/** A value as text. Of a list or an object, its texts. */
const textOf = (value: unknown) =>
  typeof value === 'object' ? textsOf(value).join(', ') : decodeEntities(toCell(value))

/** The properties that are named unlike the columns of a tab-delimited file, apart from blanks. */
const PROPERTIES: Record<string, string> = {
  'book id': 'books_id',
  'work id': 'workcode',
  'primary author': 'authors',
  'secondary author': 'authors',
  'page count': 'pages',
  languages: 'language',
  media: 'format',
  acquired: 'dateacquired',
  'other call number': 'callnumber',
}
const toProperty = (column: string) => PROPERTIES[column] ?? column.replaceAll(' ', '')
const USUAL_COLUMNS = 'title,page count,date started,date read,rating,media,review,comment,series'.split(',')

/** The columns that are not the text of a property. */
const toColumns = (id: string, book: Record<string, unknown>): Record<string, string> => {
  const people = itemsOf(book.authors).filter(isObject)
  const roles = people.map(({ role }) => (role ? String(role) : ''))
  const names = people.map(({ fl, lf }) => textsOf(fl)[0] ?? textsOf(lf)[0] ?? '')
  const hasAuthor = roles.some((role) => /^(?:author)?$/i.test(role))
  const isbns = textsOf(book.isbn).concat(textsOf(book.originalisbn))
  // [{ "code": "1.1.1", "text": "Paperback" }]
  const [format] = itemsOf(book.format)
  return {
    'book id': id,
    'primary author': hasAuthor ? '' : textOf(book.primaryauthor),
    'secondary author': names.join('|'),
    'secondary author roles': roles.join('|'),
    isbn: isbns[0] ?? '',
    isbns: isbns.join(','),
    media: textOf(isObject(format) ? format.text : format) || textOf(book.media),
    // HTML stays as it is.
    review: toCell(book.review),
    comment: toCell(book.comment),
    'private comment': toCell(book.privatecomment),
    // Names in these lists may have commas.
    collections: '',
    tags: '',
  }
}

/** LibraryThing's JSON, which has the same as the tab-delimited files. */
export const librarythingJson: Format = {
  matches: ({ json }) => {
    const book = isObject(json) ? Object.values(json)[0] : undefined
    return (
      isObject(book) &&
      'title' in book &&
      ['books_id', 'workcode', 'primaryauthor', 'entrydate'].some((key) => key in book)
    )
  },
  read: ({ json }, options) => {
    const columns = librarything.columnReaders(USUAL_COLUMNS, options)
    const books = Object.entries(toObject(json))
    checkCount(books.length)
    return books.map(([id, value], at) => {
      const book = toObject(value)
      const special = toColumns(id, book)
      const get = (column: string) =>
        special[column] ?? textOf(Object.hasOwn(book, toProperty(column)) ? book[toProperty(column)] : '')
      const row = createRow(at + 1, options, { get, nameOf: toProperty })
      row.entry.cells = toCells(book)
      if (itemsOf(book.format).length > 1) row.lose('not-supported', 'media')
      // Who borrowed the book.
      if (itemsOf(book.circulation).some(isObject)) row.lose('not-supported', 'circulation')
      const addLists = () => {
        addCollections(row, textsOf(book.collections), 'collections')
        addTags(row, textsOf(book.tags), 'tags')
      }
      return readColumns(row, [...columns, ['', addLists]])
    })
  },
}
