import { sql } from 'drizzle-orm'
import { blob, check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { isOneOf } from './column-rules'

// These tables serve members in several databases (slots): docs/decisions/0021-slots.md.

/** RESERVED: the former address after a change of e-mail, which an undo may restore. */
const ADDRESS_STATES = ['CLAIMED', 'HELD', 'RESERVED'] as const

/**
 * The directory: the e-mail addresses of members in slots other than 0. Only in the database of slot 0, and only as
 * keyed hashes. The migration creates it WITHOUT ROWID, which Drizzle cannot express.
 */
export const addresses = sqliteTable(
  'addresses',
  {
    /** 16 bytes of HMAC-SHA-256. */
    addressHash: blob().primaryKey(),
    memberId: integer().notNull(),
    slot: integer().notNull(),
    /**
     * The flow that changed this entry last. Later changes are conditional on it, so that a late call changes nothing.
     */
    claimId: integer().notNull(),
    state: text({ enum: ADDRESS_STATES }).notNull(),
    /** When an open claim may be settled, or a reservation ends, in milliseconds since 1970. Null while HELD. */
    settleAt: integer(),
  },
  (address) => [
    index('addresses_by_member').on(address.memberId),
    index('addresses_to_settle').on(address.settleAt).where(sql.raw(`"settleAt" is not null`)),
    check('addresses_hash', sql`length(${address.addressHash}) = 16`),
    check('addresses_state', isOneOf(address.state, ADDRESS_STATES)),
    check('addresses_settle_at', sql`(${address.state} = 'HELD') = (${address.settleAt} is null)`),
  ],
)

/**
 * The last claim id of each slot other than 0. Claim ids are never reused; that of a sign-up becomes the member's id.
 */
export const slotCounters = sqliteTable('slotCounters', {
  slot: integer().primaryKey(),
  lastClaimId: integer().notNull(),
})

/**
 * Shows whether databases belong together. Slot 0 has a random mark for each other slot, whose database repeats its
 * own, and in the row of slot 0 a keyed hash of a constant, which identifies ADDRESS_KEY.
 */
export const slotMarks = sqliteTable('slotMarks', {
  slot: integer().primaryKey(),
  mark: text().notNull(),
  /** In slot 0: whether a deployment has bound the slot after its database repeated the mark. */
  isConfirmed: integer({ mode: 'boolean' }).notNull().default(false),
})

/** Claims that can no longer take effect in this slot: settled ones, and those of withdrawn members. Kept for a day. */
export const settledClaims = sqliteTable('settledClaims', {
  claimId: integer().primaryKey(),
  settledAt: integer().notNull(),
})
