import type { BookColumns } from '../../book-columns'
import type { LoadList } from '../book-lists'
import type { ExportedBook, ExportedReading } from '../responses'

type ListName = 'readings' | 'progress' | 'memos'
/** Lists are JSON. Those of a large book are null. */
export type LibraryRow = BookColumns & { bookId: number; tags: string } & Record<ListName, string | null>
/** A book with lists that may still be loading. */
type StreamedBook = Omit<ExportedBook, ListName> & {
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

/** A book with everything that belongs to it. */
export const toBook = (row: LibraryRow, loadList: LoadList): StreamedBook => {
  const { sourceIds, tags, readings, progress, memos, ...book } = row
  return {
    ...book,
    sourceIds: sourceIds === null ? [] : JSON.parse(sourceIds),
    tags: JSON.parse(tags),
    readings:
      readings === null ? mapParts(loadList('readings', row.bookId), toReading) : JSON.parse(readings).map(toReading),
    progress:
      progress === null ? mapParts(loadList('progress', row.bookId), toEvent) : JSON.parse(progress).map(toEvent),
    memos: memos === null ? loadList('memos', row.bookId) : JSON.parse(memos),
  }
}
