import type { Provider } from '../provider'
import type { CatalogueEntry } from '../schema'
import { BOOKS, type SampleBook } from './sample-books'

const MOST = 10

/** A text without regard to case, accents, and how Hangul is composed. */
const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase()

const toEntry = ({ title, author, publisher, itemPage }: SampleBook): CatalogueEntry => ({
  title,
  author,
  cover: null,
  publisher,
  itemPage,
})

const pick = (isWanted: (book: SampleBook) => unknown) => BOOKS.filter(isWanted).slice(0, MOST).map(toEntry)

/** A small catalogue of real books that needs no key and no network. */
export const sample = (): Provider => ({
  search: async (query) => {
    const wanted = fold(query)
    if (wanted === '') return []
    return pick(({ title, author }) => fold(title).includes(wanted) || fold(author).includes(wanted))
  },
  bestSellers: async () => pick(({ bestSeller }) => bestSeller),
  newSpecial: async () => pick(({ newSpecial }) => newSpecial),
})
