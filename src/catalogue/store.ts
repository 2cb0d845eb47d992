import { keyedHash } from '../auth/keyed-hash'
import { afterResponse, type ConfirmedMember, type Db } from '../db/client'
import { CATALOGUE_LOOKUPS, CATALOGUE_SEARCHES, limitNetwork, toAttempt } from '../db/limits/attempts'
import { countOrRefuse } from '../db/limits/rate-limit'
import type { Config } from '../env'
import { EDITIONS, getCached } from './cache'
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

/** A request for a member whom the guard has confirmed. `kv`: the cache. */
export type Lookup = { db: Db; config: Config; kv: KVNamespace; member: ConfirmedMember }

/** By member: a network, such as that of a mobile carrier, may have many. */
const countLookup = async ({ db, config, member }: Lookup) => {
  if (config.CATALOGUE_PROVIDER === 'sample') return
  const subject = await keyedHash(config.JWT_SECRET, 'catalogue-lookup', String(member.memberId))
  await countOrRefuse(db, toAttempt(Date.now(), { subject, limits: CATALOGUE_LOOKUPS }))
}

/**
 * The edition with an ISBN-13, from the cache or the provider. Undefined if the provider does not know it.
 * @throws TOO_MANY_REQUESTS when the member has used up the requests to the provider; the errors of `Provider`
 */
export const findEdition = async (lookup: Lookup, isbn: string): Promise<CatalogueEdition | undefined> => {
  const { db, config, kv } = lookup
  const [edition] = await getCached({
    ...EDITIONS,
    kv,
    key: `catalogue:${config.CATALOGUE_PROVIDER}:isbn:${isbn}`,
    beforeLoad: () => countLookup(lookup),
    load: () => providerOf(config).findByIsbn(isbn),
    waitUntil: db.waitUntil,
  })
  return edition
}

/** @throws the errors of `findEdition` */
export const searchEditions = async (lookup: Lookup, titleOrAuthor: string) => {
  await countLookup(lookup)
  return providerOf(lookup.config).searchEditions(titleOrAuthor)
}
