import type { CatalogueEntry } from './schema'

/**
 * Where books are looked up. Each answers at most ten entries, none when nothing is found.
 * @throws CATALOGUE_FAILED, CATALOGUE_TIMED_OUT or CATALOGUE_BUSY when the provider does not answer as it should
 */
export type Provider = {
  search: (titleOrAuthor: string) => Promise<CatalogueEntry[]>
  bestSellers: () => Promise<CatalogueEntry[]>
  newSpecial: () => Promise<CatalogueEntry[]>
}
