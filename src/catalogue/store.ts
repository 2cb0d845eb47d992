import { accountSubject, keyedHash, memberAccount } from '../auth/keyed-hash'
import { afterResponse, type ConfirmedMember, type Db } from '../db/client'
import { CATALOGUE_LOOKUPS, CATALOGUE_SEARCHES, limitNetwork, toAttempt } from '../db/limits/attempts'
import { countOrRefuse } from '../db/limits/rate-limit'
import type { Bindings, Config } from '../env'
import { readAsset } from '../storage/assets'
import { EDITIONS, getCached } from './cache'
import { openLibrary } from './providers/open-library'
import { sample } from './providers/sample'
import { SAMPLE_FILE, type SampleBook } from './providers/sample-books'
import { yes24 } from './providers/yes24'
import type { CatalogueEdition, CatalogueEntry, Provider } from './schema'

/** The cache, and static files. */
type Stores = Pick<Bindings, 'CATALOGUE' | 'ASSETS'>
const readSampleBooks = async ({ ASSETS }: Stores): Promise<SampleBook[]> =>
  JSON.parse(new TextDecoder().decode(await readAsset(ASSETS, SAMPLE_FILE, 'sample books')))

const PROVIDERS: Record<Config['CATALOGUE_PROVIDER'], (config: Config, env: Stores) => Provider> = {
  yes24,
  'open-library': openLibrary,
  sample: (_, env) => sample(() => readSampleBooks(env)),
}

export const providerOf = (config: Config, env: Stores) => PROVIDERS[config.CATALOGUE_PROVIDER](config, env)

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

/** A request for a member whom the guard has confirmed. */
export type Lookup = { db: Db; config: Config; env: Stores; member: ConfirmedMember }

/** By member: a network, such as that of a mobile carrier, may have many. */
const countLookup = async ({ db, config, member }: Lookup) => {
  if (config.CATALOGUE_PROVIDER === 'sample') return
  const subject = await accountSubject(config.JWT_SECRET, memberAccount(member.memberId), 'lookup')
  await countOrRefuse(db, toAttempt(Date.now(), { subject, limits: CATALOGUE_LOOKUPS }))
}

/**
 * The edition with an ISBN-13, from the cache or the provider. Undefined if the provider does not know it.
 * @throws TOO_MANY_REQUESTS when the member has used up the requests to the provider; the errors of `Provider`
 */
export const findEdition = async (lookup: Lookup, isbn: string): Promise<CatalogueEdition | undefined> => {
  const { db, config, env } = lookup
  const [edition] = await getCached({
    ...EDITIONS,
    kv: env.CATALOGUE,
    key: `catalogue:${config.CATALOGUE_PROVIDER}:isbn:${isbn}`,
    beforeLoad: () => countLookup(lookup),
    load: () => providerOf(config, env).findByIsbn(isbn),
    waitUntil: db.waitUntil,
  })
  return edition
}

/** @throws the errors of `findEdition` */
export const searchEditions = async (lookup: Lookup, titleOrAuthor: string) => {
  await countLookup(lookup)
  return providerOf(lookup.config, lookup.env).searchEditions(titleOrAuthor)
}
