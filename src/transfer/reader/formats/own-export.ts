import * as z from 'zod/mini'
import { TimeZone } from '../../../accounts/members/schema'
import { BookStatus } from '../../../library/books/schema'
import {
  EditionSeconds,
  Language,
  MAX_SOURCE_IDS,
  PublishedYear,
  SeriesNumber,
  SourceId,
} from '../../../library/editions/schema'
import { NewGoal } from '../../../library/goals/schema'
import { MAX_CONTENT, MemoType } from '../../../library/memos/schema'
import { Minutes, ReachedSeconds } from '../../../library/progress/schema'
import { MAX_LISTED_READINGS, ReadingOutcome, rating, readingDate } from '../../../library/readings/schema'
import { MAX_YEAR, MIN_YEAR } from '../../../library/stats/schema'
import { MAX_BOOK_TAGS, TagName } from '../../../library/tags/schema'
import { MAX_INT, MAX_NAME, PROGRESS_KINDS } from '../../../values/contract'
import {
  BookFormat,
  FIRST_PAST_INSTANT,
  FULL_DATE,
  Int32,
  int,
  MAX_CLOCK_SKEW_MS,
  NullableUrl,
  nullableText,
  Timestamp,
} from '../../../values/fields'
import { MAX_EVENTS } from '../../../values/prices'
import { DEFAULT_QUOTAS } from '../../../values/quotas'
import { fold } from '../../../values/text/fold'
import { Isbn } from '../../../values/text/isbn'
import { truncate } from '../../../values/text/truncate'
import { DAY_MS } from '../../../values/time'
import type { Code, Entry, EntryMember, EntryMemo, EntryReading } from '../../entries/entry'
import { refuse } from '../limits'
import type { Row } from '../rows/row'
import { type Format, readObjects } from '../rows/table'
import { isObject, toCells } from '../rows/values'

// The export of this service (src/transfer/export). Valid values are kept as they are. All are checked, because a file
// can be edited.

/** A value that a schema of requests accepts and does not change. Undefined for others. */
const exactly =
  <Value>(schema: z.ZodMiniType<Value>) =>
  (value: unknown) => {
    const { data } = schema.safeParse(value)
    return data === value ? data : undefined
  }

const Name = nullableText(MAX_NAME)
const Content = nullableText(MAX_CONTENT)
const List = z.custom<unknown[]>(Array.isArray)

/** Refuses values of a list that repeat an earlier one. */
const unique = <Value>(check: (item: unknown) => Value | undefined, toKey: (value: Value) => string = String) => {
  const seen = new Set<string>()
  return (item: unknown) => {
    const value = check(item)
    if (value === undefined || seen.has(toKey(value))) return undefined
    seen.add(toKey(value))
    return value
  }
}

/** Reads the properties of an object. Invalid values become null, with a loss. */
const propertiesOf = ({ lose }: Row, values: Record<string, unknown>, prefix = '') => {
  const get = <Value>(name: string, schema: z.ZodMiniType<Value>, code: Code = 'bad-row') => {
    const stored = Object.hasOwn(values, name) ? (values[name] ?? null) : null
    const value = stored === null ? null : exactly(schema)(stored)
    if (value === undefined) lose(code, `${prefix}${name}`)
    return value ?? null
  }
  /** A text, cut to `max` characters if it is too long. */
  const getText = (name: string, schema: z.ZodMiniType<string | null>, max: number, code: Code) => {
    const stored = values[name]
    const isLong = typeof stored === 'string' && stored.length > max && exactly(schema)(stored) === undefined
    if (!isLong) return get(name, schema)
    lose(code, `${prefix}${name}`)
    return exactly(schema)(truncate(stored, max)) ?? null
  }
  const getName = (name: string) => getText(name, Name, MAX_NAME, 'too-long')
  const getContent = (name: string) => getText(name, Content, MAX_CONTENT, 'review-truncated')
  const getList = <Item>(name: string, max: number, read: (item: unknown, at: number) => Item | undefined): Item[] => {
    const stored = get(name, List) ?? []
    if (stored.length > max) lose('too-many', name)
    return stored.slice(0, max).flatMap((item, at) => {
      const value = read(item, at)
      if (value === undefined) lose('bad-row', `${name} ${at + 1}`)
      return value === undefined ? [] : [value]
    })
  }
  return { get, getName, getContent, getList }
}

/** Whether a value is a time in UTC with milliseconds. The clock of the exporting server may be ahead. */
const isInstant = (value: unknown, first: number) => {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  const isPast = time >= first && time <= Date.now() + MAX_CLOCK_SKEW_MS
  return isPast && new Date(time).toISOString() === value
}
const Added = z.custom<string>((value) => isInstant(value, 1))
const Rating = rating()
const ReadingDate = readingDate()
const Star = int(0, 5)
const BookId = int(1, Number.MAX_SAFE_INTEGER)
const ProgressEvent = z.object({
  ...{ at: z.string(), page: Int32, kind: z.enum(PROGRESS_KINDS) },
  ...{ minutes: z.nullish(Minutes), seconds: z.nullish(ReachedSeconds) },
})
const FIRST_DAY = new Date(FIRST_PAST_INSTANT + DAY_MS).toISOString().slice(0, 10)
const Sitting = z.object({
  date: z.string().check(
    z.regex(new RegExp(`^${FULL_DATE}$`)),
    z.refine((date) => date >= FIRST_DAY),
  ),
  minutes: int(1, MAX_INT),
})

