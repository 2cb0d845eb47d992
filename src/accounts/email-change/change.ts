import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import { credentialOf } from '../../auth/token'
import { runAsCaller } from '../../db/caller'
import { afterResponse, firstRow, idempotent, run, runAfterResponse, type Values } from '../../db/client'
import {
  type Attempt,
  type Counted,
  deleteAttempt,
  GUESSES,
  insertAttempt,
  insertCallerAttempt,
  limitNetwork,
  selectUsage,
  toAttempt,
  type Usage,
} from '../../db/limits/attempts'
import { afterAttempt, isReached, type RateLimitHeaders, tooManyAttempts } from '../../db/limits/rate-limit'
import type { Variables } from '../../env'
import { ApiError, unavailable } from '../../errors'
import { HOUR_MS, localTime } from '../../values/time'
import { abandonClaim, isAbandoned, selectOpenClaims } from '../addresses/claims'
import { type Address, type AddressEntry, type Holder, selectHolder, toAddress } from '../addresses/directory'
import { type CheckedMark, requireIntact, selectMarks } from '../addresses/marks'
import { endClaims, recordOutcome, settleClaims } from '../addresses/settlement'
import { deleteCode, invalidCodeError } from '../codes/account-codes'
import type { Profile } from '../members/responses'
import type { Origin } from '../sessions/activity'
import { hashCode } from './change-codes'
import type { NewEmail } from './schema'
import {
  changeClaimed,
  changeHere,
  deleteVoidCode,
  selectChanged,
  selectChanging,
  selectCode,
  selectCodeHere,
  takeWithCode,
} from './store'
import { createUndoCode, hashUndoCode } from './undo-change'

const UNDO_LIFETIME_MS = 72 * HOUR_MS

/** The context of one request to change an address. */
type Change = Pick<Variables, 'slots' | 'db' | 'config' | 'caller'> & {
  address: Address
  attempt: Attempt
  origin: Origin
  values: Values
}
/**
 * `restored`, `changed`: the profile after a return to a former address, or after a change to another one. `blocking`:
 * open claims that must be settled before another try.
 */
type Outcome = { marks: CheckedMark[]; usage: Usage[]; counted: Counted } & Partial<{
  oldEmail: string
  restored: Profile
  changed: Profile
  blocking: AddressEntry[]
  isTaken: boolean
}>

const findBlocking = (holders: Holder[], { values, attempt }: Change) => {
  const others = holders.filter((holder) => holder.memberId !== values.memberId)
  return { blocking: others.filter((holder) => isAbandoned(holder, attempt.now)), isTaken: others.length > 0 }
}

/** In slot 0: one transaction, so that only counted guesses are evaluated, and only one member gets the address. */
const tryInSlot0 = async (change: Change): Promise<Outcome> => {
  const { db, caller, address, attempt, origin } = change
  const values = { ...change.values, ...attempt }
  const { guard, marks, usage, holders, codes, restored, changed, counted } = await runAsCaller(db, caller, {
    guard: selectChanging(values),
    marks: selectMarks(address),
    usage: selectUsage(attempt),
    holders: selectHolder(address, attempt.now),
    codes: selectCodeHere(values),
    ...changeHere(origin, values),
    voidCodes: deleteVoidCode(values),
    counted: insertCallerAttempt(attempt),
  })
  const done = { oldEmail: guard.email, restored, changed, marks, usage, counted }
  return codes.length > 0 ? { ...done, ...findBlocking(holders, change) } : done
}

/** Changes the address in the member's slot, after the directory has claimed it. */
const changeInSlot = async (change: Change, claim: AddressEntry, entries: AddressEntry[], values: Values) => {
  const { slots, db, config, caller, origin } = change
  const claimed = { ...values, claimId: claim.claimId }
  const { guard, restored, changed, uses } = await runAsCaller(db, caller, {
    guard: selectChanging(claimed),
    ...changeClaimed(origin, claimed),
    ...endClaims(entries, Date.now()),
  }).catch(async (error) => {
    await abandonClaim(slots.directory, claim)
    throw error
  })
  const isDone = restored ?? changed
  runAfterResponse(slots.directory, 'claim', {
    ...(await recordOutcome(config, entries, uses)),
    codes: isDone && idempotent(deleteCode(change.values)),
  })
  if (!isDone) throw unavailable('e-mail change: the claim was settled, or the credentials were changed')
  return { oldEmail: guard.email, restored, changed }
}

