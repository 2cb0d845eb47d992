// Editions of books.
import * as fc from 'fast-check'
import { BOOK_FORMATS } from '../../../src/values/contract'
import { anyOf, at, type Commands, command, NOT_FOUND, position } from './commands'
import { descending, type Edition, findBook, type Library } from './library'
import { ISBNS } from './values'
import { toLibraryBook, type View } from './views'

export const NO_EDITION: Edition = {
  isbn: null,
  language: null,
  format: null,
  publishedYear: null,
  series: null,
  seriesNumber: null,
  sourceIds: [],
}

export const editionOf = ({ editions }: Library, bookId: number) => editions.get(bookId) ?? NO_EDITION

const patch = anyOf({
  isbn: fc.constantFrom(null, ...ISBNS.map(([sent]) => sent)),
  language: fc.constantFrom(null, 'ko', 'pt-BR'),
  format: fc.constantFrom(null, ...BOOK_FORMATS),
  publishedYear: fc.constantFrom(null, -700, 2014),
  series: fc.constantFrom(null, '', '대하 소설'),
  seriesNumber: fc.constantFrom(null, 0, 1.5),
  sourceIds: fc.constantFrom<(string[] | null)[]>(null, [], ['goodreads:123'], ['calibre:ab', 'goodreads:123']),
})

const update = command('update edition', 4, fc.tuple(position, patch), (library, [index, body]) => {
  const bookId = at(library.bookIds, index)
  if (!bookId) return undefined
  const respond = () => {
    const isbn = ISBNS.find(([sent]) => sent === body.isbn)?.[1] ?? null
    if (body.isbn && !isbn) return { status: 400 }
    if (!findBook(library, bookId)) return NOT_FOUND
    const edition = { ...editionOf(library, bookId), ...body, ...(body.isbn && { isbn }) }
    library.editions.set(bookId, { ...edition, series: edition.series || null, sourceIds: edition.sourceIds ?? [] })
    return { status: 200, body: { bookId, ...editionOf(library, bookId) } }
  }
  return { method: 'PATCH', path: `/books/${bookId}/edition`, body, respond }
})

export const editionCommands: Commands[] = [update]

export const editionViews = (library: Library, bookId: number | undefined): View[] => [
  ...(bookId
    ? [{ path: `/books/${bookId}/edition`, expected: { status: 200, body: { bookId, ...editionOf(library, bookId) } } }]
    : []),
  ...ISBNS.map(([sent, stored]) => {
    const books = library.books.filter((book) => stored && editionOf(library, book.bookId).isbn === stored)
    const body = books.toSorted(descending((book) => book.bookId)).map((book) => toLibraryBook(library, book))
    return {
      path: `/books/by-isbn/${encodeURIComponent(sent)}`,
      expected: stored ? { status: 200, body } : { status: 400 },
    }
  }),
]
