import type { TableRow } from '../../csv-rows'
import * as read from '../../rows/columns'
import { highlightRows } from './highlight-rows'

const HEADER = ['kind', 'title', 'author', 'datecreated', 'datemodified', 'annotation', 'text']
const KIND = /^(?:highlight|annotation|bookmark)$/
const TIME = /^\d{4}-\d\d-\d\dT/
/** What export-kobo writes for a time that is not known. */
const UNKNOWN = /^1970-01-01/

/** Adds a header to the rows that export-kobo writes, which have none. */
export const addKoboHeader = (rows: TableRow[]): TableRow[] => {
  const [kind = '', , , created = '', ...others] = rows[0]?.cells ?? []
  const isKobo = KIND.test(kind) && TIME.test(created) && others.length === 3
  return isKobo ? [{ line: 1, cells: HEADER }, ...rows] : rows
}

/** The CSV that export-kobo writes. Times are in UTC. */
export const kobo = highlightRows({
  matches: ({ keys }) => HEADER.every((column) => keys.includes(column)),
  book: Object.entries({ title: read.title, author: read.authors() }),
  others: Object.entries(read.each('kind,datecreated,datemodified,annotation,text', read.ignored)),
  toHighlight: ({ get }) => ({
    text: get('text'),
    note: get('annotation'),
    date: UNKNOWN.test(get('datecreated')) ? '' : get('datecreated'),
  }),
  emptyCode: 'bookmark',
})
