import { MAX_READINGS } from '../../../library/readings/schema'
import { MAX_BOOK_TAGS, MAX_TAGS } from '../../../library/tags/schema'
import { BLOCK_PRICE, MAX_EVENTS, NOTE_PRICE, PRICED_ROWS } from '../../../values/prices'
import { type Quotas, utf8Bytes } from '../../../values/quotas'
import { fold } from '../../../values/text/fold'
import type { Zone } from '../../../values/time'
import type { BookColumns } from '../../book-columns'
import type { Code, Entry, EntryMemo, EntryProgress, EntryReading, Loss } from '../../entries/entry'
import type { ImportRow } from '../responses'
import type { ReadingColumns } from './current-reading'
import type { Existing, SourcedMemo } from './existing'
import type { Match } from './matching'
import { mergeInto, type RatedReading } from './merge'
import { textBytesOf, toNewBook } from './new-book'
import { type SittingEvent, toSittingEvents, withoutIgnored } from './sittings'

/** A text for a memo that an earlier import wrote from the same column or highlight. */
export type ReplacedText = EntryMemo & { replaced: SourcedMemo }

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
  /** What the row adds to the texts and rows of the member. Tags are counted once they are written. */
  bytes: number
  book?: BookColumns & ReadingColumns
  /** The book of the library that is updated, and the changes of its columns. */
  existing?: Existing
  changes?: Partial<BookColumns & ReadingColumns>
  /** Past readings that are added, oldest first. */
  readings: EntryReading[]
  /** Ratings of those that the book has. */
  rated: RatedReading[]
  /** A reading that takes the place of its current one. */
  open?: EntryReading
  tags: string[]
  memos: EntryMemo[]
  texts: ReplacedText[]
  progress: EntryProgress[]
  sittings: SittingEvent[]
}

type Row = Pick<Planned, 'row' | 'entry'>
const NOTHING = {
  bookId: null,
  bytes: 0,
  readings: [],
  rated: [],
  tags: [],
  memos: [],
  texts: [],
  progress: [],
  sittings: [],
}
/** A row of which only the report is written. */
const reportOnly = ({ row, entry }: Row, result: Pick<Planned, 'outcome' | 'code'> & { bookId?: number | null }) => {
  return { ...NOTHING, row, entry, losses: entry.losses, ...result }
}
const overQuota = ({ bookId, ...row }: Planned) => reportOnly(row, { outcome: 'failed', code: 'quota', bookId })

const memoBytes = (memos: EntryMemo[]) => utf8Bytes(...memos.map(({ content }) => content))
const textGrowth = (texts: ReplacedText[]) =>
  texts.reduce((sum, { content, replaced }) => sum + Math.max(0, utf8Bytes(content) - replaced.bytes), 0)
/** Highlights of a book whose text an import replaces, and bytes of these texts: the report keeps them, in one value. */
const [MAX_REPLACED, MAX_REPLACED_BYTES] = [100, 128 * 1024]
/**
 * An earlier text is only replaced if the member has not edited it. That of a highlight is an older version of the same
 * text, that of a column is only replaced if the import overwrites.
 */
const planMemos = ({ missing, sourced }: Existing, overwrites: boolean) => {
  const memos: EntryMemo[] = []
  const texts: ReplacedText[] = []
  const losses: Loss[] = []
  const bySource = Map.groupBy(sourced, ({ source }) => source)
  let [replacedBytes, kept] = [0, 0]
  for (const memo of missing.memos) {
    const earlier = bySource.get(memo.source ?? memo.key ?? '')
    const unedited = earlier?.findLast(({ isEdited }) => !isEdited)
    if (!earlier) memos.push(memo)
    else if (memo.source !== undefined) {
      if (overwrites && unedited) texts.push({ ...memo, replaced: unedited })
      else losses.push({ code: 'text-kept', field: memo.source.slice(memo.source.indexOf(' ') + 1) })
    } else if (unedited && texts.length < MAX_REPLACED && replacedBytes + unedited.bytes <= MAX_REPLACED_BYTES) {
      replacedBytes += unedited.bytes
      texts.push({ ...memo, replaced: unedited })
    } else kept++
  }
  if (kept > 0) losses.push({ code: 'text-kept', field: 'highlights', count: kept })
  return { memos, texts, losses }
}

const priceOf = (readings: EntryReading[], memos: EntryMemo[]) =>
  utf8Bytes(...readings.map(({ note }) => note)) + memoBytes(memos) + NOTE_PRICE * (readings.length + memos.length)
const priceOfEvents = (added: number, before = 0) =>
  BLOCK_PRICE * (Math.floor((before + added) / PRICED_ROWS) - Math.floor(before / PRICED_ROWS))

/** The newest sittings for which a book has room beside its events. */
const fitSittings = (sittings: SittingEvent[], events: number): [SittingEvent[], Loss[]] => {
  const room = Math.max(0, MAX_EVENTS - events)
  if (sittings.length <= room) return [sittings, []]
  return [sittings.slice(sittings.length - room), [{ code: 'too-many', field: 'sittings' }]]
}

const planNew = ({ row, entry }: Row, { now, zone }: Situation, similarTo?: number): Planned => {
  const { columns, readings, losses } = toNewBook(entry, now)
  const { tags, memos } = entry
  const progress = withoutIgnored(entry.exact?.progress ?? [], entry, zone)
  const [sittings, lost] = fitSittings(toSittingEvents(entry, zone), progress.length)
  return {
    ...{ ...NOTHING, row, entry, outcome: 'created', code: similarTo ? 'possible-duplicate' : null, similarTo },
    losses: [...entry.losses, ...losses, ...lost],
    bytes: textBytesOf(columns) + priceOf(readings, memos) + priceOfEvents(progress.length + sittings.length),
    book: columns,
    ...{ readings, tags, memos, progress, sittings },
  }
}

