import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { ACTIVITY_KINDS, BOOK_STATUSES, LINK_KINDS } from '../../values/contract'
import { counter, isTimestamp } from './column-rules'

export const members = sqliteTable(
  'members',
  {
    memberId: integer().primaryKey({ autoIncrement: true }),
    email: text().notNull(),
    name: text().notNull(),
    passwordHash: text().notNull(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    yetBooks: counter(),
    ingBooks: counter(),
    doneBooks: counter(),
    finishedBooks: counter(),
    /** Read books, but for stopped ones, whose finish is not known: they count in no year. */
    undatedBooks: counter(),
    memoBooks: counter(),
    /** UTF-8 bytes of memos, notes on readings and texts of books, and the prices of rows: values/prices.ts. */
    textBytes: counter(),
    imageCount: counter(),
    imageBytes: counter(),
    keyCount: counter(),
    /** Milliseconds since 1970. The row of a withdrawn member holds no personal data, and is deleted last. */
    withdrawnAt: integer(),
    /**
     * Incremented by each reset of the password and change of e-mail address, which voids the codes mailed before it.
     */
    credentialsVersion: counter(),
    /**
     * Milliseconds since 1970. A blocked member's sessions and access tokens are set aside: scripts/members/block.ts.
     */
    blockedAt: integer(),
    /** Quotas that an operator has set for the member: OWN_QUOTAS. */
    maxBooks: integer(),
    maxTextBytes: integer(),
    maxImageBytes: integer(),
    /** An IANA name. Null for that of the service. */
    timeZone: text(),
  },
  (member) => [
    uniqueIndex('members_email').on(sql`lower(${member.email})`),
    check('members_created_at', isTimestamp(member.createdAt)),
    check('members_updated_at', isTimestamp(member.updatedAt)),
  ],
)

export const ownerId = () =>
  integer()
    .notNull()
    .references(() => members.memberId, { onDelete: 'cascade' })

// Times in the tables below are milliseconds since 1970.

/** Logins that have not ended. A trigger keeps the newest hundred of a member. WITHOUT ROWID. */
export const sessions = sqliteTable(
  'sessions',
  {
    memberId: ownerId(),
    /** A random UUID, so that the identifier of an ended session never comes back. */
    sessionId: text().notNull(),
    createdAt: integer().notNull(),
    renewedAt: integer().notNull(),
    /** When the last of its tokens expires. */
    expiresAt: integer().notNull(),
    device: text(),
    country: text(),
  },
  (session) => [
    primaryKey({ columns: [session.memberId, session.sessionId] }),
    index('sessions_by_expiry').on(session.expiresAt),
  ],
)

/** The condition of `links_by_tag`. */
const isByTag = sql.raw(`"tagId" is not null`)

/**
 * Tokens with limited access, which members create for scripts; and links, which show a part of the library. WITHOUT
 * ROWID.
 */
export const accessTokens = sqliteTable(
  'accessTokens',
  {
    /** SHA-256 of the token, or of the link's secret, in base64. */
    tokenHash: text().primaryKey(),
    memberId: ownerId(),
    /** A random UUID. */
    tokenId: text().notNull(),
    name: text().notNull(),
    /** The sum of the scopes' bits in contract.ts. */
    scopes: integer().notNull(),
    /** The first characters of the token. Empty for a link. */
    hint: text().notNull(),
    createdAt: integer().notNull(),
    expiresAt: integer(),
    /** The UTC day, counted from 1970. */
    lastUsedDay: integer(),
    /** Whether progress of the device begins unread books. */
    startsBooks: integer({ mode: 'boolean' }).notNull().default(false),
    /** What a link shows. This and the columns below are null for access tokens. */
    kind: text({ enum: LINK_KINDS }),
    bookStatus: text({ enum: BOOK_STATUSES }),
    /** A trigger deletes links with the tag, because its identifier may be reused. */
    tagId: integer(),
    year: integer(),
    /** Whether the link shows the member's name. */
    showName: integer({ mode: 'boolean' }),
  },
  (token) => [
    index('links_by_tag').on(token.memberId, token.tagId).where(isByTag),
    uniqueIndex('accessTokens_by_member').on(token.memberId, token.tokenId),
    index('accessTokens_by_expiry').on(token.expiresAt).where(sql.raw(`"expiresAt" is not null`)),
  ],
)

/**
 * What happened to a member's account. A trigger keeps the newest 500 failed logins and the newest 5,000 other entries.
 * As repeats on a day are merged, nobody can cause that many within 90 days. WITHOUT ROWID.
 */
export const activity = sqliteTable(
  'activity',
  {
    memberId: ownerId(),
    isFailedLogin: integer({ mode: 'boolean' }).notNull(),
    /** 1 … n among the member's failed logins or other entries. */
    entry: integer().notNull(),
    /** The last occurrence, if the entry counts several. */
    at: integer().notNull(),
    kind: text({ enum: ACTIVITY_KINDS }).notNull(),
    device: text(),
    country: text(),
    count: integer().notNull().default(1),
    /** Null if `count` is 1. */
    firstAt: integer(),
  },
  (entry) => [
    primaryKey({ columns: [entry.memberId, entry.isFailedLogin, entry.entry] }),
    index('activity_by_time').on(entry.at),
    check('activity_failed_login', sql`${entry.isFailedLogin} = (${entry.kind} = 'LOGIN_FAILED')`),
  ],
)

/** What operators did. It has no personal data, so that it outlives the member. Only in the database of slot 0. */
export const operatorLog = sqliteTable('operatorLog', {
  entryId: integer().primaryKey(),
  at: integer().notNull(),
  action: text().notNull(),
  memberId: integer().notNull(),
})

/** Withdrawn members whose books, memos or images may not all be deleted yet. */
export const purgeJobs = sqliteTable('purgeJobs', { memberId: integer().primaryKey(), createdAt: integer().notNull() })
