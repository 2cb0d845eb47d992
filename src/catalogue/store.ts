import { keyedHash } from '../auth/keyed-hash'
import { afterResponse, type Db, run } from '../db/client'
import type { Config } from '../env'
import { CATALOGUE_SEARCHES, insertAttempt, limitNetwork, selectUsage, toAttempt } from '../limits/attempts'
import { tooManyAttempts } from '../limits/rate-limit'

/**
 * Counts a search. All networks share the requests that the provider allows in a day, so each has a share.
 * @throws TOO_MANY_REQUESTS when the network has used up its own
 */
export const countSearch = async (db: Db, { JWT_SECRET }: Config, network: string) => {
  const now = Date.now()
  const toSubject = (part: string) => keyedHash(JWT_SECRET, 'catalogue-search', part)
  const attempt = toAttempt(now, ...(await limitNetwork(network, toSubject, CATALOGUE_SEARCHES)))
  // The response may be cached publicly, so it must not have the bookmark.
  const { usage, counted } = await run(afterResponse(db), {
    usage: selectUsage(attempt),
    counted: insertAttempt(attempt),
  })
  if (counted.length === 0) throw tooManyAttempts(usage, now)
}
