import { MAX_EVENTS } from '../../../library/progress/schema'
import { MAX_READINGS } from '../../../library/readings/schema'
import { MAX_BOOK_TAGS } from '../../../library/tags/schema'
import { fold } from '../../../values/fold'
import { type Quotas, utf8Bytes } from '../../../values/quotas'
import type { Code, Entry, EntryMemo, EntryProgress, EntryReading, Loss } from '../../entry'
import type { createMatcher } from './matching'
import { type Existing, memosFor, mergeInto } from './merge'
import { type BookColumns, textBytesOf, toNewBook } from './new-book'

export type Outcome = 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed'

/** What becomes of a row of the file. */
export type Planned = {
  row: number
  entry: Entry
  outcome: Outcome
  code: Code | null
  losses: Loss[]
  bookId: number | null
  /** UTF-8 bytes that the row adds. */
  bytes: number
  book?: BookColumns
  changes?: Record<string, unknown>
  existing?: Existing
  readings: EntryReading[]
  tags: string[]
  memos: EntryMemo[]
  progress: EntryProgress[]
}

export type Target = ReturnType<ReturnType<typeof createMatcher>['take']>

const nothing = { bookId: null, bytes: 0, readings: [], tags: [], memos: [], progress: [] }

const memoBytes = (memos: EntryMemo[]) => utf8Bytes(...memos.map(({ content }) => content))

/** The rows of a failed or skipped entry, or of one that cannot be matched. */
export const refuse = (
  row: number,
  entry: Entry,
  outcome: Outcome,
  code: Code,
  bookId: number | null = null,
): Planned => ({
  ...nothing,
  row,
  entry,
  outcome,
  code,
  losses: entry.losses,
  bookId,
})

const planNew = (row: number, entry: Entry, now: string, similar: number | undefined): Planned => {
  const { columns, readings, losses } = toNewBook(entry, now)
  const bytes = textBytesOf(columns) + utf8Bytes(...readings.map(({ note }) => note)) + memoBytes(entry.memos)
  return {
    ...nothing,
    row,
    entry,
    outcome: 'created',
    code: similar === undefined ? null : 'possible-duplicate',
    losses: [...entry.losses, ...losses],
    bytes,
    book: columns,
    readings,
    tags: entry.tags,
    memos: entry.memos,
    progress: entry.exact?.progress ?? [],
  }
}

/** How many memos, with their UTF-8 bytes, and events of an entry its book lacks, and how many events the book has. */
export type Missing = { memos: number; memoBytes: number; events: number; total: number }

const planExisting = (row: number, entry: Entry, book: Existing, missing: Missing, overwrites: boolean): Planned => {
  const { changes, readings, tags, losses } = mergeInto(book, entry, overwrites)
  const known = new Set(book.tags.map(fold))
  const newTags = tags.filter((tag) => !known.has(fold(tag)))
  const fitting = newTags.slice(0, Math.max(0, MAX_BOOK_TAGS - book.tags.length))
  const fittingReadings = readings.slice(0, Math.max(0, MAX_READINGS - 1 - book.readings.length))
  if (fittingReadings.length < readings.length) losses.push({ code: 'too-many', field: 'readings' })
  if (fitting.length < newTags.length) losses.push({ code: 'too-many', field: 'tags' })
  const memos = missing.memos > 0 ? memosFor(entry, book.hasThoughts) : []
  const wanted = (missing.events > 0 && entry.exact?.progress) || []
  // The latest event would replace a page that was entered in this library.
  const isPageKept = !overwrites && missing.total === 0 && ![0, wanted.at(-1)?.page].includes(book.currentPage)
  const isTooMuch = missing.total + missing.events > MAX_EVENTS
  if (wanted.length > 0 && isPageKept) losses.push({ code: 'newer-here', field: 'progress' })
  else if (isTooMuch) losses.push({ code: 'too-many', field: 'progress' })
  const progress = isPageKept || isTooMuch ? [] : wanted
  const isChanged =
    Object.keys(changes).length > 0 ||
    [fittingReadings, fitting, memos, progress].some((added: unknown[]) => added.length > 0)
  const grown = Math.max(0, textBytesOf({ ...book, ...changes }) - textBytesOf(book))
  return {
    ...nothing,
    row,
    entry,
    outcome: isChanged ? 'updated' : 'unchanged',
    code: losses.find(({ code }) => code === 'newer-here') ? 'newer-here' : null,
    losses: [...entry.losses, ...losses],
    bookId: book.bookId,
    bytes: grown + utf8Bytes(...fittingReadings.map(({ note }) => note)) + missing.memoBytes,
    existing: book,
    changes,
    readings: fittingReadings,
    tags: fitting,
    memos,
    progress,
  }
}

type Situation = {
  now: string
  overwrites: boolean
  quotas: Quotas
  existing: Map<number, Existing>
  /** By row. */
  missing: Map<number, Missing>
}

const NOTHING_MISSING: Missing = { memos: 0, memoBytes: 0, events: 0, total: 0 }

/** Plans a row. `target` is the book that it matches. */
export const planRow = (row: number, entry: Entry, target: Target, situation: Situation): Planned => {
  const { now, overwrites, quotas, existing, missing } = situation
  if (entry.failure) {
    return refuse(row, entry, entry.failure === 'duplicate-in-file' ? 'skipped' : 'failed', entry.failure)
  }
  if (target && 'ambiguous' in target) return refuse(row, entry, 'skipped', 'ambiguous-match', target.ambiguous)
  const book = target && 'bookId' in target ? existing.get(target.bookId) : undefined
  const lacking = missing.get(row) ?? NOTHING_MISSING
  // A book that was deleted since it was matched is created again.
  const planned = book
    ? planExisting(row, entry, book, lacking, overwrites)
    : planNew(row, entry, now, target && 'similar' in target ? target.similar : undefined)
  const added = book ? lacking : { memos: planned.memos.length, memoBytes: memoBytes(planned.memos) }
  const memoCount = (book?.memoCount ?? 0) + added.memos
  const bookBytes = (book?.memoBytes ?? 0) + added.memoBytes
  const isFull = memoCount > quotas.MAX_MEMOS_PER_BOOK || bookBytes > quotas.MAX_BOOK_TEXT_BYTES
  return isFull && planned.memos.length > 0 ? refuse(row, entry, 'failed', 'quota', planned.bookId) : planned
}
