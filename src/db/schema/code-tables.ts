import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { ownerId } from './member-tables'

// Times are milliseconds since 1970.

/** The last verification code that a network requested for an e-mail address. */
export const joinCodes = sqliteTable(
  'joinCodes',
  {
    /** A keyed hash of e-mail address and network. */
    subject: text().primaryKey(),
    codeHash: text().notNull(),
    issuedAt: integer().notNull(),
    expiresAt: integer().notNull(),
    /** A keyed hash of the e-mail address. */
    address: text().notNull(),
  },
  (code) => [index('joinCodes_by_address').on(code.address)],
)

/** Mailed codes that reset a password or confirm a new e-mail address of a member. Only in the database of slot 0. */
export const accountCodes = sqliteTable(
  'accountCodes',
  {
    /** A keyed hash of the code, its purpose, the e-mail address and, for a change of address, the member. */
    codeHash: text().primaryKey(),
    /** A keyed hash of the same without the code. */
    subject: text().notNull(),
    /** 0 if a reset was requested for an address that no member has. That code is never sent. */
    memberId: integer().notNull(),
    slot: integer().notNull(),
    /** The member's version when the code was issued. The code is valid only while it is unchanged. */
    credentialsVersion: integer().notNull(),
    expiresAt: integer().notNull(),
  },
  (code) => [index('accountCodes_by_subject').on(code.subject), index('accountCodes_by_expiry').on(code.expiresAt)],
)

/** For 72 hours after a change of e-mail address, the former address is reserved, and a mailed code restores it. */
export const emailUndos = sqliteTable(
  'emailUndos',
  {
    /** Ascending: restoring an address voids all later undos of the member. */
    undoId: integer().primaryKey(),
    memberId: ownerId(),
    /** SHA-256 of the code, in base64. */
    codeHash: text().notNull(),
    /** The former address. */
    email: text().notNull(),
    expiresAt: integer().notNull(),
  },
  (undo) => [
    uniqueIndex('emailUndos_by_code').on(undo.codeHash),
    index('emailUndos_by_member').on(undo.memberId),
    index('emailUndos_by_email').on(sql`lower(${undo.email})`),
    index('emailUndos_by_expiry').on(undo.expiresAt),
  ],
)

/** Mails with a code sent per UTC day. Days are counted from 1970. */
export const dailyMails = sqliteTable('dailyMails', {
  day: integer().primaryKey(),
  /** Mails with codes. */
  mails: integer().notNull(),
  /** Mails about new access tokens and links, counted apart so that they use up no codes. */
  tokenMails: integer().notNull().default(0),
})

/**
 * Everything that has an exact limit, such as mails, tried codes and failed logins. The subject is a keyed hash of the
 * action and its target.
 */
export const attempts = sqliteTable(
  'attempts',
  {
    attemptId: integer().primaryKey(),
    subject: text().notNull(),
    at: integer().notNull(),
  },
  (attempt) => [index('attempts_by_subject').on(attempt.subject, attempt.at)],
)
