import { shelve } from '../row'
import type { Shelf } from '../status'
import { tableFormat } from '../table'
import { parseDate, splitList } from '../values'

const STATUSES = new Map<string, Shelf>([
  ['finished', 'DONE'],
  ['in_progress', 'ING'],
  ['planned', 'YET'],
  ['abandoned', 'STOPPED'],
])

export const openreads = tableFormat({
  name: 'openreads',
  matches: (has) => has('title') && has('readings') && (has('my_review') || has('olid') || has('book_format')),
  columns:
    'title,subtitle,author,status,deleted,rating,pages,publication_year,isbn,olid,tags,my_review,notes,book_format,readings,date_added,date_modified',
  unsupported: 'description,favourite',
  read: (row, options) => {
    const { entry, get } = row
    row.identify('openlibrary', get('olid'), 'olid')
    entry.title = row.text('title')
    if (get('subtitle') && entry.title) {
      const title = `${entry.title}: ${get('subtitle')}`
      if (title.length <= 500) entry.title = title
      else row.lose('too-long', 'subtitle')
    }
    row.authors(splitList(get('author'), ','), 'author')
    row.isbn('isbn')
    entry.publishedYear = row.integer('publication_year', -3000, 9999) || null
    entry.pages = row.pages('pages')
    row.format('book_format')
    row.added('date_added')
    row.rate('rating')
    for (const reading of splitList(get('readings'), ';')) {
      const [start = '', finish = '', milliseconds = ''] = reading.split('|')
      const [startedAt, finishedAt] = [parseDate(start), parseDate(finish)]
      if (Number(milliseconds) !== 0) row.lose('not-supported', 'readings')
      if (startedAt === undefined || finishedAt === undefined) row.lose('bad-date', 'readings')
      if (startedAt || finishedAt) row.addReading(startedAt ?? null, finishedAt ?? null, 'readings')
    }
    const status = get('status')
    if (status !== 'unknown') shelve(row, status, 'status', options, (name) => STATUSES.get(name), 'unknown-status')
    row.tag(splitList(get('tags'), '|||||'), 'tags')
    row.memo(get('my_review'), 'my_review')
    row.memo(get('notes'), 'notes')
    // The book is in the trash.
    if (/^(?:true|1)$/i.test(get('deleted'))) {
      entry.failure = 'not-supported'
      row.lose('not-supported', 'deleted')
    }
  },
})
