import { fold, toFoldedColumn } from '../../../values/fold'
import { DETAILS, READING_COLUMNS } from '../../book-columns'
import { type Cells, type EntryMemo, type Loss, MAX_COLUMN_NAME } from '../../entry'
import { type Planned, reportOnly } from '../plan/plan'

// What `writeChunk` writes for planned rows, as items of JSON parameters. An item has the `bookId` of its book, or for a new
// one `newer`: how many of the new books of the chunk have a higher identifier.

type OfBook = { bookId: number | null } | { newer: number }

/** The values that an update expects, so that it does not overwrite a concurrent change. */
const toExpected = ({ existing, changes = {}, readings, progress }: Planned) => {
  const names = [
    'sourceIds' as const,
    ...DETAILS.filter((name) => name in changes),
    // Readings and progress are inserted first, and can change these.
    ...(readings.length === 0 ? READING_COLUMNS : []),
    ...(progress.length === 0 ? ['currentPage' as const] : []),
  ]
  return Object.fromEntries(names.map((name) => [name, existing?.[name]]))
}

const toChange = (planned: Planned) => ({
  ...planned.changes,
  bookId: planned.bookId,
  authorFolded: toFoldedColumn(planned.changes?.author),
  expected: toExpected(planned),
})

const toReadings = ({ book, readings }: Planned, ofBook: OfBook) => {
  const first = book ? readings.findIndex(({ createdAt }) => !createdAt) : -1
  return readings.map(({ createdAt, isPaused, ...reading }, at) => ({
    ...ofBook,
    ...reading,
    isFirst: Number(at === first),
    createdAt: createdAt ? Date.parse(createdAt) : undefined,
    isPaused: Number(isPaused),
  }))
}

const toMemo = (memo: EntryMemo, ofBook: OfBook, now: string) => {
  const { type, content, page, isPublic, createdAt, updatedAt } = memo
  return {
    ...ofBook,
    type,
    content,
    folded: toFoldedColumn(content),
    page,
    authority: isPublic ? 'PUBLIC' : 'PRIVATE',
    createdAt: createdAt ?? now,
    updatedAt: updatedAt ?? createdAt ?? now,
  }
}

const shorten = ({ code, field }: Loss) => ({ code, field: field.slice(0, MAX_COLUMN_NAME).toWellFormed() })

const toObject = ({ names, values }: Cells) => Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

const toReport = ({ row, entry, outcome, code, losses, bytes }: Planned, ofBook: OfBook, isDryRun: boolean) => ({
  ...ofBook,
  row,
  line: entry.line,
  title: entry.title,
  outcome,
  code,
  losses: losses.length > 0 ? losses.map(shorten) : undefined,
  cells: outcome === 'failed' ? toObject(entry.cells) : undefined,
  origin: entry.exact?.bookId ?? undefined,
  undo: isDryRun && bytes > 0 ? { bytes } : undefined,
})

const toDryRow = ({ row, entry, outcome, code, bookId, losses, bytes }: Planned): Planned => ({
  ...reportOnly(row, entry, outcome, code, bookId),
  losses,
  bytes,
})

/** The items of a chunk. A dry run has only the report, with the bytes of text that each row would add. */
export const toItems = (plan: Planned[], now: string, isDryRun: boolean) => {
  const written = isDryRun ? plan.map(toDryRow) : plan
  let newer = written.filter(({ book }) => book).length
  const rows = written.map((planned) => {
    if (planned.book) newer -= 1
    const ofBook = planned.book ? { newer } : { bookId: planned.bookId }
    return { planned, ofBook, readings: toReadings(planned, ofBook) }
  })
  let newReadings = 0
  const books = rows.flatMap(({ planned: { book }, readings }) => {
    newReadings += readings.filter(({ isFirst }) => !isFirst).length
    if (!book) return []
    const newest = readings.at(-1)
    return {
      ...book,
      titleFolded: toFoldedColumn(book.title),
      authorFolded: toFoldedColumn(book.author),
      newest: newest && (newest.isFirst ? 0 : newReadings),
    }
  })
  return {
    books,
    readings: rows.flatMap(({ readings }) => readings),
    progress: rows.flatMap(({ planned, ofBook }) =>
      planned.progress.map(({ at, page, kind }) => ({ ...ofBook, at: Date.parse(at), page, kind })),
    ),
    // Books of the library.
    readBooks: written.flatMap(({ existing, readings }) => (existing && readings.length > 0 ? existing.bookId : [])),
    progressBooks: written.flatMap(({ existing, progress }) =>
      existing && progress.length > 0 ? existing.bookId : [],
    ),
    changes: written.filter(({ changes = {} }) => Object.keys(changes).length > 0).map(toChange),
    tags: rows.flatMap(({ planned, ofBook }) => planned.tags.map((tag) => ({ ...ofBook, tag, tagKey: fold(tag) }))),
    memos: rows.flatMap(({ planned, ofBook }) => planned.memos.map((memo) => toMemo(memo, ofBook, now))),
    report: rows.map(({ planned, ofBook }) => toReport(planned, ofBook, isDryRun)),
  }
}
