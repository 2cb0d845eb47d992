// What the app uses of the service's responses. `npm run openapi` and any generator give all of their types.

export type List<Item> = { item: Item[]; next: string | null }

export type Book = {
  bookId: number
  title: string
  author: string | null
  cover: string | null
  currentPage: number
  itemPage: number | null
  memoCount: number
}

type Memo = { memoId: number; memoContent: string; memoBookPage: number }
type Progress = { at: string; page: number }

/** With `include=progress,lastMemo`. */
export type ReadBook = Book & { progress: Progress | null; lastMemo: Memo | null }

export type WholeBook = Book & {
  edition: { series: string | null; seriesNumber: number | null; publishedYear: number | null }
  tags: string[]
  readings: { rating: number | null }[]
  progress: Progress | null
  memos: Memo[] | null
}

export type BookCounts = {
  statuses: Record<'YET' | 'ING' | 'DONE', number>
  formats: { format: string; bookCount: number }[]
  tags: { tag: string; bookCount: number }[]
  series: { series: string; bookCount: number }[]
}
