import { fold } from '../../values/text/fold'
import type { CatalogueEdition, Provider } from '../schema'
import { BOOKS, ISBNS, type SampleBook } from './sample-books'

const MAX_ENTRIES = 10

const toEdition = ({ title, author, publisher, itemPage }: SampleBook): CatalogueEdition => {
  const isbn = ISBNS[title] ?? null
  const unknown = { language: null, publishedYear: null, sourceIds: [] }
  return { title, subtitle: null, author, publisher, cover: null, itemPage, isbn, ...unknown }
}

const pick = (matches: (book: SampleBook) => unknown) => BOOKS.filter(matches).slice(0, MAX_ENTRIES).map(toEdition)

const search = async (query: string) => {
  const term = fold(query)
  if (term === '') return []
  return pick(({ title, author }) => fold(title).includes(term) || fold(author).includes(term))
}

/** A small built-in catalogue of real books, which needs no key and no network. */
export const sample = (): Provider => ({
  search,
  searchEditions: search,
  findByIsbn: async (isbn) => pick(({ title }) => ISBNS[title] === isbn),
  bestSellers: async () => pick(({ bestSeller }) => bestSeller),
  newSpecial: async () => pick(({ newSpecial }) => newSpecial),
})
