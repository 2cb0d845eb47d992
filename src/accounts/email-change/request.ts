import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import { credentialOf } from '../../auth/token'
import { runAsCaller } from '../../db/caller'
import { deleteAttempt, EMAIL_CHANGES, toAttempt } from '../../db/limits/attempts'
import { afterAttempt, countOrRefuse, type RateLimitHeaders } from '../../db/limits/rate-limit'
import type { Variables } from '../../env'
import { fieldError } from '../../errors'
import { limitMails } from '../codes/mail-limits'
import { checkPassword, countLogin, hashingKeys, recordFailure, requireHashingCapacity } from '../passwords/check'
import type { Origin } from '../sessions/activity'
import type { Requester } from './change-codes'
import type { EmailChange } from './schema'
import { selectChanging } from './store'

/**
 * Verifies the caller's password and counts the mail. Nothing here depends on whether the new address is taken.
 * @throws INVALID_FIELDS for a wrong password and for the caller's own
 * address; TOO_MANY_REQUESTS after too many failed logins or mails, or when too many callers wait for hashing
 */
export const requestChange = async (
  { slots: { directory }, db, config, caller }: Variables,
  { email, password }: EmailChange,
  origin: Origin,
): Promise<{ requester: Requester; rateLimit: RateLimitHeaders }> => {
  const keys = hashingKeys(origin.network, credentialOf(caller))
  requireHashingCapacity(keys)
  const now = Date.now()
  const { guard } = await runAsCaller(db, caller, { guard: selectChanging({ email, now }) })
  const { passwordHash, email: oldEmail, ...member } = guard
  if (oldEmail.toLowerCase() === email.toLowerCase()) throw fieldError('email', email, 'is already your address')

  const { usage, counted } = await countLogin(directory, config, oldEmail, origin.network)
  const isRight = await checkPassword(
    directory,
    { password, keys, counted },
    async () => guard,
    async () => true,
  )
  if (!isRight) {
    recordFailure(db, config, oldEmail, origin)
    throw fieldError('password', password, 'is wrong', afterAttempt(usage, now))
  }
  const ofSession = await accountSubject(
    config.JWT_SECRET,
    memberAccount(member.memberId),
    'email-change',
    credentialOf(caller),
  )
  const mail = toAttempt(
    Date.now(),
    { subject: ofSession, limits: EMAIL_CHANGES.session },
    ...(await limitMails(config, email, origin.network, 'change-mail')),
  )
  const { rateLimit } = await countOrRefuse(directory, mail, { uncounted: deleteAttempt(counted) })
  return { requester: { ...member, slot: caller.slot }, rateLimit }
}
