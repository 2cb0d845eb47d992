import { type Caller, runAsCaller, selectCaller } from '../db/caller'
import { type Db, run } from '../db/client'
import type { Config } from '../env'
import { keyedHash } from '../keyed-hash'
import { deleteAttempt, insertCallerAttempt, PASSWORD_CHANGES, selectUsage, toAttempt } from './attempts'
import { hashingKeys, requireHashingCapacity, withHashingLease } from './hashing'
import { hashPassword } from './password'
import { afterAttempt, tooManyAttempts } from './rate-limit'

/**
 * Hashes a new password of the caller. Hashing is expensive, so the change is counted and a revoked token refused
 * first.
 * @param network where the request comes from
 * @throws UNAUTHORIZED when the token is no longer valid; TOO_MANY_REQUESTS after too many changes, or when too many
 * callers wait for hashing
 */
export const hashNewPassword = async (db: Db, config: Config, caller: Caller, password: string, network: string) => {
  const keys = hashingKeys(network, `member ${caller.memberId}`)
  requireHashingCapacity(keys)
  const now = Date.now()
  const subject = await keyedHash(config.JWT_SECRET, 'password change', String(caller.memberId))
  const attempt = toAttempt(now, { subject, limits: PASSWORD_CHANGES })
  const [, usage, counted] = await runAsCaller(
    db,
    caller,
    selectCaller(),
    selectUsage(attempt),
    insertCallerAttempt(attempt),
  )
  if (counted.length === 0) throw tooManyAttempts(usage, now)
  const passwordHash = await withHashingLease(keys, (pause) => hashPassword(password, pause)).catch(async (error) => {
    await run(db, deleteAttempt(counted))
    throw error
  })
  return { passwordHash, rateLimit: afterAttempt(usage, now) }
}
