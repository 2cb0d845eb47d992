import { type SQL, sql } from 'drizzle-orm'
import { hashToken } from '../../auth/access-token'
import { atPrimary, type Db, firstRow, run, runAfterResponse, sqlStatement } from '../../db/client'
import type { Variables } from '../../env'
import { fieldError, unavailable } from '../../errors'
import type { Slots } from '../../slots/slots'
import { localTime } from '../../values/time'
import { abandonClaim, isUnsettled, selectOpenClaims, takeForUndo } from '../addresses/claims'
import { type Address, isFree, toAddress } from '../addresses/directory'
import { requireIntact, selectMarks } from '../addresses/marks'
import { endClaims, recordOutcome, settleClaims } from '../addresses/settlement'
import { normaliseCode, randomCode } from '../codes/account-codes'
import type { Origin } from '../sessions/activity'
import { restoreIf } from './store'

// The code that undoes a change is sent without an address. It consists of the member's slot, in four digits, and 150
// random bits, so it needs neither a keyed hash nor a limit on attempts.

const PARTS = 3
const FORM = /^(\d{4})[0-9A-Z]{30}$/

/** Creates an undo code for a member of a slot, such as `0001-K7QM2-9FXTR-…`. */
export const createUndoCode = (slot: number) =>
  [String(slot).padStart(4, '0'), ...Array.from({ length: PARTS }, randomCode)].join('-')

/** The slot that an undo code names, or undefined if it cannot be one. */
const slotOfUndoCode = (code: string) => {
  const [, slot] = FORM.exec(normaliseCode(code)) ?? []
  return slot === undefined ? undefined : Number(slot)
}

/** The stored hash of an undo code. */
export const hashUndoCode = (code: string) => hashToken(normaliseCode(code))

/** An undo deletes sessions and password, which a block keeps as they are. */
const isLive = sql`codeHash = :undoHash and expiresAt > :now and exists (
  select 1 from members where members.memberId = emailUndos.memberId and blockedAt is null
)`

/** A change that can still be undone. `email`: the former address; `replaced`: the one in use. */
type Undo = { memberId: number; email: string; replaced: string; returnExpiresAt: number }
const selectUndo = sqlStatement<Undo>`
  select memberId, email, expiresAt as returnExpiresAt,
    (select members.email from members where members.memberId = emailUndos.memberId) as replaced
  from emailUndos where ${isLive}`

const restoreWithCode = (condition: SQL) => restoreIf(sql`:memberId`, isLive, condition)
const restoreInSlot0 = restoreWithCode(isFree(true))
const restoreClaimed = restoreWithCode(sql`${isFree(true)} and ${isUnsettled}`)

type Values = Undo & Address & { undoHash: string; updatedAt: string }

const restoreHere = async (db: Db, values: Values, origin: Origin) => {
  const { marks, restored } = await run(db, {
    marks: selectMarks(values),
    ...restoreInSlot0(origin, { ...values, now: Date.now() }),
  })
  if (!restored) await requireIntact(db, marks)
  return restored !== undefined
}

/** Claims the former address, and all addresses that the undo releases, in the directory. */
const takeEntries = ({ directory }: Slots, slot: number, undo: Values) =>
  run(directory, {
    marks: selectMarks(undo),
    open: selectOpenClaims(undo),
    ...takeForUndo(undo, slot, Date.now(), undo),
  })

/** In another slot: calls the directory, the slot and, after the response, the directory. */
const restoreClaimedAddress = async ({ slots, config }: Variables, db: Db, undo: Values, origin: Origin) => {
  let { marks, open, entries } = await takeEntries(slots, db.slot, undo)
  if (open.length > 0) {
    await settleClaims(slots, config, db.slot, open)
    ;({ marks, open, entries } = await takeEntries(slots, db.slot, undo))
    if (open.length > 0) throw unavailable('e-mail undo: a change is under way')
  }
  const [claim] = entries
  if (!claim) {
    await requireIntact(slots.directory, marks)
    return false
  }
  const now = Date.now()
  const values = { ...undo, now, claimId: claim.claimId }
  const statements = { ...restoreClaimed(origin, values), ...endClaims(entries, now) }
  const { restored, settled, uses } = await run(db, statements).catch(async (error) => {
    await abandonClaim(slots.directory, claim)
    throw error
  })
  runAfterResponse(slots.directory, 'claim', await recordOutcome(config, entries, uses))
  // Another request settled the claim meanwhile. The code may still be valid.
  if (!restored && settled.length === 0) throw unavailable('e-mail undo: the claim was settled')
  return restored !== undefined
}

/**
 * Undoes a change of e-mail address, and all later ones: restores the former address, ends all sessions, access tokens
 * and links, and deletes the password, so that the member must reset it.
 * @returns the member, the restored address, and the one that it replaced
 * @throws INVALID_FIELDS, the same for an unknown, used or expired code, and while the member is blocked
 */
export const undoChange = async (variables: Variables, code: string, origin: Origin) => {
  const { slots, config } = variables
  const invalid = fieldError('authenticationCode', code, 'is wrong, used or expired')
  const slot = slotOfUndoCode(code)
  if (slot === undefined || !slots.numbers.includes(slot)) throw invalid
  // A replica may not have the change yet.
  const db = atPrimary(slots.open(slot))
  const undoHash = await hashUndoCode(code)
  const { undo } = await run(db, { undo: firstRow(selectUndo({ undoHash, now: Date.now() })) })
  if (!undo) throw invalid
  const address = await toAddress(slots, config, undo.email)
  const values = { ...undo, ...address, undoHash, updatedAt: localTime(config.TIME_ZONE) }
  const isRestored =
    slot === 0 ? await restoreHere(db, values, origin) : await restoreClaimedAddress(variables, db, values, origin)
  if (!isRestored) throw invalid
  return { memberId: undo.memberId, restored: undo.email, replaced: undo.replaced }
}
