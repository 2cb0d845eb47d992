import type { Entry } from '../../entries/entry'
import { toAuthorKeys, toFullTitle, toTitle } from '../../entries/names'
import { type About, isIdentified, isSameBook, toAbout } from '../../entries/same-book'

/** What identifies a book in the library. */
export type BookIdentity = {
  bookId: number
  title: string
  subtitle: string | null
  author: string | null
  isbn: string | null
  seriesNumber: number | null
  /** A JSON array. */
  sourceIds: string | null
}

/** The match of an entry: its book, the first of several that it could be, or one that is only similar. */
export type Match = { kind: 'same' | 'ambiguous' | 'similar'; bookId: number } | undefined

/** A book that was imported from an export, with its identifier and its title in the exported library. */
export type Origin = { bookId: number; origin: number; title: string | null }

type Identified = Pick<Entry, 'sourceIds' | 'isbn' | 'title' | 'subtitle' | 'author' | 'seriesNumber'>

// Unlike an identifier, several books can have the same ISBN or names.
const isbnKey = (isbn: string) => `isbn:${isbn}`
const nameKey = (title: string) => (author: string) => `name:${title}|${author}`
const titleKey = (title: string) => `title:${title}`
/** Of a book whose title has this as a part. */
const longTitleKey = (title: string) => `long-title:${title}`

const toKeys = (entry: Identified) => {
  const { isbn, author } = entry
  const { key, shortKeys } = toTitle(toFullTitle(entry))
  return {
    ofIsbn: isbn ? [isbnKey(isbn)] : [],
    ofNames: toAuthorKeys(author).map(nameKey(key)),
    title: titleKey(key),
    longTitle: longTitleKey(key),
    shortTitles: shortKeys.map(titleKey),
  }
}
type Keys = ReturnType<typeof toKeys>

const originKey = (bookId: number) => `#${bookId}`

/** Whether identifiers of the same kind differ: then they are different editions, unless they were merged. */
const areDifferent = (one: Identified, other: Identified) => {
  if (one.isbn && other.isbn && one.isbn !== other.isbn) return !other.sourceIds.includes(isbnKey(one.isbn))
  const [ownId] = one.sourceIds
  if (ownId === undefined) return false
  const service = ownId.slice(0, ownId.indexOf(':') + 1)
  return other.sourceIds.some((id) => id.startsWith(service))
}

/** A book that an entry could be. `about`: set when it is first compared. */
type Candidate = Identified & { bookId: number; about?: About }

const aboutOf = (book: Candidate) => {
  book.about ??= toAbout(book)
  return book.about
}

// Without limits, a library of one title could take minutes.
/** The books that are kept for an identifier, an ISBN, or a title and author, and that an entry is compared with. */
const MAX_SAME = 100
/** The books that are kept for a title. */
const MAX_SIMILAR = 20

/**
 * Finds the books of a library to which entries belong: those of exports by identifier and title, then by an identifier
 * of the source, by ISBN, and by title with subtitle and first author. An identifier or ISBN leads to a book only if its
 * title or author agrees, and it is not another volume. Of several candidates, only one with the identical title and
 * author is chosen. It keeps only the books that an entry could be. No two entries get the same book.
 *
 * A book is similar if it is another edition, has the same identifier, ISBN or title, or has an author in common and one
 * title is part of the other.
 * @param entries those that are not written yet
 * @param origins of the books created by imports of exports
 * @param taken the books that no entry gets
 */