const planExisting = ({ row, entry }: Row, book: Existing, overwrites: boolean): Planned => {
  const { changes, rated, ...merged } = mergeInto(book, entry, overwrites)
  const losses = [...entry.losses, ...merged.losses]
  const fitting = <Item>(items: Item[], most: number, field: string) => {
    if (items.length > most) losses.push({ code: 'too-many', field })
    return items.slice(0, Math.max(0, most))
  }
  // The current reading becomes a past one if another begins.
  const [open] = fitting(merged.open ? [merged.open] : [], MAX_READINGS - book.past.length, 'readings')
  const readings = fitting(merged.ended, MAX_READINGS - book.past.length - (open ? 1 : 0), 'readings')
  const newTags = entry.tags.filter((tag) => !book.tagKeys.includes(fold(tag)))
  const tags = fitting(newTags, MAX_BOOK_TAGS - book.tagKeys.length, 'tags')
  const { memos, texts, losses: lostTexts } = planMemos(book, overwrites)
  losses.push(...lostTexts)
  let progress = book.missing.events
  // The latest event would replace a page that was entered in this library.
  const isPageKept = !overwrites && book.events === 0 && ![0, progress.at(-1)?.page].includes(book.currentPage)
  const isTooMuch = book.events + progress.length > MAX_EVENTS
  if (progress.length > 0 && (isPageKept || isTooMuch)) {
    losses.push({ code: isPageKept ? 'newer-here' : 'too-many', field: 'progress' })
    progress = []
  }
  const [sittings, lost] = fitSittings(book.missing.sittings, book.events + progress.length)
  losses.push(...lost)
  const isChanged = [Object.keys(changes), readings, rated, tags, memos, texts, progress, sittings].some(
    ({ length }) => length > 0,
  )
  const grown = Math.max(0, textBytesOf({ ...book, ...changes }) - textBytesOf(book))
  const code = losses.some(({ code }) => code === 'newer-here') ? 'newer-here' : null
  return {
    ...{ row, entry, outcome: isChanged || open ? 'updated' : 'unchanged', code, losses, bookId: book.bookId },
    bytes:
      grown +
      priceOf(open ? [...readings, open] : readings, memos) +
      priceOfEvents(progress.length + sittings.length, book.events) +
      textGrowth(texts),
    existing: book,
    ...{ changes, readings, rated, open, tags, memos, texts, progress, sittings },
  }
}

type Situation = {
  now: string
  zone: Zone
  overwrites: boolean
  keepVisibility: boolean
  quotas: Quotas
  existing: Map<number, Existing>
}

/** Plans a row, given the match of its entry in the library. */
export const planRow = (row: Row, match: Match, situation: Situation): Planned => {
  const { overwrites, keepVisibility, quotas, existing } = situation
  const code = row.entry.failure
  if (code) return reportOnly(row, { outcome: code.endsWith('-in-file') ? 'skipped' : 'failed', code })
  const { kind, bookId = 0 } = match ?? {}
  if (kind === 'ambiguous') return reportOnly(row, { outcome: 'skipped', code: 'ambiguous-match', bookId })
  const book = kind === 'same' ? existing.get(bookId) : undefined
  const planned = book
    ? planExisting(row, book, overwrites)
    : planNew(row, situation, kind === 'similar' ? bookId : undefined)
  const { memos, texts } = planned
  const addedBytes = memoBytes(memos) + textGrowth(texts)
  const isFull =
    (memos.length > 0 && (book?.memoCount ?? 0) + memos.length > quotas.MAX_MEMOS_PER_BOOK) ||
    (addedBytes > 0 && (book?.memoBytes ?? 0) + addedBytes > quotas.MAX_BOOK_TEXT_BYTES)
  if (isFull) return overQuota(planned)
  if (keepVisibility || !memos.some(({ isPublic }) => isPublic)) return planned
  return {
    ...planned,
    memos: memos.map((memo) => ({ ...memo, isPublic: false })),
    losses: [...planned.losses, { code: 'made-private', field: 'memos' }],
  }
}

export type Usage = { books: number; textBytes: number }

/** Drops the tags that the member has no room for, and adds the others to those that are known. */
export const limitTags = (plan: Planned[], known: Set<string>) =>
  plan.map((planned): Planned => {
    const tags = planned.tags.filter((tag) => known.has(fold(tag)) || known.size < MAX_TAGS)
    for (const tag of tags) known.add(fold(tag))
    if (tags.length === planned.tags.length) return planned
    return { ...planned, tags, losses: [...planned.losses, { code: 'too-many', field: 'tags' }] }
  })

export const withAdded = ({ books, textBytes }: Usage, plan: Planned[]): Usage => ({
  books: books + plan.filter(({ book }) => book).length,
  textBytes: plan.reduce((sum, { bytes }) => sum + bytes, textBytes),
})

export const limitUsage = (plan: Planned[], usage: Usage, quotas: Quotas) => {
  let before = usage
  return plan.map((planned): Planned => {
    const { books, textBytes } = withAdded(before, [planned])
    const fits =
      (!planned.book || books <= quotas.MAX_BOOKS) && (planned.bytes === 0 || textBytes <= quotas.MAX_MEMBER_TEXT_BYTES)
    if (!fits) return overQuota(planned)
    before = { books, textBytes }
    return planned
  })
}
