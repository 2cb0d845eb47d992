import { fold, toFoldedColumn } from '../fold'
import { type Quotas, utf8Bytes } from '../quotas'
import { MAX_READINGS } from '../readings/schema'
import { MAX_BOOK_TAGS } from '../tags/schema'
import type { Code, Entry, EntryMemo, EntryReading, Loss } from './entry'
import type { createMatcher } from './matching'
import { type Existing, foldedColumns, memosFor, mergeInto, textBytesOf, toNewBook } from './merge'

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
  book?: ReturnType<typeof toNewBook>['columns']
  changes?: Record<string, unknown>
  existing?: Existing
  readings: EntryReading[]
  tags: string[]
  memos: EntryMemo[]
}

export type Target = ReturnType<ReturnType<typeof createMatcher>['take']>

const nothing = { bookId: null, bytes: 0, readings: [], tags: [], memos: [] }

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
  }
}

const planExisting = (row: number, entry: Entry, book: Existing, missing: number, overwrites: boolean): Planned => {
  const { changes, readings, tags, losses } = mergeInto(book, entry, overwrites)
  const known = new Set(book.tags.map(fold))
  const newTags = tags.filter((tag) => !known.has(fold(tag)))
  const fitting = newTags.slice(0, Math.max(0, MAX_BOOK_TAGS - book.tags.length))
  const fittingReadings = readings.slice(0, Math.max(0, MAX_READINGS - 1 - book.readings.length))
  if (fittingReadings.length < readings.length) losses.push({ code: 'too-many', field: 'readings' })
  if (fitting.length < newTags.length) losses.push({ code: 'too-many', field: 'tags' })
  const memos = missing > 0 ? memosFor(entry, book.hasThoughts) : []
  const isChanged =
    Object.keys(changes).length > 0 || fittingReadings.length > 0 || fitting.length > 0 || memos.length > 0
  const texts = Object.values(changes).filter((value) => typeof value === 'string')
  return {
    ...nothing,
    row,
    entry,
    outcome: isChanged ? 'updated' : 'unchanged',
    code: losses.find(({ code }) => code === 'newer-here') ? 'newer-here' : null,
    losses: [...entry.losses, ...losses],
    bookId: book.bookId,
    bytes: utf8Bytes(...texts, ...fittingReadings.map(({ note }) => note)) + memoBytes(memos),
    existing: book,
    changes,
    readings: fittingReadings,
    tags: fitting,
    memos,
  }
}

type Situation = {
  now: string
  overwrites: boolean
  quotas: Quotas
  existing: Map<number, Existing>
  /** How many memos of a row its book lacks. */
  missingMemos: Map<number, number>
}

/** Plans a row. `target` is the book that it matches. */
export const planRow = (row: number, entry: Entry, target: Target, situation: Situation): Planned => {
  const { now, overwrites, quotas, existing, missingMemos } = situation
  if (entry.failure) {
    return refuse(row, entry, entry.failure === 'duplicate-in-file' ? 'skipped' : 'failed', entry.failure)
  }
  if (target && 'ambiguous' in target) return refuse(row, entry, 'skipped', 'ambiguous-match', target.ambiguous)
  const book = target && 'bookId' in target ? existing.get(target.bookId) : undefined
  // A book that was deleted since it was matched is created again.
  const planned = book
    ? planExisting(row, entry, book, missingMemos.get(row) ?? 0, overwrites)
    : planNew(row, entry, now, target && 'similar' in target ? target.similar : undefined)
  const memoCount = (book?.memoCount ?? 0) + planned.memos.length
  const bookBytes = (book?.memoBytes ?? 0) + memoBytes(planned.memos)
  const isFull = memoCount > quotas.MAX_MEMOS_PER_BOOK || bookBytes > quotas.MAX_BOOK_TEXT_BYTES
  return isFull && planned.memos.length > 0 ? refuse(row, entry, 'failed', 'quota', planned.bookId) : planned
}

const AUTHORITY = ['PRIVATE', 'PUBLIC'] as const
/** Bytes of memos per statement, well below D1's 2 MB per parameter. */
const MAX_PART_BYTES = 512 * 1024

/** Splits memos into parts that fit into a parameter. */
export const splitMemos = <Memo extends { content: string }>(memos: Memo[]) => {
  const parts: Memo[][] = []
  let left = 0
  for (const memo of memos) {
    // In JSON, and with its folded copy, a memo takes up to twice as much.
    const bytes = 2 * utf8Bytes(memo.content)
    if (left < bytes) {
      parts.push([])
      left = MAX_PART_BYTES
    }
    parts.at(-1)?.push(memo)
    left -= bytes
  }
  return parts
}

/** The values that an update expects, so that it does not overwrite a change that came meanwhile. */
const toPlanned = (existing: Existing | undefined) => {
  if (!existing) return undefined
  const { star, currentPage, bookStatus, readStartDate, readEndDate, sourceIds } = existing
  return { star, currentPage, bookStatus, readStartDate, readEndDate, sourceIds }
}

/** The arrays that `commitChunk` writes. In a dry run, only the report. */
export const toArrays = (plan: Planned[], now: string, isDryRun: boolean) => {
  let newBooks = 0
  let newReadings = 0
  const books: object[] = []
  const readings: object[] = []
  const memos: { content: string }[] = []
  const rows = plan.map(({ row, entry, outcome, code, losses, bookId, book, memos, tags, readings }) => ({
    row,
    line: entry.line,
    title: entry.title,
    outcome,
    code,
    losses: losses.length > 0 ? losses : undefined,
    cells: outcome === 'failed' ? entry.cells : undefined,
    undo:
      book && !isDryRun
        ? { ...book, memoCount: memos.length, tags: tags.length, readings: readings.length }
        : undefined,
    bookId,
    newBook: book && !isDryRun ? ++newBooks : undefined,
  }))
  if (isDryRun) return { rows, books, readings, readBooks: [], changes: [], tags: [], memos: [] }
  for (const { row, book, readings: added, existing } of plan) {
    let newest: number | undefined
    added.forEach((reading, at) => {
      const number = existing || at > 0 ? ++newReadings : 0
      newest = number
      readings.push({ ...reading, row, number, isPaused: Number(reading.isPaused) })
    })
    if (book) books.push({ ...book, ...foldedColumns(book), row, newest })
  }
  for (const { row, memos: added, bookId } of plan) {
    for (const { type, content, page, createdAt, isPublic } of added) {
      memos.push({
        ...{
          row,
          bookId,
          type,
          content,
          page,
          authority: AUTHORITY[Number(isPublic ?? false)],
          createdAt: createdAt ?? now,
        },
        ...{ folded: toFoldedColumn(content) },
      } as { content: string })
    }
  }
  const changed = plan.filter(({ changes }) => changes && Object.keys(changes).length > 0)
  return {
    rows,
    books,
    readings,
    readBooks: plan.flatMap(({ existing, readings }) => (existing && readings.length > 0 ? [existing.bookId] : [])),
    changes: changed.map(({ bookId, changes, existing }) => ({
      ...changes,
      bookId,
      authorFolded: toFoldedColumn(changes?.author as string | undefined),
      planned: toPlanned(existing),
    })),
    tags: plan.flatMap(({ row, tags }) => tags.map((tag) => ({ row, tag, tagKey: fold(tag) }))),
    memos: splitMemos(memos),
  }
}
