import { MAX_EVENTS } from '../../../library/progress/schema'
import { MAX_READINGS } from '../../../library/readings/schema'
import { MAX_BOOK_TAGS, MAX_TAGS } from '../../../library/tags/schema'
import { type Quotas, utf8Bytes } from '../../../values/quotas'
import { fold } from '../../../values/text/fold'
import type { BookColumns } from '../../book-columns'
import type { Code, Entry, EntryMemo, EntryProgress, EntryReading, Loss } from '../../entries/entry'
import type { ImportRow } from '../responses'
import type { ReadingColumns } from './current-reading'
import type { Existing } from './existing'
import type { Match } from './matching'
import { memoBytes, planMemos, type ReplacedText, textGrowth } from './memos'
import { mergeInto } from './merge'
import { textBytesOf, toNewBook } from './new-book'

/** What an import does with a row of its file. */
export type Planned = {
  row: number
  entry: Entry
  outcome: ImportRow['outcome']
  code: Code | null
  losses: Loss[]
  bookId: number | null
  /** The book of the library of which the new one may be a duplicate. */
  similarTo?: number
  /** UTF-8 bytes that the row adds. */
  bytes: number
  book?: BookColumns & ReadingColumns
  /** The book of the library that is updated, and the changes of its columns. */
  existing?: Existing
  changes?: Partial<BookColumns & ReadingColumns>
  /** Past readings, oldest first. */
  readings: EntryReading[]
  /** A reading that takes the place of its current one. */
  open?: EntryReading
  tags: string[]
  memos: EntryMemo[]
  /** Texts that replace those of memos. */
  texts: ReplacedText[]
  progress: EntryProgress[]
}

/** A row of which only the report is written. */
export const reportOnly = (
  row: number,
  entry: Entry,
  outcome: Planned['outcome'],
  code: Code | null,
  bookId: number | null = null,
): Planned => ({
  ...{ row, entry, outcome, code, bookId, losses: entry.losses },
  ...{ bytes: 0, readings: [], tags: [], memos: [], texts: [], progress: [] },
})

const noteBytes = (readings: EntryReading[]) => utf8Bytes(...readings.map(({ note }) => note))

const planNew = (row: number, entry: Entry, now: string, similarTo?: number): Planned => {
  const { columns, readings, losses } = toNewBook(entry, now)
  const { tags, memos } = entry
  return {
    ...reportOnly(row, entry, 'created', similarTo ? 'possible-duplicate' : null),
    similarTo,
    losses: [...entry.losses, ...losses],
    bytes: textBytesOf(columns) + noteBytes(readings) + memoBytes(memos),
    book: columns,
    ...{ readings, tags, memos, progress: entry.exact?.progress ?? [] },
  }
}

const planExisting = (row: number, entry: Entry, book: Existing, overwrites: boolean): Planned => {
  const { missing } = book
  const { changes, ...merged } = mergeInto(book, entry, overwrites)
  const losses = [...entry.losses, ...merged.losses]
  const lose = (code: Code, field: string) => void losses.push({ code, field })
  const fitting = <Item>(items: Item[], most: number, field: string) => {
    if (items.length > most) lose('too-many', field)
    return items.slice(0, Math.max(0, most))
  }
  // The current reading becomes a past one if another begins.
  const [open] = fitting(merged.open ? [merged.open] : [], MAX_READINGS - book.past.length, 'readings')
  const readings = fitting(merged.ended, MAX_READINGS - book.past.length - (open ? 1 : 0), 'readings')
  const newTags = entry.tags.filter((tag) => !book.tagKeys.includes(fold(tag)))
  const tags = fitting(newTags, MAX_BOOK_TAGS - book.tagKeys.length, 'tags')
  const { memos, texts, losses: lostTexts } = planMemos(book, overwrites)
  losses.push(...lostTexts)
  let progress = missing.events
  // The latest event would replace a page that was entered in this library.
  const isPageKept = !overwrites && book.events === 0 && ![0, progress.at(-1)?.page].includes(book.currentPage)
  const isTooMuch = book.events + missing.events.length > MAX_EVENTS
  if (progress.length > 0 && (isPageKept || isTooMuch)) {
    lose(isPageKept ? 'newer-here' : 'too-many', 'progress')
    progress = []
  }
  const isChanged = [Object.keys(changes), readings, tags, memos, texts, progress].some(({ length }) => length > 0)
  const grown = Math.max(0, textBytesOf({ ...book, ...changes }) - textBytesOf(book))
  const code = losses.some(({ code }) => code === 'newer-here') ? 'newer-here' : null
  return {
    ...reportOnly(row, entry, isChanged || open ? 'updated' : 'unchanged', code, book.bookId),
    losses,
    bytes: grown + noteBytes(open ? [...readings, open] : readings) + memoBytes(memos) + textGrowth(texts),
    existing: book,
    ...{ changes, readings, open, tags, memos, texts, progress },
  }
}

