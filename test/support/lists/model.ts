// A plain model of GET /books.
import { fold, toSortKey } from '../../../src/values/text/fold.ts'
import { ascending, descending } from '../model/library.ts'

// biome-ignore lint/suspicious/noExplicitAny: the document is checked elsewhere
export type Load = (method: string, path: string, body?: unknown) => Promise<any>

export type ModelBook = {
  bookId: number
  title: string
  subtitle: string | null
  author: string | null
  publisher: string | null
  bookStatus: string
  star: number
  readEndDate: string | null
  format: string | null
  series: string | null
  isbn: string | null
  tags: string[]
  /** When it was last active, or the order of that. */
  activity: number | null
}

export type ModelQuery = {
  sort: string
  status?: string
  tag?: string[]
  author?: string
  series?: string
  format?: string
  isbn?: string
  /** In milliseconds since 1970. */
  since?: number
}

const KEYS: Record<string, (book: ModelBook) => string | number | null> = {
  created: ({ bookId }) => bookId,
  title: ({ title }) => toSortKey(title),
  author: ({ author }) => author && toSortKey(author),
  finished: ({ bookStatus, readEndDate }) => (bookStatus === 'DONE' ? readEndDate : null),
  rating: ({ star }) => star || null,
  activity: ({ activity }) => activity,
}
export const SORTS = Object.keys(KEYS).flatMap((field) => [field, `-${field}`])

const matches = (book: ModelBook, { status, tag = [], author, series, format, isbn, since }: ModelQuery) => {
  const tags = new Set(book.tags.map(fold))
  return (
    (status === undefined || book.bookStatus === status) &&
    tag.every((each) => tags.has(fold(each))) &&
    (author === undefined || (book.author !== null && toSortKey(book.author) === toSortKey(author))) &&
    (series === undefined || book.series === series) &&
    (format === undefined || book.format === format) &&
    (isbn === undefined || book.isbn === isbn) &&
    (since === undefined || (book.activity !== null && book.activity >= since))
  )
}

/**
 * The books that match, in their order.
 * @param found those that the search finds, if the query has a term
 */
export const modelList = (books: readonly ModelBook[], query: ModelQuery, found?: ReadonlySet<number>) => {
  const keyOf = KEYS[query.sort.replace('-', '')] ?? (() => null)
  const matching = books.filter((book) => matches(book, query) && (!found || found.has(book.bookId)))
  const key = (book: ModelBook) => keyOf(book) ?? ''
  const id = ({ bookId }: ModelBook) => bookId
  const inOrder = query.sort.startsWith('-') ? descending(key, id) : ascending(key, id)
  const [withKey, without] = [true, false].map((has) => matching.filter((book) => (keyOf(book) !== null) === has))
  return [...(withKey ?? []).toSorted(inOrder), ...(without ?? []).toSorted(descending(id))].map(id)
}
