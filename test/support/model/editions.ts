// Editions of books.
import * as fc from 'fast-check'
import { BOOK_FORMATS } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, NOT_FOUND, position } from './commands'
import { type Book, descending, type Edition, findBook, type Library, NO_EDITION, pick, SOME_EDITION } from './library'
import { ISBNS, TITLES } from './values'
import { toLibraryBook, type View } from './views'

export const editionOf = ({ editions }: Library, bookId: number) => editions.get(bookId) ?? NO_EDITION

/** As responses show it. */
export const toEdition = (library: Library, book: Book) => ({
  ...pick(book, 'bookId', 'title', 'cover'),
  ...editionOf(library, book.bookId),
})

/** Null or a value, for each field. */
export const editionFields = Object.fromEntries(
  Object.entries(SOME_EDITION).map(([name, value]) => [name, fc.constantFrom(null, value)]),
) as { [Field in keyof Edition]: fc.Arbitrary<Edition[Field] | null> }

const patch = anyOf({
  ...editionFields,
  title: fc.constantFrom(...TITLES),
  cover: fc.constantFrom(null, '', 'https://covers.library.test/2.jpg'),
  isbn: fc.constantFrom(null, ...ISBNS.map(([sent]) => sent)),
  format: fc.constantFrom(null, ...BOOK_FORMATS),
  publishedYear: fc.constantFrom(null, -700, 2014),
  series: fc.constantFrom(null, '', '대하 소설'),
  seriesNumber: fc.constantFrom(null, 0, 1.5),
  sourceIds: fc.constantFrom<(string[] | null)[]>(null, [], ['goodreads:123'], ['calibre:ab', 'goodreads:123']),
})

const update = command('update edition', 4, fc.tuple(position, patch), (library, [index, body]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = (library: Library) => {
    const isbn = ISBNS.find(([sent]) => sent === body.isbn)?.[1] ?? null
    if (body.isbn && !isbn) return { status: 400 }
    const book = findBook(library, bookId)
    if (!book) return NOT_FOUND
    const { title = book.title, cover = book.cover, ...changes } = body
    Object.assign(book, { title, cover: cover || null })
    const edition = { ...editionOf(library, bookId), ...changes, ...(body.isbn && { isbn }) }
    library.editions.set(bookId, { ...edition, series: edition.series || null, sourceIds: edition.sourceIds ?? [] })
    return { status: 200, body: toEdition(library, book) }
  }
  return { method: 'PATCH', path: `/books/${bookId}/edition`, body, respond }
})

export const editionCommands: Commands[] = [update]

const viewOf = (library: Library, book: Book): View => ({
  path: `/books/${book.bookId}/edition`,
  expected: { status: 200, body: toEdition(library, book) },
})

export const editionViews = (library: Library, bookId: number | undefined): View[] => [
  ...library.books.filter((book) => book.bookId === bookId).map((book) => viewOf(library, book)),
  ...ISBNS.map(([sent, stored]) => {
    const books = library.books.filter((book) => stored && editionOf(library, book.bookId).isbn === stored)
    const body = books.toSorted(descending((book) => book.bookId)).map((book) => toLibraryBook(library, book))
    return {
      path: `/books/by-isbn/${encodeURIComponent(sent)}`,
      expected: stored ? { status: 200, body } : { status: 400 },
    }
  }),
]
