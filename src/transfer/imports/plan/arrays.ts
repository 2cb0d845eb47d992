import { fold, toFoldedColumn } from '../../../values/fold'
import { utf8Bytes } from '../../../values/quotas'
import { type Cells, type EntryMemo, type EntryReading, type Loss, MAX_COLUMN_NAME } from '../../entry'
import { type BookColumns, foldedColumns } from './new-book'
import type { Planned } from './plan'

// What `commitChunk` writes for the planned rows, as arrays of objects for JSON parameters.

/** Characters of a parameter: below D1's 2 MB even if each takes three bytes. */
const MAX_PART_SIZE = 512 * 1024

/** Splits items into JSON arrays that fit into a parameter. */
export const toJsonParts = (items: object[]) => {
  const parts: string[][] = []
  let left = 0
  for (const item of items) {
    const json = JSON.stringify(item)
    if (left < json.length) {
      parts.push([])
      left = MAX_PART_SIZE
    }
    parts.at(-1)?.push(json)
    left -= json.length
  }
  return parts.map((part) => `[${part.join(',')}]`)
}

/** The values that an update expects, so that it does not overwrite a concurrent change. */
const toPlanned = ({ existing, readings, progress }: Planned) => {
  if (!existing) return undefined
  const { star, currentPage, bookStatus, readStartDate, readEndDate, sourceIds } = existing
  return {
    sourceIds,
    // Readings and progress are inserted first, and can change these.
    ...(readings.length === 0 && { star, bookStatus, readStartDate, readEndDate }),
    ...(progress.length === 0 && { currentPage }),
  }
}

const toReadings = ({ row, existing, readings }: Planned) => {
  const first = existing ? -1 : readings.findIndex(({ createdAt }) => !createdAt)
  return readings.map(({ createdAt, isPaused, ...reading }, at) => ({
    ...reading,
    row,
    isFirst: Number(at === first),
    createdAt: createdAt ? Date.parse(createdAt) : undefined,
    isPaused: Number(isPaused),
  }))
}

const AUTHORITY = ['PRIVATE', 'PUBLIC'] as const

const timesOf = ({ createdAt, updatedAt }: EntryMemo, now: string) => ({
  createdAt: createdAt ?? now,
  updatedAt: updatedAt ?? createdAt ?? now,
})

const toMemos = ({ row, bookId, memos }: Planned, now: string) =>
  memos.map((memo) => {
    const { type, content, page, isPublic } = memo
    return {
      ...{ row, bookId, type, content, page },
      authority: AUTHORITY[Number(isPublic ?? false)],
      ...timesOf(memo, now),
      folded: toFoldedColumn(content),
    }
  })

const sumOf = <Item>(items: Item[], toNumber: (item: Item) => number) =>
  items.reduce((sum, item) => sum + toNumber(item), 0)
const toDigits = (date: string | null) => Number((date ?? '').replaceAll('-', ''))
/** A checksum of readings: `readingsSum` in undo.ts computes it of those in the database. */
const toReadingsSum = (readings: EntryReading[]) => [
  readings.length,
  sumOf(readings, ({ startedAt }) => toDigits(startedAt)),
  sumOf(readings, ({ finishedAt }) => toDigits(finishedAt)),
  sumOf(readings, ({ outcome }) => outcome?.length ?? 0),
  sumOf(readings, ({ quarters }) => quarters ?? 0),
  sumOf(readings, ({ isPaused }) => Number(isPaused)),
  sumOf(readings, ({ format }) => format?.charCodeAt(0) ?? 0),
  sumOf(readings, ({ note }) => utf8Bytes(note)),
]

/** The values with which an undo compares a created book. */
const toUndo = (columns: BookColumns, planned: Planned, now: string) => {
  const { entry, memos, tags, readings, progress } = planned
  const times = memos.map((memo) => timesOf(memo, now))
  const edits = times.flatMap(({ createdAt, updatedAt }) => (updatedAt === createdAt ? [] : updatedAt))
  return {
    ...columns,
    ...{ memoCount: memos.length, memoBytes: utf8Bytes(...memos.map(({ content }) => content)) },
    ...{ tags: tags.map(fold), readings: toReadingsSum(readings), progress: progress.length },
    // The number of edited memos, and the time of the last edit.
    edits: edits.length > 0 ? [edits.length, edits.toSorted().at(-1)] : undefined,
    origin: entry.exact?.bookId ?? undefined,
  }
}

const shorten = ({ code, field }: Loss) => ({ code, field: field.slice(0, MAX_COLUMN_NAME).toWellFormed() })

const toObject = ({ names, values }: Cells) => Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

const toReport = (planned: Planned, undo: object | undefined, newBook: number | undefined) => {
  const { row, entry, outcome, code, losses, bookId } = planned
  return {
    ...{ row, line: entry.line, title: entry.title, outcome, code, bookId, undo, newBook },
    losses: losses.length > 0 ? losses.map(shorten) : undefined,
    cells: outcome === 'failed' ? toObject(entry.cells) : undefined,
  }
}

/** The arrays of a chunk, those of objects in parts. A dry run has only the report. */
export const toArrays = (plan: Planned[], now: string, isDryRun: boolean) => {
  const written = isDryRun ? [] : plan
  let newBooks = 0
  let newReadings = 0
  const rows: object[] = []
  const books: object[] = []
  const readings: object[] = []
  for (const planned of plan) {
    const { row, book, bytes } = planned
    if (isDryRun) {
      rows.push(toReport(planned, bytes > 0 ? { bytes } : undefined, undefined))
      continue
    }
    rows.push(
      book ? toReport(planned, toUndo(book, planned, now), ++newBooks) : toReport(planned, undefined, undefined),
    )
    const added = toReadings(planned)
    newReadings += added.filter(({ isFirst }) => !isFirst).length
    readings.push(...added)
    const last = added.at(-1)
    if (book) books.push({ ...book, ...foldedColumns(book), row, newest: last && (last.isFirst ? 0 : newReadings) })
  }
  const changed = written.filter(({ changes }) => changes && Object.keys(changes).length > 0)
  const toChange = (planned: Planned) => ({
    ...planned.changes,
    bookId: planned.bookId,
    authorFolded: toFoldedColumn(planned.changes?.author as string | undefined),
    planned: toPlanned(planned),
  })
  const toTags = ({ row, tags }: Planned) => tags.map((tag) => ({ row, tag, tagKey: fold(tag) }))
  const toProgress = ({ row, progress }: Planned) =>
    progress.map(({ at, page, kind }) => ({ row, at: Date.parse(at), page, kind }))
  return {
    rows: toJsonParts(rows),
    books: toJsonParts(books),
    readings: toJsonParts(readings),
    readBooks: written.flatMap(({ existing, readings }) => (existing && readings.length > 0 ? [existing.bookId] : [])),
    changes: toJsonParts(changed.map(toChange)),
    tags: toJsonParts(written.flatMap(toTags)),
    memos: toJsonParts(written.flatMap((planned) => toMemos(planned, now))),
    progress: toJsonParts(written.flatMap(toProgress)),
    progressBooks: written.flatMap(({ existing, progress }) =>
      existing && progress.length > 0 ? [existing.bookId] : [],
    ),
  }
}
export type Arrays = ReturnType<typeof toArrays>
