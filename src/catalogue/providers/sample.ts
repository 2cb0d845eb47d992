import { fold } from '../../values/text/fold'
import type { CatalogueEdition, Provider } from '../schema'
import type { SampleBook } from './sample-books'

const MAX_ENTRIES = 10

const toEdition = ({ title, author, publisher, itemPage, isbn }: SampleBook): CatalogueEdition => {
  const unknown = { language: null, publishedYear: null, sourceIds: [] }
  return { title, subtitle: null, author, publisher, cover: null, itemPage, isbn: isbn ?? null, ...unknown }
}

/** A small catalogue of real books, which needs no key and no network. */
export const sample = (load: () => Promise<SampleBook[]>): Provider => {
  const pick = async (matches: (book: SampleBook) => unknown) =>
    (await load()).filter(matches).slice(0, MAX_ENTRIES).map(toEdition)
  const search = async (query: string) => {
    const term = fold(query)
    if (term === '') return []
    return pick(({ title, author }) => fold(title).includes(term) || fold(author).includes(term))
  }
  return {
    search,
    searchEditions: search,
    findByIsbn: (isbn) => pick((book) => book.isbn === isbn),
    bestSellers: () => pick(({ bestSeller }) => bestSeller),
    newSpecial: () => pick(({ newSpecial }) => newSpecial),
  }
}