type Situation = {
  now: string
  overwrites: boolean
  quotas: Quotas
  existing: Map<number, Existing>
}

/** Plans a row, given the match of its entry in the library. */
export const planRow = (row: number, entry: Entry, match: Match, situation: Situation): Planned => {
  const { now, overwrites, quotas, existing } = situation
  if (entry.failure) {
    return reportOnly(row, entry, entry.failure === 'duplicate-in-file' ? 'skipped' : 'failed', entry.failure)
  }
  if (match?.kind === 'ambiguous') return reportOnly(row, entry, 'skipped', 'ambiguous-match', match.bookId)
  const book = match?.kind === 'same' ? existing.get(match.bookId) : undefined
  const planned = book
    ? planExisting(row, entry, book, overwrites)
    : planNew(row, entry, now, match?.kind === 'similar' ? match.bookId : undefined)
  const { memos, texts } = planned
  const addedBytes = memoBytes(memos) + textGrowth(texts)
  const isFull =
    (memos.length > 0 && (book?.memoCount ?? 0) + memos.length > quotas.MAX_MEMOS_PER_BOOK) ||
    (addedBytes > 0 && (book?.memoBytes ?? 0) + addedBytes > quotas.MAX_BOOK_TEXT_BYTES)
  return isFull ? reportOnly(row, entry, 'failed', 'quota', planned.bookId) : planned
}

/** What counts towards the quotas of a member. */
export type Usage = { books: number; textBytes: number }

/** Drops the tags that the member has no room for, and adds the others to those that are known. */
export const limitTags = (plan: Planned[], known: Set<string>) =>
  plan.map((planned): Planned => {
    const tags = planned.tags.filter((tag) => known.has(fold(tag)) || known.size < MAX_TAGS)
    for (const tag of tags) known.add(fold(tag))
    if (tags.length === planned.tags.length) return planned
    return { ...planned, tags, losses: [...planned.losses, { code: 'too-many', field: 'tags' }] }
  })

/** The usage with what planned rows add. */
export const withAdded = ({ books, textBytes }: Usage, plan: Planned[]): Usage => ({
  books: books + plan.filter(({ book }) => book).length,
  textBytes: plan.reduce((sum, { bytes }) => sum + bytes, textBytes),
})

/** Fails the rows that the quotas have no room for. */
export const limitUsage = (plan: Planned[], usage: Usage, quotas: Quotas) => {
  let before = usage
  return plan.map((planned): Planned => {
    const { books, textBytes } = withAdded(before, [planned])
    const fits =
      (!planned.book || books <= quotas.MAX_BOOKS) && (planned.bytes === 0 || textBytes <= quotas.MAX_MEMBER_TEXT_BYTES)
    if (!fits) return reportOnly(planned.row, planned.entry, 'failed', 'quota', planned.bookId)
    before = { books, textBytes }
    return planned
  })
}
