import { fold } from '../../values/text/fold'
import type { CatalogueEntry, Provider } from '../schema'
import { BOOKS, type SampleBook } from './sample-books'

const MAX_ENTRIES = 10

const toEntry = ({ bestSeller: _, newSpecial: __, ...book }: SampleBook): CatalogueEntry => ({ ...book, cover: null })

const pick = (matches: (book: SampleBook) => unknown) => BOOKS.filter(matches).slice(0, MAX_ENTRIES).map(toEntry)

/** A small built-in catalogue of real books, which needs no key and no network. */
export const sample = (): Provider => ({
  search: async (query) => {
    const term = fold(query)
    if (term === '') return []
    return pick(({ title, author }) => fold(title).includes(term) || fold(author).includes(term))
  },
  bestSellers: async () => pick(({ bestSeller }) => bestSeller),
  newSpecial: async () => pick(({ newSpecial }) => newSpecial),
})
