import { newVersion } from '../../../library/memos/versions'
import { fieldsOf } from '../../../values/book-fields'
import { priceOfTexts, toFoldedMemo, utf8Bytes } from '../../../values/quotas'
import { fold } from '../../../values/text/fold'
import { foldedColumnsOf, toFolded, toFoldedColumn } from '../../../values/text/folded-columns'
import { BOOK_COLUMNS, type BookColumns } from '../../book-columns'
import type { Cells, EntryMemo, EntryReading } from '../../entries/entry'
import { isCurrentChanged, SET_COLUMNS } from '../plan/current-reading'
import { MAX_EXCERPT } from '../plan/existing'
import { isEarlier } from '../plan/merge'
import type { Planned, ReplacedText } from '../plan/plan'
import { type Change, MEMO_PREFIX } from '../schema'

// What `writeChunk` writes for planned rows, as items of JSON parameters. An item has the `bookId` of its book, or for
// a new one `newer`: how many of the new books of the chunk have a higher identifier.

/** The columns that are not of readings. */
export const UPDATED = fieldsOf('import', 'reading')

type OfBook = { bookId: number | null; newer?: undefined } | { newer: number }

/** The values that an update expects, so that it does not overwrite a concurrent change. */
const toExpected = ({ existing, changes = {}, progress }: Planned) => {
  // Progress is inserted first, and can change the page.
  const names = UPDATED.filter((name) =>
    name === 'currentPage' ? progress.length === 0 : name === 'sourceIds' || name in changes,
  )
  return Object.fromEntries(names.map((name) => [name, existing?.[name]]))
}

const toReading = ({ createdAt, isPaused, ...reading }: EntryReading, added?: number) => ({
  ...reading,
  createdAt: createdAt ? Date.parse(createdAt) : added,
  isPaused: Number(isPaused),
})

/** What changes the readings of a book of the library, with the columns that the row was planned with. */
const toReadings = ({ entry, existing, changes = {}, readings, open }: Planned) => {
  if (!existing) return []
  const current = isCurrentChanged(changes) ? { ...existing, ...changes } : undefined
  if (!current && !open && readings.length === 0) return []
  return {
    ...{ bookId: existing.bookId, planned: existing.planned, open: open && toReading(open) },
    current: current && Object.fromEntries(SET_COLUMNS.map((name) => [name, current[name]])),
    isMovedBack: current && isEarlier(current.bookStatus, existing.bookStatus),
    hasPast: readings.length > 0,
    // A status or stars alone do not say which reading is the latest.
    hasReadings: entry.readings.length > 0,
  }
}

export const toMemo = (
  { isPublic, createdAt, updatedAt, key, source = key, ...memo }: EntryMemo,
  ofBook: OfBook,
  now: string,
) => ({
  ...ofBook,
  ...memo,
  source,
  folded: toFoldedMemo(memo.content),
  authority: isPublic ? 'PUBLIC' : 'PRIVATE',
  createdAt: createdAt ?? now,
  updatedAt: updatedAt ?? createdAt ?? now,
  version: newVersion(),
})

const toReplacement = ({ content, replaced: { memoId, version } }: ReplacedText, now: string) => ({
  memoId,
  content,
  folded: toFoldedMemo(content),
  updatedAt: now,
  version: newVersion(),
  replacedVersion: version,
})

const toObject = ({ names, values }: Cells) => Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

/** The first characters of a text, like `substr` of SQL. */
const toExcerpt = (text: string) =>
  Array.from(text.slice(0, 2 * MAX_EXCERPT))
    .slice(0, MAX_EXCERPT)
    .join('')

/** The columns of readings that the report does not list: it only has the number of readings. */
const REFINEMENTS = ['startedAt', 'finishedAt', 'isStopped', 'quarters', 'readingFormat', 'isPaused', 'note'] as const

/**
 * What a row changes in a book of the library: columns with their values, what is added with the number before and
 * after it, and the beginnings of replaced texts.
 */
const changesOf = (planned: Planned): Record<string, Change> => {
  const { existing, changes = {}, readings, rated, open, tags, memos, texts, progress, sittings } = planned
  if (!existing) return {}
  const columns = (Object.keys(changes) as (keyof BookColumns)[]).filter((name) => BOOK_COLUMNS.includes(name))
  const isUnread = existing.bookStatus === 'YET'
  const stored = existing.past.length + (isUnread ? 0 : 1)
  const isOneMore = open !== undefined || (isUnread && changes.bookStatus !== undefined)
  const isRefined = rated.length > 0 || REFINEMENTS.some((name) => name in changes)
  const added: [string, number, number][] = [
    ['readings', stored, readings.length + Number(isOneMore)],
    ['tags', existing.tagKeys.length, tags.length],
    ['memos', existing.memoCount, memos.length],
    ['progress', existing.events, progress.length + sittings.length],
  ]
  const isSaid = ([name, , count]: (typeof added)[number]) =>
    name === 'readings' ? isRefined || open || readings.length > 0 : count > 0
  const replaced = texts.map(({ source, content, replaced }, at): [string, Change] => [
    MEMO_PREFIX + (source === undefined ? `highlight ${at + 1}` : source.slice(source.indexOf(' ') + 1)),
    [replaced.excerpt, toExcerpt(content)],
  ])
  return Object.fromEntries([
    ...columns.map((name) => [name, [existing[name], changes[name] ?? null]]),
    ...added.filter(isSaid).map(([name, before, count]) => [name, [before, before + count]]),
    ...replaced,
  ])
}

