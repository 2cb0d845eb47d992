import * as z from 'zod'
import type { Config } from '../../env'
import type { Provider } from '../provider'
import { ask } from '../upstream'
import { toEntries } from './entry'

// Open Library: three requests a second to whoever names a contact in the User-Agent, fewer or none to others.
const HOST = 'https://openlibrary.org'
const COVERS = 'https://covers.openlibrary.org/b/id/'
// Without it the answer holds neither pages nor publishers.
const FIELDS = 'key,title,author_name,publisher,number_of_pages_median,cover_i,first_publish_year,isbn'

const Work = z.object({
  title: z.unknown().optional(),
  author_name: z.array(z.string()).nullish(),
  publisher: z.array(z.string()).nullish(),
  number_of_pages_median: z.unknown().optional(),
  cover_i: z.int().positive().nullish().catch(null),
})

const toFound = (work: z.output<typeof Work>) => ({
  title: work.title,
  author: work.author_name?.join(', '),
  publisher: work.publisher?.[0],
  itemPage: work.number_of_pages_median,
  cover: work.cover_i ? `${COVERS}${work.cover_i}-L.jpg` : null,
})

const SearchAnswer = z.object({ docs: z.array(Work) }).transform(({ docs }) => toEntries(docs.map(toFound)))
const TrendingAnswer = z.object({ works: z.array(Work) }).transform(({ works }) => toEntries(works.map(toFound)))

const addressOf = (path: string, parameters: Record<string, string>) => {
  const url = new URL(path, HOST)
  url.search = new URLSearchParams({ ...parameters, limit: '10', fields: FIELDS }).toString()
  return url
}

export const openLibrary = ({ CATALOGUE_CONTACT, PUBLIC_URL }: Config): Provider => {
  const headers = { 'User-Agent': `reading-library (${CATALOGUE_CONTACT ?? PUBLIC_URL ?? 'no contact given'})` }
  const search = (parameters: Record<string, string>) =>
    ask({ url: addressOf('/search.json', parameters), headers, schema: SearchAnswer })
  return {
    search: (q) => search({ q }),
    // It sells nothing: what is read most this week stands in.
    bestSellers: () => ask({ url: addressOf('/trending/weekly.json', {}), headers, schema: TrendingAnswer }),
    newSpecial: () => search({ q: 'subject:fiction', sort: 'new' }),
  }
}
