import { keyedHash } from '../auth/keyed-hash'
import { afterResponse, type Db } from '../db/client'
import type { Config } from '../env'
import { CATALOGUE_SEARCHES, limitNetwork, toAttempt } from '../limits/attempts'
import { countOrRefuse } from '../limits/rate-limit'

/**
 * Counts a search. All networks share the requests that the provider allows in a day, so each has a share.
 * @throws TOO_MANY_REQUESTS when the network has used up its own
 */
export const countSearch = async (db: Db, { JWT_SECRET }: Config, network: string) => {
  const toSubject = (part: string) => keyedHash(JWT_SECRET, 'catalogue-search', part)
  const attempt = toAttempt(Date.now(), ...(await limitNetwork(network, toSubject, CATALOGUE_SEARCHES)))
  // The response may be cached publicly, so it must not have the bookmark.
  await countOrRefuse(afterResponse(db), attempt)
}
