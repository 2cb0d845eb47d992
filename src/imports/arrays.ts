import { fold, toFoldedColumn } from '../fold'
import { utf8Bytes } from '../quotas'
import { type BookColumns, foldedColumns } from './new-book'
import type { Planned } from './plan'

// What `commitChunk` writes for the planned rows, as arrays of objects for JSON parameters.

/** Bytes per parameter, well below D1's 2 MB. */
const MAX_PART_BYTES = 512 * 1024

/** Splits items into JSON arrays that fit into a parameter. */
export const toJsonParts = (items: object[]) => {
  const parts: string[][] = []
  let left = 0
  for (const item of items) {
    const json = JSON.stringify(item)
    const bytes = utf8Bytes(json)
    if (left < bytes) {
      parts.push([])
      left = MAX_PART_BYTES
    }
    parts.at(-1)?.push(json)
    left -= bytes
  }
  return parts.map((part) => `[${part.join(',')}]`)
}

/** The values that an update expects, so that it does not overwrite a concurrent change. */
const toPlanned = ({ existing, progress }: Planned) => {
  if (!existing) return undefined
  const { star, currentPage, bookStatus, readStartDate, readEndDate, sourceIds } = existing
  const planned = { star, bookStatus, readStartDate, readEndDate, sourceIds }
  // Progress is inserted first, and can change the page.
  return progress.length > 0 ? planned : { ...planned, currentPage }
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

const toMemos = ({ row, bookId, memos }: Planned, now: string) =>
  memos.map(({ type, content, page, createdAt, updatedAt, isPublic }) => ({
    ...{ row, bookId, type, content, page },
    authority: AUTHORITY[Number(isPublic ?? false)],
    createdAt: createdAt ?? now,
    updatedAt: updatedAt ?? createdAt ?? now,
    folded: toFoldedColumn(content),
  }))

/** The values with which an undo compares a created book. */
const toUndo = (columns: BookColumns, planned: Planned, now: string) => {
  const { entry, memos, tags, readings, progress } = planned
  const edits = toMemos(planned, now).flatMap(({ createdAt, updatedAt }) => (updatedAt === createdAt ? [] : updatedAt))
  return {
    ...columns,
    ...{ memoCount: memos.length, tags: tags.length, readings: readings.length, progress: progress.length },
    // The number of edited memos, and the time of the last edit.
    edits: edits.length > 0 ? [edits.length, edits.toSorted().at(-1)] : undefined,
    origin: entry.exact?.bookId ?? undefined,
  }
}

const toReport = (planned: Planned, undo: object | undefined, newBook: number | undefined) => {
  const { row, entry, outcome, code, losses, bookId } = planned
  return {
    ...{ row, line: entry.line, title: entry.title, outcome, code, bookId, undo, newBook },
    losses: losses.length > 0 ? losses : undefined,
    cells: outcome === 'failed' ? entry.cells : undefined,
  }
}

/** The arrays of a chunk. A dry run has only the report. */
export const toArrays = (plan: Planned[], now: string, isDryRun: boolean) => {
  const written = isDryRun ? [] : plan
  let newBooks = 0
  let newReadings = 0
  const rows: object[] = []
  const books: object[] = []
  const readings: object[] = []
  for (const planned of plan) {
    const { row, book } = planned
    if (!book || isDryRun) rows.push(toReport(planned, undefined, undefined))
    else rows.push(toReport(planned, toUndo(book, planned, now), ++newBooks))
    if (isDryRun) continue
    const added = toReadings(planned)
    newReadings += added.filter(({ isFirst }) => !isFirst).length
    readings.push(...added)
    const last = added.at(-1)
    if (book) books.push({ ...book, ...foldedColumns(book), row, newest: last && (last.isFirst ? 0 : newReadings) })
  }
  const changed = written.filter(({ changes }) => changes && Object.keys(changes).length > 0)
  return {
    rows,
    books,
    readings: toJsonParts(readings),
    readBooks: written.flatMap(({ existing, readings }) => (existing && readings.length > 0 ? [existing.bookId] : [])),
    changes: changed.map((planned) => ({
      ...planned.changes,
      bookId: planned.bookId,
      authorFolded: toFoldedColumn(planned.changes?.author as string | undefined),
      planned: toPlanned(planned),
    })),
    tags: written.flatMap(({ row, tags }) => tags.map((tag) => ({ row, tag, tagKey: fold(tag) }))),
    memos: toJsonParts(written.flatMap((planned) => toMemos(planned, now))),
    progress: written.flatMap(({ row, progress }) =>
      progress.map(({ at, page, kind }) => ({ row, at: Date.parse(at), page, kind })),
    ),
    progressBooks: written.flatMap(({ existing, progress }) =>
      existing && progress.length > 0 ? [existing.bookId] : [],
    ),
  }
}
export type Arrays = ReturnType<typeof toArrays>
