import type { CatalogueEntry } from './schema'

/**
 * A source of catalogue entries. Each function returns at most ten, and none when nothing is found.
 * @throws CATALOGUE_FAILED, CATALOGUE_TIMED_OUT or CATALOGUE_BUSY
 */
export type Provider = {
  search: (titleOrAuthor: string) => Promise<CatalogueEntry[]>
  bestSellers: () => Promise<CatalogueEntry[]>
  newSpecial: () => Promise<CatalogueEntry[]>
}