/** In another slot: calls the slot, the directory, the slot again and, after the response, the directory. */
const tryClaimed = async (change: Change): Promise<Outcome> => {
  const { slots, db, caller, address, attempt } = change
  const values = { ...change.values, ...attempt }
  const { guard } = await runAsCaller(db, caller, { guard: selectChanging(values) })
  const { credentialsVersion, returnExpiresAt } = guard
  const sent = { ...values, credentialsVersion, returnExpiresAt }
  const { marks, usage, holders, open, codes, entries, counted } = await run(slots.directory, {
    marks: selectMarks(address),
    usage: selectUsage(attempt),
    holders: selectHolder(address, attempt.now),
    open: selectOpenClaims(sent),
    codes: selectCode(sent),
    ...takeWithCode(address, caller.slot, attempt.now, sent),
    counted: insertAttempt(attempt),
  })
  const [claim] = entries
  if (claim) return { ...(await changeInSlot(change, claim, entries, sent)), marks, usage, counted }
  if (codes.length === 0) return { marks, usage, counted }
  const { blocking, isTaken } = findBlocking(holders, change)
  return { marks, usage, counted, blocking: [...open, ...blocking], isTaken }
}

/** Sends the mails about a change or about a return to a former address, after the response. */
export type Inform = {
  changed: (oldEmail: string, undoCode: string) => void
  /** `replaced` is unknown if the response of the database was lost. */
  returned: (replaced?: string) => void
}

/**
 * Changes the caller's e-mail address with the code mailed to the new one. Sessions stay valid. For 72 hours, the
 * former address is reserved for the member, and an undo code restores it. A change to an address that an undo would
 * restore is that undo, but the caller stays logged in.
 * @throws INVALID_FIELDS for a wrong, expired, used or voided code; MEMBER_EXISTS, only with the right code, when the
 * address has been taken since; TOO_MANY_REQUESTS after too many tries
 */
export const changeEmail = async (
  { slots, db, config, caller }: Variables,
  { email, authenticationCode }: NewEmail,
  origin: Origin,
  inform: Inform,
): Promise<{ profile: Profile; rateLimit: RateLimitHeaders }> => {
  const now = Date.now()
  // The guard refuses access tokens.
  const id = caller.kind === 'session' ? caller.memberId : 0
  const undoCode = createUndoCode(caller.slot)
  const toSubject = (source: string, suffix: string) =>
    accountSubject(config.JWT_SECRET, memberAccount(id), `change-code${suffix}`, credentialOf(caller), source)
  const attempt = toAttempt(now, ...(await limitNetwork(origin.network, toSubject, GUESSES)))
  const address = await toAddress(slots, config, email)
  const change: Change = {
    slots,
    db,
    config,
    caller,
    address,
    attempt,
    origin,
    values: {
      ...address,
      memberId: id,
      codeHash: await hashCode(config, id, email, authenticationCode),
      undoHash: await hashUndoCode(undoCode),
      undoExpiresAt: now + UNDO_LIFETIME_MS,
      updatedAt: localTime(config.TIME_ZONE),
    },
  }
  const tryChange = caller.slot > 0 ? tryClaimed : tryInSlot0
  const changeOnce = () =>
    tryChange(change).catch(async (error) => {
      if (error instanceof ApiError && error.code !== 'UNAVAILABLE') throw error
      // The change may have taken effect although the response was lost.
      const informIfChanged = async () => {
        const { changed } = await run(afterResponse(db), { changed: firstRow(selectChanged(change.values)) })
        if (changed?.oldEmail) inform.changed(changed.oldEmail, undoCode)
        else if (changed) inform.returned()
      }
      db.waitUntil(informIfChanged().catch(() => {}))
      throw error
    })

  let outcome = await changeOnce()
  if (outcome.blocking?.length) {
    await run(slots.directory, { uncounted: deleteAttempt(outcome.counted) })
    const bySlot = Map.groupBy(outcome.blocking, ({ slot }) => slot)
    for (const [slot, entries] of bySlot) await settleClaims(slots, config, slot, entries)
    outcome = await changeOnce()
  }
  const { restored, changed, oldEmail, marks, usage, counted, isTaken, blocking } = outcome
  const profile = restored ?? changed
  if (profile && oldEmail) {
    if (restored) inform.returned(oldEmail)
    else inform.changed(oldEmail, undoCode)
    return { profile, rateLimit: afterAttempt(usage, now) }
  }
  if (usage.some(isReached)) throw tooManyAttempts(usage, now)
  await requireIntact(slots.directory, marks, counted)
  if (isTaken) throw new ApiError('MEMBER_EXISTS')
  if (blocking) throw unavailable('e-mail change: another one is under way')
  throw invalidCodeError(authenticationCode, afterAttempt(usage, now))
}
