import * as read from '../../rows/columns'
import { shelfFinder, shelve } from '../../rows/readings'
import type { Row } from '../../rows/row'
import { type Format, readObjects } from '../../rows/table'
import { isObject, parseIsbn, toCell } from '../../rows/values'
import { addItems, stringOf } from './koreader-json'

/** KOReader shows `abandoned` as “On hold”. */
const findShelf = shelfFinder({ reading: 'ING', complete: 'DONE', abandoned: 'PAUSED' })

const toObject = (value: unknown) => (isObject(value) ? value : {})

/** An annotation as KOReader's export as JSON has it. */
const toItem = (annotation: unknown) => {
  if (!isObject(annotation)) return annotation
  const { pageref, pageno, page, datetime } = annotation
  const time = Date.parse(`${stringOf(datetime).replace(' ', 'T')}Z`) / 1000
  return { ...annotation, page: pageref ?? pageno, pn_xp: page, time }
}

const addBook = (
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
  addItems(row, Object.values(toObject(annotations)).map(toItem))
}

/** `metadata.epub.lua` and the like, which KOReader keeps beside a book. Times have no zone. */
export const koreaderLua: Format = {
  // Before July 2024, highlights were not in `annotations`.
  matches: ({ json }) => isObject(json) && isObject(json.doc_props) && (isObject(json.annotations) || !json.bookmarks),
  read: ({ json }, options) => readObjects([json], options, addBook),
}
