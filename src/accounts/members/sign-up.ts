import { type SQL, sql } from 'drizzle-orm'
import { type Db, firstRow, idempotent, run, runAfterResponse, sqlStatement } from '../../db/client'
import { deleteAttempt } from '../../db/limits/attempts'
import type { Variables } from '../../env'
import { ApiError, unavailable } from '../../errors'
import type { Slots } from '../../slots/slots'
import { localTime } from '../../values/time'
import { abandonClaim, confirmClaim, isUnsettled, releaseClaim } from '../addresses/claims'
import { type Address, isEmail, isFree, selectHolder, toAddress } from '../addresses/directory'
import { hasOwnMark, requireIntact, requireOfSlot, selectMarks, toOwnMarks } from '../addresses/marks'
import { settleClaims } from '../addresses/settlement'
import {
  type Checked,
  checkCode,
  deleteClaimedCodes,
  deleteCodes,
  hasValidCode,
  invalidCodeError,
} from '../codes/verification'
import { hashingKeys, requireHashingCapacity, withHashingLease } from '../passwords/check'
import { hashPassword } from '../passwords/password'
import type { Profile } from './responses'
import type { NewMember } from './schema'

const insertMemberIf = (condition: SQL, idColumn = sql``, id = sql``) =>
  sqlStatement<Profile>`
    insert into members (${idColumn} email, name, passwordHash, createdAt, updatedAt)
    select ${id} :email, :name, :passwordHash, :createdAt, :createdAt
    where ${condition}
    on conflict do nothing
    returning email, name`
const insertUnverified = insertMemberIf(isFree())
const insertVerified = insertMemberIf(sql`${hasValidCode} and ${isFree()}`)
const insertClaimed = insertMemberIf(sql`${isUnsettled} and ${hasOwnMark}`, sql`memberId,`, sql`:claimId,`)
const selectStored = sqlStatement<Profile & { memberId: number }>`
  select memberId, email, name from members where ${isEmail}`

type NewRow = Address & { name: string; passwordHash: string; createdAt: string }
type Code = NonNullable<Checked['code']>

/** For a sign-up that fails although its code is right: the try does not count. */
const uncount = (code: Code | undefined) => code && deleteAttempt(code.counted)

/** Creates a member of slot 0, and deletes the verification codes of the address, in one transaction. */
const createInSlot0 = async (db: Db, member: NewRow, code: Code | undefined) => {
  const now = Date.now()
  const { marks, created, holders } = await run(db, {
    marks: selectMarks(member),
    created: code ? insertVerified({ ...member, ...code, now }) : insertUnverified({ ...member, now }),
    holders: selectHolder(member, now),
    codes: code && deleteCodes({ ...code, email: member.email }),
  })
  await requireIntact(db, marks)
  if (holders.length > 0 && created.length === 0) throw new ApiError('MEMBER_EXISTS')
  return created[0]
}

/**
 * Creates the member of a claim in its slot. After the response, confirms the claim and deletes the verification codes.
 * @param marks those in slot 0
 * @throws MEMBER_EXISTS; UNAVAILABLE when the slot fails or is lost, or the claim ended: the code stays valid
 */
const createClaimed = async (
  slots: Slots,
  slot: number,
  member: NewRow,
  { claimId, code, marks }: Checked & { claimId: number },
) => {
  const claim = { ...member, claimId }
  try {
    const { own, stored } = await run(slots.open(slot), {
      own: selectMarks(member),
      created: idempotent(insertClaimed({ ...claim, ...toOwnMarks(slot, marks) })),
      stored: firstRow(selectStored(claim)),
    })
    requireOfSlot(slot, marks, own)
    if (!stored) throw unavailable('sign-up: the claim was settled')
    // An older member has the address, but no entry in the directory, for example after a restore.
    const { memberId, ...profile } = stored
    if (memberId !== claimId) throw new ApiError('MEMBER_EXISTS')
    runAfterResponse(slots.directory, 'claim', {
      claim: idempotent(confirmClaim(claim)),
      codes: code && idempotent(deleteClaimedCodes({ ...claim, ...code })),
    })
    return profile
  } catch (error) {
    await abandonClaim(slots.directory, { memberId: claimId, claimId }, { uncounted: uncount(code) })
    throw error
  }
}

/**
 * Signs a member up.
 * @param slot of the new member
 * @throws MEMBER_EXISTS when the e-mail is taken, regardless of case; INVALID_FIELDS for an invalid code;
 * TOO_MANY_REQUESTS after too many tries, or when too many callers wait for hashing
 */
export const signUp = async (variables: Variables, slot: number, newMember: NewMember, network: string) => {
  const { slots, config } = variables
  const { email, name, password, authenticationCode: typed } = newMember
  const keys = hashingKeys(network, email)
  requireHashingCapacity(keys)
  const { directory } = slots
  const address = await toAddress(slots, config, email)
  const check = () => checkCode(variables, address, { code: typed, network, slot })
  let { code, claimId, abandoned, marks } = await check()
  if (abandoned) {
    if (code) await run(directory, { uncounted: uncount(code) })
    await settleClaims(slots, config, abandoned.slot, [abandoned])
    ;({ code, claimId, abandoned, marks } = await check())
    if (abandoned) throw new ApiError('MEMBER_EXISTS')
  }
  const passwordHash = await withHashingLease(keys, (pause) => hashPassword(password, pause)).catch(async (error) => {
    const claim = claimId ? idempotent(releaseClaim({ ...address, claimId })) : undefined
    if (code || claim) await run(directory, { uncounted: uncount(code), claim })
    throw error
  })
  const member = { ...address, name, passwordHash, createdAt: localTime(config.TIME_ZONE) }
  const profile = claimId
    ? await createClaimed(slots, slot, member, { claimId, code, marks })
    : await createInSlot0(directory, member, code)
  if (!profile) throw invalidCodeError(typed)
  return { profile, rateLimit: code?.rateLimit }
}
