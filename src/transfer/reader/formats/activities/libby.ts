import { fold } from '../../../../values/text/fold'
import type { Entry } from '../../../entries/entry'
import { checkCount } from '../../limits'
import * as read from '../../rows/columns'
import { parseTime } from '../../rows/dates'
import { addReading, findMapped, shelve } from '../../rows/readings'
import type { Row } from '../../rows/row'
import {
  type Format,
  finish,
  hasColumns,
  mapRows,
  readColumns,
  type Table,
  type TableFormat,
  toTable,
} from '../../rows/table'
import { isObject, toCell } from '../../rows/values'
import { toLocal } from '../highlights/clippings/dates'

const BOOK = Object.entries({
  title: read.title,
  author: read.authors(','),
  publisher: read.publisher,
  isbn: read.isbn,
  format: read.format,
})
const OTHERS = Object.entries(read.each('titleid,cover,timestamp,activity,details,library', read.ignored))
const JSON_COLUMNS = 'author,publisher,isbn,activity,details,library,title,titleid,format,timestamp'.split(',')

type Activity = { row: Row; name: string; at: string | null | undefined }
type Loan = { startedAt: string | null; finishedAt: string | null; isReturned: boolean }

const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other))

/** Loans, oldest first. A renewal is part of one, and so is another copy that was borrowed meanwhile. */
const toLoans = (activities: Activity[]) => {
  const loans: Loan[] = []
  const open = new Map<string, Loan>()
  for (const { row, name, at } of activities) {
    const copy = `${row.get('isbn')} ${row.get('library')}`
    const day = at?.slice(0, 10) ?? null
    if (/^borrowed$/i.test(name)) {
      open.set(copy, { startedAt: day, finishedAt: null, isReturned: false })
      loans.push(open.get(copy) as Loan)
    } else if (/^returned$/i.test(name)) {
      const returned = { finishedAt: day, isReturned: true }
      const loan = open.get(copy)
      if (loan) Object.assign(loan, returned)
      else loans.push({ startedAt: null, ...returned })
      open.delete(copy)
    }
  }
  const merged: Loan[] = []
  for (const loan of loans) {
    const last = merged.at(-1)
    if (!last?.finishedAt || !loan.startedAt || loan.startedAt >= last.finishedAt) merged.push(loan)
    else if (!loan.finishedAt || loan.finishedAt > last.finishedAt) {
      Object.assign(last, { finishedAt: loan.finishedAt, isReturned: loan.isReturned })
    }
  }
  return merged
}

/** Oldest first. An undated activity follows the next older one in the file. */
const sortByTime = (newestFirst: Activity[]) => {
  let latest = ''
  const dated = newestFirst.toReversed().map((activity) => {
    latest = activity.at ?? latest
    return { activity, at: latest }
  })
  return dated.sort((one, other) => compare(one.at, other.at)).map(({ activity }) => activity)
}

/**
 * The book of the oldest activity, with the identifiers of all: e-book and audiobook are one book. Borrowing is not
 * reading, so the state of the last loan, else the last activity, is a shelf whose meaning the member says. If it is a
 * status, the loans are readings.
 */
const toBook = (newestFirst: Activity[]) => {
  const activities = sortByTime(newestFirst)
  const [{ row }] = activities as [Activity, ...Activity[]]
  for (const { row: other, at } of activities) {
    if (at === undefined) row.lose('bad-date', 'timestamp')
    for (const { code, field } of other.entry.losses) row.lose(code, field)
    if (other.entry.isbn && other.entry.isbn !== row.entry.isbn) row.lose('not-supported', 'isbn')
    read.identify(row, 'overdrive', other.get('titleid'), 'titleid')
  }
  const loans = toLoans(activities)
  const last = loans.at(-1)
  const shelf = last ? (last.isReturned ? 'Returned' : 'Borrowed') : (activities.at(-1)?.name ?? '')
  row.entry.addedAt = activities.find(({ at }) => at)?.at ?? null
  const isRead = !['YET', 'TAG', undefined].includes(findMapped(shelf, row))
  // The end of a loan is unknown if it is followed by another one.
  const readings = isRead ? loans.filter((loan) => loan.finishedAt || loan === last) : []
  for (const { startedAt, finishedAt } of readings) addReading(row, { startedAt, finishedAt }, 'timestamp')
  if (readings.length < loans.length) row.lose('not-supported', 'timestamp')
  shelve(row, shelf, 'activity', () => undefined)
  return finish(row)
}

const timelineOf = (json: unknown) =>
  isObject(json) && Array.isArray(json.timeline) ? json.timeline.filter(isObject) : []

/** The timeline as the table that the CSV is. */
const fromJson = (timeline: Record<string, unknown>[]): Table => {
  const rows = timeline.map((item, at) => {
    const { title, cover, timestamp } = item
    const values: Record<string, unknown> = {
      ...item,
      title: isObject(title) ? title.text : title,
      titleid: isObject(title) ? title.titleId : '',
      format: isObject(cover) ? cover.format : '',
      timestamp: typeof timestamp === 'number' ? (toLocal(timestamp) ?? timestamp) : timestamp,
    }
    return { line: at + 1, cells: JSON_COLUMNS.map((column) => toCell(values[column])) }
  })
  return toTable([{ line: 0, cells: JSON_COLUMNS }, ...rows])
}

const readTimeline: Format['read'] = ({ json, table: csv }, options) => {
  const books = new Map<string, Activity[]>()
  const failed: Entry[] = []
  const timeline = timelineOf(json)
  checkCount(timeline.length, 'activities')
  const table = timeline.length > 0 ? fromJson(timeline) : csv
  mapRows(table, options, (row, { length }) => {
    if (length !== table.header.length) row.lose(length < table.header.length ? 'short-row' : 'bad-row', 'library')
    const entry = readColumns(row, BOOK)
    if (entry.failure) return void failed.push(entry)
    entry.cells = { names: [], values: [] }
    const key = fold(JSON.stringify([entry.title, entry.author]))
    const activities = books.get(key) ?? []
    books.set(key, activities)
    checkCount(books.size)
    activities.push({ row, name: row.get('activity'), at: parseTime(row.get('timestamp')) })
  })
  return [...books.values()].map(toBook).concat(failed)
}

/** The timeline of loans and holds that Libby exports, as CSV or JSON. */
export const libby: TableFormat = {
  matches: ({ json, table }) =>
    timelineOf(json).some((item) => 'activity' in item && 'title' in item) ||
    hasColumns(table, ['title', 'timestamp', 'activity', 'details', 'library']),
  columnReaders: () => [...BOOK, ...OTHERS],
  read: readTimeline,
}
