import {
  BOOK_FORMATS,
  BOOK_STATUSES,
  MAX_INT,
  MEMO_TYPES,
  PROGRESS_KINDS,
  READING_OUTCOMES,
} from '../../../values/contract'
import { fold } from '../../../values/fold'
import {
  type Code,
  type Entry,
  type EntryMemo,
  type EntryProgress,
  type EntryReading,
  emptyEntry,
  type Format,
} from '../../entry'
import { ImportFileError } from '../file-error'
import { isObject, toCells } from '../json'
import { limitEntries } from '../limit-entries'
import { cutText, parseIsbn, toSourceId } from '../values'

// The export of this service (src/transfer/export). Valid values are kept as they are. All are checked, because a file can be edited.

type Json = Record<string, unknown>
type Lose = (code: Code, field: string) => void
/** Returns the value, or undefined if it is not valid. */
type Check<Value> = (value: unknown) => Value | undefined

/** Whether a text has at most `max` code points, which are one or two UTF-16 units each. */
const fits = (value: string, max: number) =>
  value.length <= max || (value.length <= 2 * max && [...value].length <= max)
/** Text that can be stored: without NUL, which D1 does not keep. */
const text =
  (max: number): Check<string> =>
  (value) =>
    typeof value === 'string' && value && fits(value, max) && !value.includes('\0') && value.isWellFormed()
      ? value
      : undefined
const number =
  (min: number, max: number, step: number): Check<number> =>
  (value) =>
    typeof value === 'number' && value >= min && value <= max && (step === 0 || value % step === 0) ? value : undefined
const integer = (min = 0, max = MAX_INT) => number(min, max, 1)
const oneOf =
  <const Name extends string>(names: readonly Name[]): Check<Name> =>
  (value) =>
    names.find((name) => name === value)
/** Text that `parse` returns unchanged. */
const unchangedBy =
  (parse: (text: string) => string | null | undefined): Check<string> =>
  (value) =>
    typeof value === 'string' && value.length <= 2048 && parse(value) === value ? value : undefined

/** A prefix of an ISO 8601 time in UTC that matches the pattern and is a valid calendar date. */
const time = (pattern: RegExp) =>
  unchangedBy((value) => {
    const full = `${value}${'0000-01-01T00:00:00.000Z'.slice(value.length)}`
    const at = pattern.test(value) ? Date.parse(full) : Number.NaN
    return Number.isNaN(at) ? undefined : new Date(at).toISOString().slice(0, value.length)
  })
