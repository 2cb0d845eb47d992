import type { Config } from '../env'
import { openLibrary } from './providers/open-library'
import { sample } from './providers/sample'
import { yes24 } from './providers/yes24'
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

const PROVIDERS: Record<Config['CATALOGUE_PROVIDER'], (config: Config) => Provider> = {
  yes24,
  'open-library': openLibrary,
  sample,
}

export const providerOf = (config: Config) => PROVIDERS[config.CATALOGUE_PROVIDER](config)
