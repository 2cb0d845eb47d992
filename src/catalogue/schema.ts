import * as z from 'zod/mini'
import { MAX_INT } from '../values/contract'
import { SearchTerm } from '../values/fields'
import { namedLazy } from '../values/named'

const CatalogueEntry = namedLazy('CatalogueEntry', () =>
  z.object({
    title: z.string(),
    author: z.nullable(z.string()),
    cover: z.nullable(z.string()),
    publisher: z.nullable(z.string()),
    itemPage: z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_INT))),
  }),
)
export type CatalogueEntry = z.infer<typeof CatalogueEntry>
export const CatalogueList = z.lazy(() => z.array(CatalogueEntry).check(z.maxLength(10)))

export const SearchPath = z.lazy(() => z.object({ 'title-or-author': SearchTerm }))

/**
 * A source of catalogue entries. Each function returns at most ten, and none when nothing is found.
 * @throws CATALOGUE_FAILED, CATALOGUE_TIMED_OUT or CATALOGUE_BUSY
 */
export type Provider = {
  search: (titleOrAuthor: string) => Promise<CatalogueEntry[]>
  bestSellers: () => Promise<CatalogueEntry[]>
  newSpecial: () => Promise<CatalogueEntry[]>
}
