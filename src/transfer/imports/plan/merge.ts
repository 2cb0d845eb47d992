import { MAX_SOURCE_IDS } from '../../../library/editions/schema'
import { fieldsOf } from '../../../values/book-fields'
import { fold } from '../../../values/text/fold'
import type { BookColumns } from '../../book-columns'
import type { Entry } from '../../entries/entry'
import { toFullTitle } from '../../entries/names'
import type { Existing } from './existing'
import { mergeReadings } from './merge-readings'

/** A title with its subtitle stays as it is if the file has the same, divided otherwise. */
const mergeDetails = (book: Existing, entry: Entry, overwrites: boolean): Partial<BookColumns> => {
  const isSame = fold(toFullTitle(book)) === fold(toFullTitle(entry))
  const title = overwrites && !(isSame && book.subtitle && !entry.subtitle) ? entry.title : null
  const wanted = fieldsOf('fill').filter(
    (name) =>
      entry[name] !== null &&
      entry[name] !== book[name] &&
      (overwrites || (book[name] === null && !(isSame && name === 'subtitle'))),
  )
  return {
    ...(title && title !== book.title && { title }),
    ...Object.fromEntries(wanted.map((name) => [name, entry[name]])),
  }
}

/**
 * What an entry changes in a book of the library. Nothing is removed, and a book never moves back unless `overwrites`.
 */
export const mergeInto = (book: Existing, entry: Entry, overwrites: boolean) => {
  const changes = mergeDetails(book, entry, overwrites)
  const known: string[] = book.sourceIds === null ? [] : JSON.parse(book.sourceIds)
  const ids = [...new Set([...known, ...entry.sourceIds])].slice(0, MAX_SOURCE_IDS)
  if (ids.length > known.length) changes.sourceIds = JSON.stringify(ids)
  // If the entry has progress, its latest event sets the page, unless the book has a later event.
  const isPageWanted = overwrites
    ? book.currentPage !== entry.currentPage
    : !book.currentPage && !entry.exact?.progress[0]
  if (entry.currentPage && isPageWanted) changes.currentPage = entry.currentPage
  const ofReadings = mergeReadings(book, entry, overwrites)
  return { ...ofReadings, changes: { ...changes, ...ofReadings.changes } }
}
