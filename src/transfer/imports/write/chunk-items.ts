import { newVersion } from '../../../library/memos/versions'
import { fieldsOf } from '../../../values/book-fields'
import { fold, toFoldedColumn } from '../../../values/text/fold'
import type { Cells, EntryMemo } from '../../entries/entry'
import { changesOf, toUndo } from '../plan/changes'
import type { ReplacedText } from '../plan/memos'
import type { Planned } from '../plan/plan'

// What `writeChunk` writes for planned rows, as items of JSON parameters. An item has the `bookId` of its book, or for
// a new one `newer`: how many of the new books of the chunk have a higher identifier.

type OfBook = { bookId: number | null; newer?: undefined } | { newer: number }

/** The values that an update expects, so that it does not overwrite a concurrent change. */
const toExpected = ({ existing, changes = {}, readings, progress }: Planned) => {
  const names = [
    'sourceIds' as const,
    ...(['title', ...fieldsOf('fill')] as const).filter((name) => name in changes),
    // Readings and progress are inserted first, and can change these.
    ...(readings.length === 0 ? fieldsOf('reading') : []),
    ...(progress.length === 0 ? ['currentPage' as const] : []),
  ]
  return Object.fromEntries(names.map((name) => [name, existing?.[name]]))
}

const toChange = (planned: Planned) => ({
  ...planned.changes,
  bookId: planned.bookId,
  titleFolded: toFoldedColumn(planned.changes?.title),
  authorFolded: toFoldedColumn(planned.changes?.author),
  expected: toExpected(planned),
})

const toReadings = ({ book, readings, first }: Planned, ofBook: OfBook) => {
  const firstAt = book ? readings.findIndex(({ createdAt }) => !createdAt) : first ? readings.indexOf(first) : -1
  return readings.map(({ createdAt, isPaused, ...reading }, at) => ({
    ...ofBook,
    ...reading,
    isFirst: Number(at === firstAt),
    createdAt: createdAt ? Date.parse(createdAt) : undefined,
    isPaused: Number(isPaused),
  }))
}

const toMemo = ({ isPublic, createdAt, updatedAt, ...memo }: EntryMemo, ofBook: OfBook, now: string) => ({
  ...ofBook,
  ...memo,
  folded: toFoldedColumn(memo.content),
  authority: isPublic ? 'PUBLIC' : 'PRIVATE',
  createdAt: createdAt ?? now,
  updatedAt: updatedAt ?? createdAt ?? now,
  version: newVersion(),
})

const toReplacement = ({ content, replaced: { memoId, version } }: ReplacedText, now: string) => ({
  memoId,
  content,
  folded: toFoldedColumn(content),
  updatedAt: now,
  version: newVersion(),
  replacedVersion: version,
})

const toObject = ({ names, values }: Cells) => Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))

const toDryUndo = (planned: Planned) => {
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
    return { planned, ofBook, readings: toReadings(planned, ofBook) }
  })
  const written = isDryRun ? [] : rows
  /** The books of the library to which readings or progress are added. */
  const changedBooks = (list: 'readings' | 'progress') =>
    written.flatMap(({ planned }) => (planned.existing && planned[list].length > 0 ? planned.existing.bookId : []))
  const reports = rows.map(({ planned, ofBook }) => toReport(planned, ofBook, isDryRun))
  let newReadings = 0
  const books = written.flatMap(({ planned: { book }, readings }) => {
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
    readings: written.flatMap(({ readings }) => readings),
    progress: written.flatMap(({ planned: { progress }, ofBook }) =>
      progress.map(({ at, page, kind }) => ({ ...ofBook, at: Date.parse(at), page, kind })),
    ),
    readBooks: changedBooks('readings'),
    firstBooks: written.flatMap(({ planned: { existing, readings, first } }) => {
      if (!existing || readings.length === 0) return []
      const { bookId, bookStatus, readStartDate, readEndDate, star } = existing
      // As it was when the row was planned.
      return { bookId, own: first && JSON.stringify([bookStatus, readStartDate, readEndDate, star]) }
    }),
    progressBooks: changedBooks('progress'),
    changes: written.flatMap(({ planned }) => (Object.keys(planned.changes ?? {}).length > 0 ? toChange(planned) : [])),
    tags: written.flatMap(({ planned, ofBook }) => planned.tags.map((tag) => ({ ...ofBook, tag, tagKey: fold(tag) }))),
    memos: written.flatMap(({ planned, ofBook }) => planned.memos.map((memo) => toMemo(memo, ofBook, now))),
    texts: written.flatMap(({ planned }) => planned.texts.map((text) => toReplacement(text, now))),
    report: reports.filter(({ newer }) => newer === undefined),
    reportOfNew: reports.filter(({ newer }) => newer !== undefined),
  }
}
