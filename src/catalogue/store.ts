import { keyedHash } from '../auth/keyed-hash'
import { afterResponse, type Db } from '../db/client'
import { CATALOGUE_SEARCHES, limitNetwork, toAttempt } from '../db/limits/attempts'
import { countOrRefuse } from '../db/limits/rate-limit'
import type { Config } from '../env'

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
