import type { Format } from '../../entry'
import { isObject, toCell, toCells } from '../json'
import { limitEntries } from '../limit-entries'
import { createRow, finish } from '../row'
import { parseIsbn, toNaturalOrder, unescapeHtml } from '../values'
import { addDates, shelveByCollections } from './librarything'

const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value]
const textsOf = (value: unknown) =>
  listOf(value)
    .filter((item) => typeof item === 'string')
    .map((item) => unescapeHtml(toCell(item)))

const entriesOf = (json: unknown) => limitEntries(Object.entries(isObject(json) ? json : {}))

/** A value as text. Of a list or an object, its texts. */
const textOf = (value: unknown) =>
  typeof value === 'object' ? textsOf(value).filter(Boolean).join(', ') : unescapeHtml(toCell(value))

const UNSUPPORTED = 'callnumber,barcode,bcid,fromwhere,lendingpatron,lendingstatus,lendingstart,lendingend'.split(',')

export const librarythingJson: Format = {
  name: 'librarything-json',
  matches: ({ json }) => {
    const book = isObject(json) ? Object.values(json)[0] : undefined
    return (
      isObject(book) &&
      'title' in book &&
      ['books_id', 'workcode', 'primaryauthor', 'entrydate'].some((key) => key in book)
    )
  },
  read: ({ json }, options) =>
    entriesOf(json).map(([id, book], at) => {
      const values = isObject(book) ? book : {}
      const row = createRow({
        line: at + 1,
        get: (name) => textOf(Object.hasOwn(values, name) ? values[name] : ''),
      })
      const { entry, get } = row
      entry.cells = toCells(values)
      row.identify('librarything', id, 'books_id')
      row.identify('librarything-work', get('workcode'), 'workcode')
      row.identify('oclc', get('oclc'), 'oclc')
      entry.title = row.text('title')
      const people = listOf(values.authors).filter(isObject)
      const authors = people.filter(({ role }) => !role || /^author$/i.test(String(role)))
      if (authors.length < people.length) row.lose('not-supported', 'authors')
      const names = authors.map(({ fl, lf }) => textsOf(fl)[0] ?? toNaturalOrder(textsOf(lf)[0] ?? ''))
      row.authors(names.length > 0 ? names : [toNaturalOrder(get('primaryauthor'))], 'authors')
      const codes = textsOf(values.isbn).concat(textsOf(values.originalisbn)).slice(0, 20)
      entry.isbn = codes.map(parseIsbn).find(Boolean) ?? null
      if (!entry.isbn && codes.some((code) => parseIsbn(code) === undefined)) row.lose('bad-isbn', 'isbn')
      entry.publisher = row.text('publication')?.split(' (')[0] || null
      const year = /^\d{4}\b/.exec(get('date'))?.[0]
      entry.publishedYear = year ? Number(year) : null
      entry.pages = row.pages('pages')
      const languages = textsOf(values.language)
      if (languages[0]) row.language('language', languages[0])
      if (languages.length > 1) row.lose('not-supported', 'language')
      // [{ "code": "1.1.1", "text": "Paperback" }]
      const [format, ...otherFormats] = listOf(values.format)
      row.format('format', textOf(isObject(format) ? format.text : format) || get('media'))
      if (otherFormats.length > 0) row.lose('not-supported', 'format')
      addDates(row, 'entrydate', 'dateacquired')
      const [startedAt, finishedAt] = [row.date('datestarted'), row.date('dateread')]
      if (startedAt || finishedAt) row.addReading(startedAt, finishedAt, 'datestarted')
      row.rate('rating')
      shelveByCollections(row, textsOf(values.collections), options)
      row.tag(textsOf(values.tags), 'tags')
      for (const name of ['review', 'comment', 'privatecomment']) row.memo(toCell(values[name]), name)
      if (Number(get('copies')) > 1) row.lose('not-supported', 'copies')
      row.refuse(UNSUPPORTED)
      return finish(row)
    }),
}
