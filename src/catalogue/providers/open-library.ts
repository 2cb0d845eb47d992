import * as z from 'zod/mini'
import type { Config } from '../../env'
import { withFallback } from '../../values/named'
import { toIsbn10 } from '../../values/text/isbn'
import type { Provider } from '../schema'
import { fetchJson } from '../upstream'
import { cleanEditions, type RawEdition } from './clean-editions'

// Open Library allows three requests a second with a contact in the User-Agent, otherwise at most one.
const HOST = 'https://openlibrary.org'
const COVERS = 'https://covers.openlibrary.org/b/id/'
// By default, responses include neither page counts nor publishers.
const FIELDS = 'key,title,author_name,publisher,number_of_pages_median,cover_i,first_publish_year,isbn'
// Editions have the fields of their works.
const WITH_EDITIONS = `${FIELDS},subtitle,language,publish_date,editions`

const Unknown = z.optional(z.unknown())
const Texts = z.nullish(z.array(z.string()))
const Authors = z.nullish(z.array(z.object({ name: z.string() })))
const common = {
  title: Unknown,
  publisher: Texts,
  cover_i: withFallback(z.nullish(z.int().check(z.positive())), () => null),
}

const Edition = z.object({
  ...common,
  key: Unknown,
  subtitle: Unknown,
  isbn: Texts,
  language: Texts,
  publish_date: Texts,
})
const Work = z.lazy(() =>
  z.object({
    ...common,
    author_name: Texts,
    number_of_pages_median: Unknown,
    editions: z.nullish(z.object({ docs: z.array(Edition) })),
  }),
)

const toCover = (id: number | null | undefined) => (id ? `${COVERS}${id}-L.jpg` : null)
const toId = (key: unknown) => (typeof key === 'string' ? key.replace('/books/', '') : null)

const toRawEdition = ({ editions, ...work }: z.output<typeof Work>): RawEdition => {
  // Not what this edition lacks and the work has: that may be of another edition.
  const edition: Partial<z.output<typeof Edition>> = editions?.docs[0] ?? work
  return {
    ...edition,
    author: work.author_name?.join(', '),
    publisher: edition.publisher?.[0],
    itemPage: work.number_of_pages_median,
    cover: toCover(edition.cover_i),
    isbns: edition.isbn,
    language: edition.language?.[0],
    publishDate: edition.publish_date?.[0],
    ids: { openlibrary: toId(edition.key) },
  }
}

const toEditions = (works: z.output<typeof Work>[]) => cleanEditions(works.map(toRawEdition))
const Editions = z.lazy(() => z.pipe(z.array(Work), z.transform(toEditions)))
const SearchResponse = z.lazy(() => z.object({ docs: Editions }))
const TrendingResponse = z.lazy(() => z.object({ works: Editions }))

const Details = z.lazy(() =>
  z.object({
    key: Unknown,
    title: Unknown,
    subtitle: Unknown,
    authors: Authors,
    publishers: Texts,
    number_of_pages: Unknown,
    publish_date: Unknown,
    covers: z.nullish(z.array(z.int())),
    languages: z.nullish(z.array(z.object({ key: z.string() }))),
    identifiers: z.nullish(z.object({ goodreads: Texts })),
  }),
)
/** By `ISBN:` and the ISBN. */
const BooksResponse = z.lazy(() => z.record(z.string(), z.object({ authors: Authors, details: z.optional(Details) })))

const fromDetails = (details: z.output<typeof Details>, isbn: string): RawEdition => {
  const { number_of_pages: pages, publishers, covers, languages, identifiers } = details
  return {
    title: details.title,
    subtitle: details.subtitle,
    author: details.authors?.map(({ name }) => name).join(', '),
    publisher: publishers?.[0],
    itemPage: typeof pages === 'string' ? Number(pages) : pages,
    // A deleted cover is -1.
    cover: toCover(covers?.find((id) => id > 0)),
    isbns: [isbn],
    language: languages?.[0]?.key.replace('/languages/', ''),
    publishDate: details.publish_date,
    ids: { openlibrary: toId(details.key), goodreads: identifiers?.goodreads?.[0] },
  }
}

export const openLibrary = ({ CATALOGUE_CONTACT, PUBLIC_URL }: Config): Provider => {
  const headers = { 'User-Agent': `reading-library (${CATALOGUE_CONTACT ?? PUBLIC_URL ?? 'no contact given'})` }
  const load = <Schema extends z.ZodMiniType>(path: string, schema: Schema, parameters: Record<string, string>) => {
    const url = new URL(path, HOST)
    url.search = new URLSearchParams(parameters).toString()
    return fetchJson({ url, headers, schema })
  }
  const search = async (parameters: Record<string, string>) =>
    (await load('/search.json', SearchResponse, { limit: '10', fields: FIELDS, ...parameters })).docs
  /** `jscmd`: `details` lacks authors that only the work has, `data` the language. */
  const findRecord = async (isbn: string, jscmd: 'details' | 'data') => {
    // An edition may have only one of its ISBNs.
    const isbns = [isbn, toIsbn10(isbn)].filter((each) => each !== undefined)
    const bibkeys = isbns.map((each) => `ISBN:${each}`).join()
    const records = await load('/api/books', BooksResponse, { bibkeys, jscmd, format: 'json' })
    return Object.values(records)[0]
  }
  return {
    search: (q) => search({ q }),
    searchEditions: (q) => search({ q, fields: WITH_EDITIONS }),
    findByIsbn: async (isbn) => {
      const { details } = (await findRecord(isbn, 'details')) ?? {}
      if (!details) return []
      const authors = details.authors ?? (await findRecord(isbn, 'data'))?.authors
      return cleanEditions([fromDetails({ ...details, authors }, isbn)])
    },
    // Open Library has no best sellers; the most read books of the week stand in.
    bestSellers: async () =>
      (await load('/trending/weekly.json', TrendingResponse, { limit: '10', fields: FIELDS })).works,
    newSpecial: () => search({ q: 'subject:fiction', sort: 'new' }),
  }
}
