import type { LibraryRow, Lists } from './book-pages'
import type { ExportedBook, ExportedReading } from './responses'

type ListName = 'readings' | 'progress' | 'memos'
/** A book with lists that may still be loading. */
export type StreamedBook = Omit<ExportedBook, ListName> & {
  [List in ListName]: ExportedBook[List] | AsyncIterable<ExportedBook[List]>
}
type StoredReading = Omit<ExportedReading, 'createdAt'> & { createdAt: number }
type StoredEvent = Omit<ExportedBook['progress'][number], 'at'> & { at: number }

const toExactInstant = (time: number) => new Date(time).toISOString()
const toReading = (reading: StoredReading): ExportedReading => ({
  ...reading,
  // The first reading of a book has 0.
  createdAt: reading.createdAt > 0 ? toExactInstant(reading.createdAt) : null,
})
const toEvent = (event: StoredEvent) => ({ ...event, at: toExactInstant(event.at) })

async function* mapParts<From, To>(parts: AsyncIterable<From[]>, map: (item: From) => To) {
  for await (const items of parts) yield items.map(map)
}

/** The only reading of a book without rows in `readings`, as readings/store.ts derives it. */
const toFirstReading = ({ bookId, bookStatus, readStartDate, readEndDate, star }: LibraryRow): ExportedReading => ({
  readingId: bookId,
  createdAt: null,
  startedAt: readStartDate?.slice(0, 10) ?? null,
  finishedAt: (bookStatus === 'DONE' && readEndDate?.slice(0, 10)) || null,
  outcome: bookStatus === 'DONE' ? 'FINISHED' : null,
  rating: star || null,
  format: null,
  note: null,
  paused: false,
})

const readingsOf = (row: LibraryRow, lists: Lists): StreamedBook['readings'] => {
  if (row.newestReadingId === null) return row.bookStatus === 'YET' ? [] : [toFirstReading(row)]
  return row.readings === null
    ? mapParts(lists.readings(row.bookId), toReading)
    : JSON.parse(row.readings).map(toReading)
}

/** A book with everything that belongs to it. */
export const toBook = (row: LibraryRow, lists: Lists): StreamedBook => {
  const { newestReadingId: _, sourceIds, tags, progress, memos, ...book } = row
  return {
    ...book,
    sourceIds: sourceIds === null ? [] : JSON.parse(sourceIds),
    tags: JSON.parse(tags),
    readings: readingsOf(row, lists),
    progress: progress === null ? mapParts(lists.progress(row.bookId), toEvent) : JSON.parse(progress).map(toEvent),
    memos: memos === null ? lists.memos(row.bookId) : JSON.parse(memos),
  }
}
