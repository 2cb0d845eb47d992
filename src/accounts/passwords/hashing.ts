import { createTurns } from '../../runtime/turns'
import { sourcesOf } from '../../values/network'

/** About fifteen seconds of hashing. */
const MAX_WAITING = 64

/**
 * The keys by which callers take turns.
 * @param account an e-mail address, or a credential
 */
export const hashingKeys = (network: string, account: string) => [...sourcesOf(network), account.toLowerCase()]

/** One request hashes at a time. */
export const { requireCapacity: requireHashingCapacity, take: withHashingLease } = createTurns(MAX_WAITING)