export const createMatcher = (entries: Entry[], origins: Map<number, Origin>, taken: Set<number>) => {
  const originOf = ({ exact }: Entry) => (exact?.bookId ? originKey(exact.bookId) : undefined)
  const keysOf = new Map(entries.map((entry) => [entry, toKeys(entry)]))
  const wanted = new Set(
    [...keysOf].flatMap(([entry, keys]) => [originOf(entry), ...entry.sourceIds, ...Object.values(keys).flat()]),
  )
  const books = new Map<string, Candidate[]>()
  let exported: Map<Entry, Match> | undefined

  const free = (key: string) => (books.get(key) ?? []).filter(({ bookId }) => !taken.has(bookId))
  // Without books imported from other entries: a library can have the same book twice, and each copy matches only its
  // own entry.
  const freeFor = (entry: Entry) => (key: string) =>
    free(key).filter(({ bookId }) => [undefined, entry.exact?.bookId].includes(origins.get(bookId)?.origin))
  const take = ({ bookId }: Candidate): Match => {
    taken.add(bookId)
    return { kind: 'same', bookId }
  }

  /**
   * The book that an entry was exported from, or that an earlier import created from it. Another library may use the
   * same identifier for another book, so the title must be equal, too: that of the book, or that with which it was
   * imported.
   */
  const takeOrigin = (entry: Entry) => {
    const key = originOf(entry)
    if (key === undefined) return undefined
    const importedAs = (bookId: number) => {
      const known = origins.get(bookId)
      return known?.origin === entry.exact?.bookId ? known : undefined
    }
    const candidates = free(key).filter(({ bookId, title }) =>
      [title, importedAs(bookId)?.title].includes(entry.title ?? ''),
    )
    const book = candidates.find(({ bookId }) => importedAs(bookId)) ?? candidates[0]
    return book && take(book)
  }

  const findSimilar = (entry: Entry, about: About, { ofIsbn, ofNames, title, longTitle, shortTitles }: Keys) => {
    const [equal] = [...entry.sourceIds, ...ofIsbn, ...ofNames, title].flatMap(free)
    if (equal) return equal
    const sharesName = (book: Candidate) => {
      const { authors, names } = aboutOf(book)
      return [authors, about.authors].some(({ length }) => length === 0) || !names.isDisjointFrom(about.names)
    }
    return [longTitle, ...shortTitles].flatMap(free).find(sharesName)
  }

  const takeEqual = (entry: Entry): Match => {
    const keys = keysOf.get(entry) ?? toKeys(entry)
    const about = toAbout(entry)
    const candidates = [...new Set(entry.sourceIds.flatMap(freeFor(entry)))].slice(0, MAX_SAME)
    const identified = candidates.filter((book) => isIdentified(about, aboutOf(book)))
    const known = identified.find((book) => aboutOf(book).key === about.key) ?? identified[0]
    if (known) return take(known)
    for (const shared of [keys.ofIsbn, keys.ofNames]) {
      const candidates = new Set(
        shared.flatMap(freeFor(entry)).filter((book) => isSameBook(about, aboutOf(book)) && !areDifferent(entry, book)),
      )
      const alike = [...candidates].filter(
        (book) => toFullTitle(book) === toFullTitle(entry) && book.author === entry.author,
      )
      const [book, another] = alike.length === 1 ? alike : candidates
      if (book && another) return { kind: 'ambiguous', bookId: book.bookId }
      if (book) return take(book)
    }
    const similar = findSimilar(entry, about, keys)
    return similar && { kind: 'similar', bookId: similar.bookId }
  }

  const add = (key: string, book: Candidate, max: number) => {
    if (!wanted.has(key)) return
    const others = books.get(key)
    if (!others) books.set(key, [book])
    else if (others.length < max) others.push(book)
  }
  return {
    offer: ({ bookId, sourceIds, ...known }: BookIdentity) => {
      const { key, shortKeys } = toTitle(toFullTitle(known))
      const book = { ...known, bookId, sourceIds: sourceIds === null ? [] : JSON.parse(sourceIds) }
      // The file may be an export of this library, or of the one from which the book was imported.
      const ids = new Set([bookId, origins.get(bookId)?.origin ?? bookId])
      for (const key of [...book.sourceIds, ...[...ids].map(originKey)]) add(key, book, MAX_SAME)
      if (book.isbn) add(isbnKey(book.isbn), book, MAX_SAME)
      add(titleKey(key), book, MAX_SIMILAR)
      // Most books of a large library have a title that no entry has.
      const authors = wanted.has(titleKey(key)) ? toAuthorKeys(book.author) : []
      for (const name of authors.map(nameKey(key))) add(name, book, MAX_SAME)
      for (const short of shortKeys) add(longTitleKey(short), book, MAX_SIMILAR)
    },
    /**
     * Matches entries when all books were offered. At the first call, all entries take the books that they were exported
     * from; the others are matched when they are asked for, so that a run can end between two chunks.
     */
    match: (chunk: Entry[]): Map<Entry, Match> => {
      exported ??= new Map(entries.map((entry) => [entry, takeOrigin(entry)]))
      return new Map(chunk.map((entry) => [entry, exported?.get(entry) ?? takeEqual(entry)]))
    },
  }
}
