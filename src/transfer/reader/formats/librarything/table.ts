import type { Shelf } from '../../../entries/entry'
import * as read from '../../rows/columns'
import { shelve } from '../../rows/readings'
import type { ReadCell, Row } from '../../rows/row'
import { tableFormat } from '../../rows/table'
import { parseIsbn, splitList, toKey, toNaturalOrder } from '../../rows/values'
import { findStatus } from '../../rows/words'

const findCollection = (name: string): Shelf =>
  (toKey(name) === 'read but unowned' ? 'DONE' : findStatus(name)) ?? 'TAG'
/**
 * Sets the status, and keeps collections as tags. Dates take precedence over collections, whose names members can
 * change. Books without dates that are only in “Your library” have no status.
 */
export const addCollections = (row: Row, names: string[], column: string) => {
  const last = row.entry.readings.at(-1)
  if (last) row.shelf = last.finishedAt ? 'DONE' : 'ING'
  for (const name of names) {
    if (/^(?:your library|all collections)$/i.test(name.trim())) continue
    if (!row.shelf) shelve(row, name, column, findCollection)
    else if (!last || findCollection(name) === 'TAG') read.addTags(row, [name], column)
  }
}

/** When the book was acquired: lost if it was entered on another day. */
const acquired: ReadCell = (row, cell, column) => {
  const entered = row.get('entry date')
  if (!entered) read.added(row, cell, column)
  else if (cell !== entered) read.unsupported(row, cell, column)
}

/** A publisher such as `Quay House (2019), 312 pages`. */
const publication: ReadCell = (row, cell, column) => read.publisher(row, cell.split(' (')[0] ?? '', column)

/** A date such as 2019, or [2019-04-01]. It may also be text. */
const date: ReadCell = ({ entry }, cell) => {
  const year = /^\[?(\d{4})\b/.exec(cell)?.[1]
  if (year) entry.publishedYear = Number(year)
}

const isAuthor = (role = '') => /^(?:author)?$/i.test(role.trim())
const authors: ReadCell = (row, cell, column) => {
  // The column of older files has no plural.
  const roles = (row.get('secondary author roles') || row.get('secondary author role')).split('|')
  const others = row.get('secondary author').split('|')
  const secondary = others.filter((_, at) => isAuthor(roles[at]))
  if (secondary.length < others.length && row.get('secondary author')) row.lose('not-supported', 'secondary author')
  // Roles of nobody: someone removed the names.
  if (!row.get('secondary author') && !roles.every(isAuthor)) row.lose('not-supported', 'secondary author roles')
  read.addAuthors(row, [cell, ...secondary].map(toNaturalOrder), column)
}

/** The main ISBN, or another one if it is missing or not valid. */
const isbn: ReadCell = (row, cell, column) => {
  const others = splitList(row.get('isbns').replace(/[[\]]/g, ''), ',')
  row.entry.isbn = [cell, ...others.slice(0, 20)].map(parseIsbn).find(Boolean) ?? null
  if (!row.entry.isbn) read.isbn(row, cell, column)
}

/** A book without a second language has `All`. */
const languages: ReadCell = (row, cell, column) => read.languages(row, cell.replace(/, All$/, ''), column)

const copies: ReadCell = (row, cell, column) => {
  if (Number(cell) > 1) row.lose('not-supported', column)
}

export const librarything = tableFormat((has) => has('sort character') || (has('primary author') && has('work id')), {
  'book id': read.identifier('librarything'),
  'work id': read.identifier('librarything-work'),
  oclc: read.identifier('oclc'),
  'primary author': authors,
  isbn,
  publication,
  date,
  languages,
  'entry date': read.added,
  acquired,
  collections: (row, cell, column) => addCollections(row, splitList(cell, ','), column),
  tags: read.tags(','),
  'private comment': read.memo,
  copies,
  ...read.each(
    'sort character,primary author role,secondary author,secondary author roles,secondary author role,summary,physical description,weight,height,thickness,length,dimensions,lccn,isbns,original languages,lc classification,subjects,dewey decimal,dewey wording,source',
    read.ignored,
  ),
  ...read.each(
    'other call number,barcode,bcid,from where,lending patron,lending status,lending start,lending end',
    read.unsupported,
  ),
})
