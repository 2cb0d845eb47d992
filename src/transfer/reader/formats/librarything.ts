import type { ImportOptions } from '../../entry'
import { type Row, shelve } from '../row'
import { findStatus } from '../status'
import { tableFormat } from '../table'
import { parseIsbn, splitList, toKey, toNaturalOrder } from '../values'

const COLLECTIONS = new Set(['your library', 'all collections'])
/**
 * Sets the status, and keeps collections as tags. Dates take precedence over collections, whose names members can change.
 * Books without dates that are only in “Your library” have no status.
 */
export const shelveByCollections = (row: Row, names: string[], options: ImportOptions) => {
  const { readings } = row.entry
  const collections = names.filter((name) => !COLLECTIONS.has(toKey(name)))
  const find = (name: string) => (toKey(name) === 'read but unowned' ? 'DONE' : findStatus(name)) ?? 'TAG'
  if (readings.length > 0) {
    const isFinished = readings.at(-1)?.finishedAt
    shelve(row, isFinished ? 'finished' : 'reading', 'date read', { ...options, shelfMap: {} }, findStatus)
    row.tag(
      collections.filter((name) => find(name) === 'TAG'),
      'collections',
    )
    return
  }
  let isShelved = false
  for (const name of collections) {
    if (isShelved) row.tag([name], 'collections')
    else isShelved = shelve(row, name, 'collections', options, find)
  }
}

/** Sets when the book was added: when it was entered, else when it was acquired. */
export const addDates = (row: Row, entered: string, acquired: string) => {
  const isEntered = row.get(entered) !== ''
  row.added(isEntered ? entered : acquired)
  if (isEntered && row.get(acquired) !== row.get(entered)) row.refuse([acquired])
}

export const librarything = tableFormat({
  name: 'librarything',
  matches: (has) => has('title') && (has('sort character') || (has('primary author') && has('work id'))),
  columns:
    'book id,title,sort character,primary author,primary author role,secondary author,secondary author roles,publication,date,review,rating,comment,private comment,summary,media,physical description,weight,height,thickness,length,dimensions,page count,lccn,acquired,date started,date read,tags,collections,languages,original languages,lc classification,isbn,isbns,subjects,dewey decimal,dewey wording,copies,source,entry date,oclc,work id',
  unsupported: 'other call number,barcode,bcid,from where,lending patron,lending status,lending start,lending end',
  read: (row, options) => {
    const { entry, get } = row
    row.identify('librarything', get('book id'), 'book id')
    row.identify('librarything-work', get('work id'), 'work id')
    row.identify('oclc', get('oclc'), 'oclc')
    entry.title = row.text('title')
    const roles = get('secondary author roles').split('|')
    const others = get('secondary author').split('|')
    const isAuthor = (_: string, at: number) => !roles[at]?.trim() || /^author$/i.test(roles[at]?.trim() ?? '')
    if (get('secondary author') && !others.every(isAuthor)) row.lose('not-supported', 'secondary author')
    row.authors([get('primary author'), ...others.filter(isAuthor)].map(toNaturalOrder), 'primary author')
    if (parseIsbn(get('isbn'))) row.isbn('isbn')
    else {
      const codes = splitList(get('isbns').replace(/[[\]]/g, ''), ',').slice(0, 20)
      entry.isbn = codes.map(parseIsbn).find(Boolean) ?? null
      if (!entry.isbn) row.isbn('isbn')
    }
    // Quay House (2019), 312 pages
    entry.publisher = row.text('publication')?.split(' (')[0] || null
    const year = /^\[?(\d{4})\b/.exec(get('date'))?.[1]
    entry.publishedYear = year ? Number(year) : null
    entry.pages = row.pages('page count')
    const [language = '', ...languages] = splitList(get('languages'), ',')
    row.language('languages', language)
    if (languages.length > 0) row.lose('not-supported', 'languages')
    row.format('media')
    addDates(row, 'entry date', 'acquired')
    const [startedAt, finishedAt] = [row.date('date started'), row.date('date read')]
    if (startedAt || finishedAt) row.addReading(startedAt, finishedAt, 'date started')
    row.rate('rating')
    shelveByCollections(row, splitList(get('collections'), ','), options)
    row.tag(splitList(get('tags'), ','), 'tags')
    row.memo(get('review'), 'review')
    row.memo(get('comment'), 'comment')
    row.memo(get('private comment'), 'private comment')
    if (Number(get('copies')) > 1) row.lose('not-supported', 'copies')
  },
})
