import type { Entry } from '../../entry'
import { identityOf } from '../../reader/identity'

/** What identifies a book in the library. */
export type Known = {
  bookId: number
  title: string
  author: string | null
  isbn: string | null
  /** A JSON array. */
  sourceIds: string | null
}

const toSourceIds = (json: string | null): string[] => (json === null ? [] : JSON.parse(json))
const serviceOf = (sourceId: string) => sourceId.slice(0, sourceId.indexOf(':'))

/** Whether two records have identifiers of the same kind that differ: then they are different editions. */
const areDifferent = (one: Pick<Entry, 'isbn' | 'sourceIds'>, other: Known) => {
  if (one.isbn && other.isbn && one.isbn !== other.isbn) return true
  const [ownId] = one.sourceIds
  return ownId !== undefined && toSourceIds(other.sourceIds).some((id) => serviceOf(id) === serviceOf(ownId))
}

const titleIdentity = ({ title, author }: Pick<Entry, 'title' | 'author'>) =>
  identityOf({ title, author, isbn: null, sourceIds: [] as string[] })

/** The match of an entry in the library: its book, the first of several possible ones, or a similar but different book. */
export type Match = { bookId: number } | { ambiguous: number } | { similar: number } | undefined

const originKey = (bookId: number) => `#${bookId}`

/**
 * Finds the books of a library to which entries belong: by an identifier, then by ISBN, then by title and first author if
 * exactly one book has them. It keeps only the books that an entry could be.
 * @param origins for books created by an import of an export, their identifiers in the exported library
 */
export const createMatcher = (entries: Entry[], origins = new Map<number, number>()) => {
  const wanted = new Set<string>()
  const titles = new Map(entries.map((entry) => [entry, titleIdentity(entry)]))
  for (const [entry, title] of titles) {
    for (const id of entry.sourceIds) wanted.add(id)
    if (entry.isbn) wanted.add(`isbn:${entry.isbn}`)
    if (title) wanted.add(title)
    if (entry.exact?.bookId) wanted.add(originKey(entry.exact.bookId))
  }
  const books = new Map<string, Known[]>()
  const taken = new Set<number>()

  const add = (key: string | undefined, book: Known) => {
    if (key === undefined || !wanted.has(key)) return
    const others = books.get(key)
    if (others) others.push(book)
    else books.set(key, [book])
  }

  const free = (key: string) => (books.get(key) ?? []).filter(({ bookId }) => !taken.has(bookId))
  // A library can have the same book twice. Each copy matches only its own entry.
  const withoutOrigin = (key: string) => free(key).filter(({ bookId }) => !origins.has(bookId))

  return {
    /** Adds a book of the library. */
    offer: (book: Known) => {
      for (const id of toSourceIds(book.sourceIds)) add(id, book)
      if (book.isbn) add(`isbn:${book.isbn}`, book)
      add(titleIdentity(book), book)
      const origin = origins.get(book.bookId)
      if (origin !== undefined) add(originKey(origin), book)
      // The file may be an export of this library.
      if (origin !== book.bookId) add(originKey(book.bookId), book)
    },
    /** No entry gets this book any more. */
    exclude: (bookId: number) => void taken.add(bookId),
    /**
     * The book that an entry was exported from, or that an earlier import created from it. Another library may use the same
     * identifier for another book, so the title must be equal, too; titles cannot be changed. Call it for all entries before
     * `take`.
     */
    takeOrigin: ({ exact, title }: Entry): Match => {
      if (!exact?.bookId) return undefined
      const candidates = free(originKey(exact.bookId)).filter((candidate) => candidate.title === title)
      const book = candidates.find(({ bookId }) => origins.get(bookId) === exact.bookId) ?? candidates[0]
      if (!book) return undefined
      taken.add(book.bookId)
      return { bookId: book.bookId }
    },
    /** The book of an entry. No later entry gets the same one. */
    take: (entry: Entry): Match => {
      for (const id of entry.sourceIds) {
        const [book] = withoutOrigin(id)
        if (book) {
          taken.add(book.bookId)
          return { bookId: book.bookId }
        }
      }
      const title = titles.get(entry)
      const keys = [...(entry.isbn ? [`isbn:${entry.isbn}`] : []), ...(title ? [title] : [])]
      let similar: number | undefined
      for (const key of keys) {
        const candidates = withoutOrigin(key)
        const same = candidates.filter((book) => !areDifferent(entry, book))
        const [book, other] = same
        if (book && other) return { ambiguous: book.bookId }
        if (book) {
          taken.add(book.bookId)
          return { bookId: book.bookId }
        }
        similar ??= candidates[0]?.bookId
      }
      return similar === undefined ? undefined : { similar }
    },
  }
}