const date = time(/^\d{4}(?:-\d\d){0,2}$/)
const timestamp = time(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
const instant = time(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
/** How far the clock of the exporting server may be ahead. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000
/** A time in the past, but after `first`. */
const instantAfter =
  (first: string): Check<string> =>
  (value) => {
    const at = instant(value)
    return at && at > first && Date.parse(at) <= Date.now() + MAX_CLOCK_SKEW_MS ? at : undefined
  }
const added = instantAfter('1970-01-01T00:00:00.000Z')
const reached = instantAfter('1900')
const language = unchangedBy((value) =>
  /^[a-z]{2,8}(?:-[a-z\d]{1,8}){0,8}$/i.test(value) ? text(35)(value) : undefined,
)
const url: Check<string> = (value) => {
  const address = text(2048)(value)
  return address && /^https?:\/\/[^\s\\]+$/i.test(address) && URL.canParse(address) ? address : undefined
}
const sourceId = unchangedBy((value) => toSourceId(value.split(':', 1)[0] ?? '', value.slice(value.indexOf(':') + 1)))
const tag = unchangedBy((value) => text(100)(value.slice(0, 400).normalize('NFC').trim()))
const rating = number(0.25, 5, 0.25)
/** Refuses values of a list that repeat an earlier one. */
const unique = <Value>(check: Check<Value>, toKey: (value: Value) => unknown = (value) => value): Check<Value> => {
  const seen = new Set<unknown>()
  return (item) => {
    const value = check(item)
    if (value === undefined || seen.has(toKey(value))) return undefined
    seen.add(toKey(value))
    return value
  }
}

/** Reads the properties of an object. Invalid values become null, with a loss. */
const createReader = (values: Json, lose: Lose, prefix = '') => {
  const get = <Value>(name: string, check: Check<Value>, code: Code = 'bad-row') => {
    const stored = Object.hasOwn(values, name) ? values[name] : null
    const value = stored === null || stored === undefined ? null : check(stored)
    if (value === undefined) lose(code, `${prefix}${name}`)
    return value ?? null
  }
  /** A text, cut if it is too long. */
  const getText = (name: string, max: number, code: Code = 'too-long') => {
    const stored = values[name]
    if (typeof stored !== 'string' || fits(stored, max)) return get(name, text(max))
    lose(code, `${prefix}${name}`)
    return text(max)(cutText(stored, max)) ?? null
  }
  /** The items of a list that can be read. */
  const getList = <Item>(name: string, max: number, read: (item: unknown, at: number) => Item | undefined): Item[] => {
    const stored = get(name, (value) => (Array.isArray(value) ? value : undefined)) ?? []
    if (stored.length > max) lose('too-many', name)
    return stored.slice(0, max).flatMap((item, at) => {
      const value = read(item, at)
      if (value === undefined) lose('bad-row', `${name} ${at + 1}`)
      return value === undefined ? [] : [value]
    })
  }
  return { get, getText, getList }
}

const readReading = (value: unknown, lose: Lose, prefix: string): EntryReading | undefined => {
  if (!isObject(value)) return undefined
  const { get, getText } = createReader(value, lose, prefix)
  const finishedAt = get('finishedAt', date, 'bad-date')
  const quarters = get('rating', rating, 'bad-rating')
  const outcome = get('outcome', oneOf(READING_OUTCOMES), 'unknown-status') ?? (finishedAt ? 'FINISHED' : null)
  return {
    startedAt: get('startedAt', date, 'bad-date'),
    finishedAt,
    outcome,
    quarters: quarters && quarters * 4,
    isPaused: value.paused === true && outcome === null,
    note: getText('note', 65_535, 'review-truncated'),
    format: get('format', oneOf(BOOK_FORMATS)),
    createdAt: get('createdAt', added, 'bad-date'),
  }
}

const readMemo = (value: unknown, lose: Lose, prefix: string): EntryMemo | undefined => {
  if (!isObject(value)) return undefined
  const { get, getText } = createReader(value, lose, prefix)
  const content = getText('memoContent', 65_535, 'review-truncated')
  const updatedAt = get('updatedAt', timestamp, 'bad-date')
  return !content?.trim()
    ? undefined
    : {
        type: get('memoType', oneOf(MEMO_TYPES)) ?? 'THOUGHT',
        content,
        page: get('memoBookPage', integer(), 'bad-number') ?? 0,
        createdAt: get('createdAt', timestamp, 'bad-date'),
        isPublic: value.memoAuthority === 'PUBLIC',
        ...(updatedAt && { updatedAt }),
      }
}

const readEvent = (value: unknown): EntryProgress | undefined => {
  if (!isObject(value)) return undefined
  const [at, page, kind] = [reached(value.at), integer()(value.page), oneOf(PROGRESS_KINDS)(value.kind)]
  return at !== undefined && page !== undefined && kind ? { at, page, kind } : undefined
}

const toEntry = (book: unknown, line: number): Entry => {
  const entry = emptyEntry(line)
  if (!isObject(book)) return { ...entry, failure: 'bad-row' }
  const lose: Lose = (code, field) => {
    if (!entry.losses.some((loss) => loss.code === code && loss.field === field)) entry.losses.push({ code, field })
  }
  const { get, getText, getList } = createReader(book, lose)
  const readings = getList('readings', 200, (item, at) => readReading(item, lose, `readings ${at + 1} `))
  const star = get('star', integer(0, 5), 'bad-rating') ?? 0
  const progress = getList(
    'progress',
    10_000,
    unique(readEvent, ({ at }) => at),
  )
  Object.assign(entry, {
    title: getText('title', 500),
    author: getText('author', 500),
    publisher: getText('publisher', 500),
    cover: get('cover', url),
    pages: get('itemPage', integer(), 'bad-number'),
    currentPage: get('currentPage', integer(), 'bad-number'),
    isbn: get('isbn', unchangedBy(parseIsbn), 'bad-isbn'),
    language: get('language', language),
    format: get('format', oneOf(BOOK_FORMATS)),
    publishedYear: get('publishedYear', integer(-3000, 9999), 'bad-number'),
    series: getText('series', 500),
    seriesNumber: get('seriesNumber', number(0, 100_000, 0), 'bad-number'),
    sourceIds: getList('sourceIds', 20, unique(sourceId)),
    addedAt: get('createdAt', timestamp, 'bad-date'),
    status: get('bookStatus', oneOf(BOOK_STATUSES), 'unknown-status'),
    quarters: readings.at(-1)?.quarters ?? (star * 4 || null),
    readings,
    tags: getList('tags', 30, unique(tag, fold)),
    memos: getList('memos', 10_000, (item, at) => readMemo(item, lose, `memos ${at + 1} `)),
    exact: {
      bookId: integer(1, Number.MAX_SAFE_INTEGER)(book.bookId) ?? null,
      star,
      readStartDate: get('readStartDate', timestamp, 'bad-date'),
      readEndDate: get('readEndDate', timestamp, 'bad-date'),
      progress: progress.toSorted((one, other) => (one.at < other.at ? -1 : 1)),
    },
  } satisfies Partial<Entry>)
  if (entry.title?.trim()) return entry
  return { ...entry, failure: 'no-title', cells: toCells(book) }
}

const VERSION = 1

export const library: Format = {
  name: 'library',
  matches: ({ json }) => isObject(json) && json.format === 'reading-library' && Array.isArray(json.books),
  read: ({ json }) => {
    const { version, books } = json as { version: unknown; books: unknown[] }
    if (version !== VERSION) {
      throw new ImportFileError(
        'The version of the export is missing or not supported. Only version 1 can be imported.',
      )
    }
    return limitEntries(books).map((book, at) => toEntry(book, at + 1))
  },
}
