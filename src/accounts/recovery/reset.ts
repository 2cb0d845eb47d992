import { uncountOnFailure } from '../../db/limits/rate-limit'
import type { Variables } from '../../env'
import { invalidCodeError } from '../codes/account-codes'
import { hashingKeys, requireHashingCapacity, withHashingLease } from '../passwords/hashing'
import { hashPassword } from '../passwords/password'
import type { Origin } from '../sessions/activity'
import { checkCode } from './reset-codes'
import type { PasswordReset } from './schema'
import { replacePassword } from './store'

/**
 * Resets a password with a mailed code, and ends all sessions, access tokens and links of the member. Hashes the
 * password only if the code is right.
 * @throws INVALID_FIELDS, the same for each invalid code and for an unknown address; TOO_MANY_REQUESTS after too many
 * tries of the network, or when too many callers wait for hashing
 */
export const resetPassword = async (variables: Variables, reset: PasswordReset, origin: Origin) => {
  const { email, authenticationCode, password } = reset
  // Not the key of logins, with which strangers could crowd the member out of the queue.
  const keys = hashingKeys(origin.network, `reset ${email}`)
  requireHashingCapacity(keys)
  const {
    slots: { directory },
    config,
  } = variables
  const { valid, counted, rateLimit } = await checkCode(directory, config, email, authenticationCode, origin.network)
  const hashing = withHashingLease(keys, (pause) => hashPassword(password, pause))
  const passwordHash = await uncountOnFailure(directory, counted, hashing)
  const changed = await replacePassword(variables, valid, passwordHash, origin)
  if (!changed) throw invalidCodeError(authenticationCode, rateLimit)
  return { email: changed, rateLimit }
}
