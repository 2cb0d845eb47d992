import * as z from 'zod/mini'
import type { Config } from '../../env'
import type { Provider } from '../schema'
import { fetchJson } from '../upstream'
import { cleanEntries } from './clean-entries'

// Open Library allows three requests a second with a contact in the User-Agent, otherwise at most one.
const HOST = 'https://openlibrary.org'
const COVERS = 'https://covers.openlibrary.org/b/id/'
// By default, responses include neither page counts nor publishers.
const FIELDS = 'key,title,author_name,publisher,number_of_pages_median,cover_i,first_publish_year,isbn'

const Work = z.lazy(() =>
  z.object({
    title: z.optional(z.unknown()),
    author_name: z.nullish(z.array(z.string())),
    publisher: z.nullish(z.array(z.string())),
    number_of_pages_median: z.optional(z.unknown()),
    cover_i: z.catch(z.nullish(z.int().check(z.positive())), null),
  }),
)

const toRawEntry = (work: z.output<typeof Work>) => ({
  title: work.title,
  author: work.author_name?.join(', '),
  publisher: work.publisher?.[0],
  itemPage: work.number_of_pages_median,
  cover: work.cover_i ? `${COVERS}${work.cover_i}-L.jpg` : null,
})

const toEntries = (works: z.output<typeof Work>[]) => cleanEntries(works.map(toRawEntry))
const Entries = z.lazy(() => z.pipe(z.array(Work), z.transform(toEntries)))
const SearchResponse = z.lazy(() => z.object({ docs: Entries }))
const TrendingResponse = z.lazy(() => z.object({ works: Entries }))

const urlOf = (path: string, parameters: Record<string, string>) => {
  const url = new URL(path, HOST)
  url.search = new URLSearchParams({ ...parameters, limit: '10', fields: FIELDS }).toString()
  return url
}

export const openLibrary = ({ CATALOGUE_CONTACT, PUBLIC_URL }: Config): Provider => {
  const headers = { 'User-Agent': `reading-library (${CATALOGUE_CONTACT ?? PUBLIC_URL ?? 'no contact given'})` }
  const search = async (parameters: Record<string, string>) =>
    (await fetchJson({ url: urlOf('/search.json', parameters), headers, schema: SearchResponse })).docs
  return {
    search: (q) => search({ q }),
    // Open Library has no best sellers; the most read books of the week stand in.
    bestSellers: async () =>
      (await fetchJson({ url: urlOf('/trending/weekly.json', {}), headers, schema: TrendingResponse })).works,
    newSpecial: () => search({ q: 'subject:fiction', sort: 'new' }),
  }
}