/** What `importRows.undo` gets of a row: docs/decisions/0028-imports.md. */
type Undo = Partial<{
  changes: Record<string, Change>
  /** Bytes that the undo can add. */
  growth: number
  tags: string[]
  events: number[]
  rated: [readingId: number, before: number | null, quarters: number | null][]
  /** `writeChunk` replaces these with what the row overwrites. */
  reading: 1
  progress: 1
  /** Of a dry run. */
  bytes: number
  similarTo: number
}>

/** How to undo a row that updates a book. */
const toUndo = (planned: Planned): Undo | undefined => {
  const { existing, changes = {}, readings, rated, open, tags, texts, progress, sittings } = planned
  const events = [...progress.map(({ at }) => Date.parse(at)), ...sittings.map(({ at }) => at)]
  if (!existing) return undefined
  const bytes = [
    ...fieldsOf('text')
      .filter((name) => name in changes)
      .map((name) => priceOfTexts({ [name]: existing[name] }) - priceOfTexts({ [name]: changes[name] })),
    ...texts.map(({ content, replaced }) => replaced.bytes - utf8Bytes(content)),
  ]
  return {
    changes: changesOf(planned),
    growth: bytes.reduce((sum, each) => sum + Math.max(0, each), 0) || undefined,
    ...Object.fromEntries(
      foldedColumnsOf(Object.keys(changes)).map(([name, column]) => [column, toFoldedColumn(existing[name])]),
    ),
    tags: tags.length > 0 ? tags.map(fold) : undefined,
    events: events.length > 0 ? events : undefined,
    rated: rated.length > 0 ? rated.map(({ readingId, before, quarters }) => [readingId, before, quarters]) : undefined,
    reading: isCurrentChanged(changes) || open || readings.length > 0 ? 1 : undefined,
    progress: events.length > 0 || 'currentPage' in changes ? 1 : undefined,
  }
}

const toDryUndo = (planned: Planned): Undo | undefined => {
  const changes = planned.existing && changesOf(planned)
  return planned.bytes > 0 || changes ? { bytes: planned.bytes, changes, similarTo: planned.similarTo } : undefined
}

const toReport = (planned: Planned, ofBook: OfBook, isDryRun: boolean) => {
  const { row, entry, outcome, code, losses, texts } = planned
  return {
    ...ofBook,
    row,
    line: entry.line,
    title: entry.title,
    outcome,
    code,
    losses: losses.length > 0 ? losses : undefined,
    cells: outcome === 'failed' ? toObject(entry.cells) : undefined,
    origin: entry.exact?.bookId ?? undefined,
    similarTo: planned.similarTo,
    undo: isDryRun ? toDryUndo(planned) : outcome === 'updated' ? toUndo(planned) : undefined,
    texts: isDryRun || texts.length === 0 ? undefined : texts.map(({ replaced }) => replaced.memoId),
  }
}

/** The items of a chunk. A dry run has only the report, with the bytes of text that each row would add. */
export const toItems = (plan: Planned[], now: string, isDryRun: boolean) => {
  let newer = plan.filter(({ book }) => book).length
  const rows = plan.map((planned) => {
    const isCreated = planned.book && !isDryRun
    if (isCreated) newer -= 1
    const ofBook = isCreated ? { newer } : { bookId: planned.bookId }
    return { planned, ofBook }
  })
  const written = isDryRun ? [] : rows
  const reports = rows.map(({ planned, ofBook }) => toReport(planned, ofBook, isDryRun))
  return {
    books: written.flatMap(({ planned: { book, progress } }) => {
      const latest = progress.at(-1)
      return book ? { ...book, ...toFolded(book), activityAt: latest && Date.parse(latest.at) } : []
    }),
    readings: written.flatMap(({ planned }) => toReadings(planned)),
    // Those of a new book were added with it, unless the file says when.
    pastReadings: written.flatMap(({ planned: { book, readings }, ofBook }) =>
      readings.map((reading) => ({ ...ofBook, ...toReading(reading, book ? 0 : undefined) })),
    ),
    rated: written.flatMap(({ planned: { rated } }) => rated),
    progress: written.flatMap(({ planned: { progress }, ofBook }) =>
      progress.map(({ at, ...event }) => ({ ...ofBook, at: Date.parse(at), ...event })),
    ),
    sittings: written.flatMap(({ planned: { sittings }, ofBook }) =>
      sittings.map(({ at, minutes }) => ({ ...ofBook, at, minutes })),
    ),
    progressBooks: written.flatMap(({ planned: { existing, progress, sittings } }) =>
      existing && progress.length + sittings.length > 0 ? existing.bookId : [],
    ),
    changes: written.flatMap(({ planned }) => {
      const { bookId, changes = {} } = planned
      if (!UPDATED.some((name) => name in changes)) return []
      return { ...changes, ...toFolded(changes), bookId, expected: toExpected(planned) }
    }),
    tags: written.flatMap(({ planned, ofBook }) => planned.tags.map((tag) => ({ ...ofBook, tag, tagKey: fold(tag) }))),
    memos: written.flatMap(({ planned, ofBook }) => planned.memos.map((memo) => toMemo(memo, ofBook, now))),
    texts: written.flatMap(({ planned }) => planned.texts.map((text) => toReplacement(text, now))),
    report: reports.filter(({ newer }) => newer === undefined),
    reportOfNew: reports.filter(({ newer }) => newer !== undefined),
  }
}
