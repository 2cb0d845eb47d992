// A copy that the feed keeps, and the export, which reads the library in another way, in the same form.

import { percentOf } from '../model/progress'

export type Value = Record<string, unknown>
type Event = { at: string; page: number; seconds: number | null }
type Exported = {
  bookId: number
  itemPage: number | null
  seconds: number | null
  tags: string[]
  readings: Value[]
  sittings: unknown
} & {
  progress: Event[]
  memos: Value[]
}
/** The latest event. */
const summaryOf = (events: Event[], book: Pick<Exported, 'itemPage' | 'seconds'>) => {
  const latest = events.at(-1)
  return {
    count: events.length,
    latestAt: latest?.at.replace(/\.\d+Z/, 'Z') ?? null,
    seconds: latest?.seconds ?? null,
    percent: latest ? percentOf(latest, book) : null,
  }
}

const sortedBy = (list: Value[], key: string) => list.toSorted((one, other) => Number(one[key]) - Number(other[key]))

/** @param of all objects of a kind */
export const ofCopy = (of: (kind: 'book' | 'memo' | 'reading' | 'tag') => Value[]) => {
  const names = new Map(of('tag').map(({ tagId, tag }) => [tagId, tag as string]))
  const [memos, readings] = [of('memo'), of('reading')].map((list) => Map.groupBy(list, ({ bookId }) => bookId))
  const childrenOf = (lists: Map<unknown, Value[]> | undefined, book: unknown, key: string) =>
    sortedBy(
      (lists?.get(book) ?? []).map(({ bookId: _, ...child }) => child),
      key,
    )
  const books = of('book').map(({ edition, tagIds, tags, ...book }) => ({
    ...book,
    ...(edition as object),
    // The feed has identifiers, and a device shows names.
    tags: ((tags ?? (tagIds as number[]).map((tagId) => names.get(tagId))) as string[]).toSorted(),
    readings: childrenOf(readings, book.bookId, 'readingId'),
    memos: childrenOf(memos, book.bookId, 'memoId'),
  }))
  // One of a deleted book belongs to none.
  const ids = new Set(of('book').map(({ bookId }) => bookId))
  const orphans = [...of('memo'), ...of('reading')].filter(({ bookId }) => !ids.has(bookId))
  return { books: sortedBy(books, 'bookId'), tags: [...names.values()].toSorted(), orphans }
}

/** @param tags the response to GET /tags */
export const ofExport = (body: { books: Exported[] }, tags: { tag: string }[]) => {
  // The feed has no days of devices, and these members have no devices.
  const books = body.books.map(({ tags, readings, progress, memos, sittings: _, ...book }) => ({
    ...book,
    progress: { ...summaryOf(progress, book), deviceMinutes: 0 },
    tags: tags.toSorted(),
    readings: sortedBy(
      readings.map(({ createdAt: _, ...reading }) => reading),
      'readingId',
    ),
    memos: sortedBy(memos, 'memoId'),
  }))
  return { books: sortedBy(books, 'bookId'), tags: tags.map(({ tag }) => tag).toSorted(), orphans: [] }
}
