import { keyedHash } from '../auth/keyed-hash'
import { afterResponse, type Db } from '../db/client'
import { CATALOGUE_SEARCHES, limitNetwork, toAttempt } from '../db/limits/attempts'
import { countOrRefuse } from '../db/limits/rate-limit'
import type { Config } from '../env'
import { openLibrary } from './providers/open-library'
import { sample } from './providers/sample'
import { yes24 } from './providers/yes24'
import type { CatalogueEdition, CatalogueEntry, Provider } from './schema'

const PROVIDERS: Record<Config['CATALOGUE_PROVIDER'], (config: Config) => Provider> = {
  yes24,
  'open-library': openLibrary,
  sample,
}

export const providerOf = (config: Config) => PROVIDERS[config.CATALOGUE_PROVIDER](config)

/** What the contract shows of an edition. */
export const toEntry = ({ title, author, cover, publisher, itemPage }: CatalogueEdition): CatalogueEntry => {
  return { title, author, cover, publisher, itemPage }
}

/**
 * Counts a search. All networks share the requests that the provider allows in a day, so each has a share.
 * @throws TOO_MANY_REQUESTS when the network has used up its own
 */
export const countSearch = async (db: Db, { JWT_SECRET }: Config, network: string) => {
  const toSubject = (source: string) => keyedHash(JWT_SECRET, 'catalogue-search', source)
  const attempt = toAttempt(Date.now(), ...(await limitNetwork(network, toSubject, CATALOGUE_SEARCHES)))
  // The response may be cached publicly, so it must not have the bookmark.
  await countOrRefuse(afterResponse(db), attempt)
}