const readReading = (row: Row, value: unknown, prefix: string): EntryReading | undefined => {
  if (!isObject(value)) return undefined
  const { get, getContent } = propertiesOf(row, value, prefix)
  const finishedAt = get('finishedAt', ReadingDate, 'bad-date')
  const stars = get('rating', Rating, 'bad-rating')
  const outcome = get('outcome', ReadingOutcome, 'unknown-status') ?? (finishedAt ? 'FINISHED' : null)
  return {
    startedAt: get('startedAt', ReadingDate, 'bad-date'),
    finishedAt,
    outcome,
    quarters: stars && stars * 4,
    isPaused: value.paused === true && outcome === null,
    note: getContent('note'),
    format: get('format', BookFormat),
    createdAt: get('createdAt', Added, 'bad-date'),
  }
}

const readMemo = (row: Row, value: unknown, prefix: string): EntryMemo | undefined => {
  if (!isObject(value)) return undefined
  const { get, getContent } = propertiesOf(row, value, prefix)
  const content = getContent('memoContent')
  const updatedAt = get('updatedAt', Timestamp, 'bad-date')
  if (!content?.trim()) return undefined
  return {
    type: get('memoType', MemoType) ?? 'THOUGHT',
    content,
    page: get('memoBookPage', Int32, 'bad-number') ?? 0,
    createdAt: get('createdAt', Timestamp, 'bad-date'),
    isPublic: value.memoAuthority === 'PUBLIC',
    ...(updatedAt && { updatedAt }),
  }
}

const readBook = (row: Row, book: Record<string, unknown>) => {
  const { get, getName, getList } = propertiesOf(row, book)
  const readings = getList('readings', MAX_LISTED_READINGS, (item, at) => readReading(row, item, `readings ${at + 1} `))
  const star = get('star', Star, 'bad-rating') ?? 0
  // A schema takes far longer for an invalid time, of which a file can have many.
  const readEvent = (item: unknown) =>
    isObject(item) && isInstant(item.at, FIRST_PAST_INSTANT) ? ProgressEvent.safeParse(item).data : undefined
  const uniqueEvent = unique(readEvent, ({ at }) => at)
  const progress = getList('progress', MAX_EVENTS, uniqueEvent)
  const uniqueSitting = unique(
    (item) => Sitting.safeParse(item).data,
    ({ date }) => date,
  )
  const sittings = getList('sittings', MAX_EVENTS, uniqueSitting)
  Object.assign(row.entry, {
    title: getName('title'),
    subtitle: getName('subtitle'),
    author: getName('author'),
    publisher: getName('publisher'),
    cover: get('cover', NullableUrl),
    itemPage: get('itemPage', Int32, 'bad-number'),
    currentPage: get('currentPage', Int32, 'bad-number'),
    isbn: get('isbn', Isbn, 'bad-isbn'),
    language: get('language', Language),
    format: get('format', BookFormat),
    publishedYear: get('publishedYear', PublishedYear, 'bad-number'),
    series: getName('series'),
    seriesNumber: get('seriesNumber', SeriesNumber, 'bad-number'),
    seconds: get('seconds', EditionSeconds, 'bad-number'),
    sourceIds: getList('sourceIds', MAX_SOURCE_IDS, unique(exactly(SourceId))),
    addedAt: get('createdAt', Timestamp, 'bad-date'),
    status: get('bookStatus', BookStatus, 'unknown-status'),
    quarters: readings.at(-1)?.quarters ?? (star * 4 || null),
    readings,
    tags: getList('tags', MAX_BOOK_TAGS, unique(exactly(TagName), fold)),
    memos: getList('memos', DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK, (item, at) => readMemo(row, item, `memos ${at + 1} `)),
    exact: {
      bookId: exactly(BookId)(book.bookId) ?? null,
      star,
      readStartDate: get('readStartDate', Timestamp, 'bad-date'),
      readEndDate: get('readEndDate', Timestamp, 'bad-date'),
      progress: progress.toSorted((one, other) => (one.at < other.at ? -1 : 1)),
      sittings: sittings.toSorted((one, other) => (one.date < other.date ? -1 : 1)),
    },
  } satisfies Partial<Entry>)
  if (row.entry.title?.trim()) return
  row.entry.failure = 'no-title'
  row.entry.cells = toCells(book)
}

const Goal = z.intersection(z.object({ year: int(MIN_YEAR, MAX_YEAR) }), NewGoal)

const readMember = ({ member, goals = [] }: Record<string, unknown>): EntryMember => {
  const zone = isObject(member) ? (member.timeZone ?? null) : null
  const timeZone = exactly(TimeZone)(zone) || null
  const listed = Array.isArray(goals) ? goals.slice(0, MAX_YEAR - MIN_YEAR + 1) : []
  const read = listed.flatMap((goal) => Goal.safeParse(goal).data ?? [])
  const isComplete = Array.isArray(goals) && read.length === goals.length
  return {
    timeZone,
    goals: read,
    unread: [...(timeZone === zone ? [] : ['member.timeZone']), ...(isComplete ? [] : ['goals'])],
  }
}

export const library: Format = {
  matches: ({ json }) => isObject(json) && json.format === 'reading-library' && Array.isArray(json.books),
  memberOf: ({ json }) => readMember(json as Record<string, unknown>),
  read: ({ json }, options) => {
    const { version, books } = json as { version: unknown; books: unknown[] }
    if (version !== 1) refuse('The version of the export is missing or not supported. Only version 1 can be imported.')
    return readObjects(books, options, readBook)
  },
}
