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

/**
 * The match of an entry in the library: its book, the first of several that it could be, or one that is similar but another
 * edition.
 */
export type Match = { kind: 'same' | 'ambiguous' | 'similar'; bookId: number } | undefined

type Identified = Pick<Entry, 'sourceIds' | 'isbn' | 'title' | 'author'>

const toIdentified = ({ sourceIds, ...book }: Known): Identified => ({
  ...book,
  sourceIds: sourceIds === null ? [] : JSON.parse(sourceIds),
})

/** ISBN, and title with first author: unlike an identifier, several books can have the same. */
const sharedKeysOf = ({ isbn, title, author }: Identified) =>
  [isbn && `isbn:${isbn}`, identityOf({ title, author, isbn: null, sourceIds: [] })].filter(
    (key) => typeof key === 'string',
  )
const originKey = (bookId: number) => `#${bookId}`

const serviceOf = (sourceId: string) => sourceId.slice(0, sourceId.indexOf(':'))

/** Whether two records have identifiers of the same kind that differ: then they are different editions. */
const areDifferent = (one: Identified, other: Identified) => {
  if (one.isbn && other.isbn && one.isbn !== other.isbn) return true
  const [ownId] = one.sourceIds
  return ownId !== undefined && other.sourceIds.some((id) => serviceOf(id) === serviceOf(ownId))
}

/**
 * Finds the books of a library to which entries belong: by an identifier, then by ISBN, then by title and first author if
 * exactly one book has them. It keeps only the books that an entry could be. No two entries get the same book.
 * @param origins for books created by an import of an export, their identifiers in the exported library
 * @param taken the books that no entry gets
 */
export const createMatcher = (entries: Entry[], origins: Map<number, number>, taken: Set<number>) => {
  const originOf = ({ exact }: Entry) => (exact?.bookId ? originKey(exact.bookId) : undefined)
  const sharedKeys = new Map(entries.map((entry) => [entry, sharedKeysOf(entry)]))
  const wanted = new Set([...sharedKeys].flatMap(([entry, keys]) => [...entry.sourceIds, ...keys, originOf(entry)]))
  const books = new Map<string, Known[]>()

  const free = (key: string) => (books.get(key) ?? []).filter(({ bookId }) => !taken.has(bookId))
  // A library can have the same book twice. Each copy matches only its own entry.
  const withoutOrigin = (key: string) => free(key).filter(({ bookId }) => !origins.has(bookId))
  const take = (book: Known | undefined): Match => {
    if (!book) return undefined
    taken.add(book.bookId)
    return { kind: 'same', bookId: book.bookId }
  }

  /**
   * The book that an entry was exported from, or that an earlier import created from it. Another library may use the same
   * identifier for another book, so the title must be equal, too; titles cannot be changed.
   */
  const takeOrigin = (entry: Entry) => {
    const key = originOf(entry)
    const candidates = key === undefined ? [] : free(key).filter(({ title }) => title === entry.title)
    return take(candidates.find(({ bookId }) => origins.get(bookId) === entry.exact?.bookId) ?? candidates[0])
  }

  const takeEqual = (entry: Entry): Match => {
    const [identified] = entry.sourceIds.flatMap(withoutOrigin)
    if (identified) return take(identified)
    let similar: Known | undefined
    for (const key of sharedKeys.get(entry) ?? []) {
      const candidates = withoutOrigin(key)
      const [book, other] = candidates.filter((candidate) => !areDifferent(entry, toIdentified(candidate)))
      if (book && other) return { kind: 'ambiguous', bookId: book.bookId }
      if (book) return take(book)
      similar ??= candidates[0]
    }
    return similar && { kind: 'similar', bookId: similar.bookId }
  }

  return {
    offer: (book: Known) => {
      const identified = toIdentified(book)
      // The file may be an export of this library, or of the one from which the book was imported.
      const ids = new Set([book.bookId, origins.get(book.bookId) ?? book.bookId])
      for (const key of [...identified.sourceIds, ...sharedKeysOf(identified), ...[...ids].map(originKey)]) {
        if (!wanted.has(key)) continue
        const others = books.get(key)
        if (others) others.push(book)
        else books.set(key, [book])
      }
    },
    /** Matches entries when all books were added. Those with the book that they were exported from come first. */
    match: (left: Entry[]): Map<Entry, Match> => {
      const matches = new Map(left.map((entry) => [entry, takeOrigin(entry)]))
      for (const entry of left) if (!matches.get(entry)) matches.set(entry, takeEqual(entry))
      return matches
    },
  }
}
