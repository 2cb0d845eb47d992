import { sql } from 'drizzle-orm'
import {
  type AnySQLiteColumn,
  blob,
  check,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import {
  ACTIVITY_KINDS,
  BOOK_FORMATS,
  BOOK_STATUSES,
  IMAGE_TYPES,
  MAX_INT,
  MEMO_AUTHORITIES,
  MEMO_TYPES,
} from '../values/contract'

// Column names are the contract's field names, so that a selected row is the JSON response.
// Triggers (triggers.sql) maintain the counters (…Books, …Memos, memoCount, imageCount, hasMemos, …Bytes), the positions and
// retiredIds.

const literals = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(', '))
export const isOneOf = (column: AnySQLiteColumn, values: readonly string[]) => sql`${column} in (${literals(values)})`
export const isPage = (column: AnySQLiteColumn) => sql`${column} between 0 and ${sql.raw(String(MAX_INT))}`
// IS rather than =: strftime returns null for an invalid date, and a CHECK accepts null.
const isTimestamp = (column: AnySQLiteColumn) => sql`${column} is strftime('%Y-%m-%dT%H:%M:%S', ${column})`
const counter = () => integer().notNull().default(0)

export const members = sqliteTable(
  'members',
  {
    memberId: integer().primaryKey({ autoIncrement: true }),
    email: text().notNull(),
    name: text().notNull(),
    passwordHash: text().notNull(),
    /** Unused, like keptTokenId, since sessions replaced them. A later release may drop both columns. */
    tokenVersion: integer().notNull().default(0),
    keptTokenId: text(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    yetBooks: counter(),
    ingBooks: counter(),
    doneBooks: counter(),
    finishedBooks: counter(),
    memoBooks: counter(),
    /** UTF-8 bytes of the member's memos, of the notes on readings, and of the texts of the books. */
    textBytes: counter(),
    imageCount: counter(),
    imageBytes: counter(),
    /** Milliseconds since 1970. The row of a withdrawn member holds no personal data, and is deleted last. */
    withdrawnAt: integer(),
    /** Incremented by each reset of the password and change of e-mail address, which voids the codes mailed before it. */
    credentialsVersion: counter(),
  },
  (member) => [
    uniqueIndex('members_email').on(sql`lower(${member.email})`),
    check('members_created_at', isTimestamp(member.createdAt)),
    check('members_updated_at', isTimestamp(member.updatedAt)),
  ],
)

// Times in the next five tables are milliseconds since 1970. The migration creates some WITHOUT ROWID, which Drizzle cannot
// express.

export const ownerId = () =>
  integer()
    .notNull()
    .references(() => members.memberId, { onDelete: 'cascade' })

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

/** Tokens with limited access, which members create for scripts. WITHOUT ROWID. */
export const accessTokens = sqliteTable(
  'accessTokens',
  {
    /** SHA-256 of the token, in base64. */
    tokenHash: text().primaryKey(),
    memberId: ownerId(),
    /** A random UUID. */
    tokenId: text().notNull(),
    name: text().notNull(),
    /** The sum of the scopes' bits in contract.ts. */
    scopes: integer().notNull(),
    /** The first characters of the token. */
    hint: text().notNull(),
    createdAt: integer().notNull(),
    expiresAt: integer(),
    /** The UTC day, counted from 1970. */
    lastUsedDay: integer(),
  },
  (token) => [
    uniqueIndex('accessTokens_by_member').on(token.memberId, token.tokenId),
    index('accessTokens_by_expiry').on(token.expiresAt).where(sql.raw(`"expiresAt" is not null`)),
  ],
)

/**
 * What happened to a member's account. A trigger keeps the newest 500 failed logins and the newest 5,000 other entries. As
 * repeats on a day are merged, nobody can cause that many within 90 days. WITHOUT ROWID.
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
    issuedAt: integer().notNull(),
    expiresAt: integer().notNull(),
  },
  (code) => [index('accountCodes_by_subject').on(code.subject), index('accountCodes_by_expiry').on(code.expiresAt)],
)

/** The conditions of the partial indexes. SQLite uses such an index only for a query with the same condition. */
export const isFinished = sql.raw(`"bookStatus" = 'DONE' and "readEndDate" is not null`)
export const isUnread = sql.raw(`"bookStatus" = 'YET'`)
export const isWithMemos = sql.raw(`"hasMemos" = 1`)
export const hasAuthor = sql.raw(`"author" is not null`)
export const isRated = sql.raw(`"star" > 0`)
export const hasIsbn = sql.raw(`"isbn" is not null`)

// Folded texts, as `fold` in fold.ts returns them. The first two are indexed.
export const titleKey = sql.raw(`coalesce("titleFolded", lower("title"))`)
export const authorKey = sql.raw(`coalesce("authorFolded", lower("author"))`)
export const contentKey = sql.raw(`coalesce("contentFolded", lower("memoContent"))`)

export const books = sqliteTable(
  'books',
  {
    bookId: integer().primaryKey(),
    memberId: integer()
      .notNull()
      .references(() => members.memberId, { onDelete: 'cascade' }),
    title: text().notNull(),
    cover: text(),
    author: text(),
    publisher: text(),
    createdAt: text().notNull(),
    star: integer().notNull().default(0),
    currentPage: integer().notNull().default(0),
    itemPage: integer(),
    bookStatus: text({ enum: BOOK_STATUSES }).notNull().default('YET'),
    readStartDate: text(),
    readEndDate: text(),
    contentMemos: counter(),
    summaryMemos: counter(),
    thoughtMemos: counter(),
    questionMemos: counter(),
    memoCount: counter(),
    /** 1 while memoCount > 0. Unlike memoCount, it does not change with every memo, so the index on it is rarely written. */
    hasMemos: counter(),
    /** UTF-8 bytes of the book's memos. */
    memoBytes: counter(),
    /** `toFoldedColumn` of title and author, for search and sorting. */
    titleFolded: text(),
    authorFolded: text(),
    /** ISBN-13 without hyphens. */
    isbn: text(),
    language: text(),
    format: text({ enum: BOOK_FORMATS }),
    publishedYear: integer(),
    series: text(),
    seriesNumber: real(),
    /** A JSON array of strings such as `goodreads:123`. Null if there are none. */
    sourceIds: text(),
    /** Null if the book has no row in `readings`: its own status and dates are then its only reading, if it has any. */
    newestReadingId: integer(),
  },
  (book) => [
    index('books_by_status').on(book.memberId, book.bookStatus),
    index('books_finished').on(book.memberId, book.readEndDate).where(isFinished),
    index('books_unread').on(book.memberId, book.createdAt).where(isUnread),
    index('books_with_memos').on(book.memberId).where(isWithMemos),
    index('books_by_title').on(book.memberId, titleKey),
    index('books_by_author').on(book.memberId, authorKey).where(hasAuthor),
    index('books_by_star').on(book.memberId, book.star).where(isRated),
    index('books_by_isbn').on(book.memberId, book.isbn).where(hasIsbn),
    check('books_status', isOneOf(book.bookStatus, BOOK_STATUSES)),
    check('books_star', sql`${book.star} between 0 and 5`),
    check('books_current_page', isPage(book.currentPage)),
    check('books_item_page', isPage(book.itemPage)),
    check('books_created_at', isTimestamp(book.createdAt)),
    check('books_read_start_date', isTimestamp(book.readStartDate)),
    check('books_read_end_date', isTimestamp(book.readEndDate)),
    check(
      'books_memo_count',
      sql`${book.memoCount} = ${book.contentMemos} + ${book.summaryMemos} + ${book.thoughtMemos} + ${book.questionMemos}`,
    ),
    check(
      'books_memo_counts',
      sql`min(${book.contentMemos}, ${book.summaryMemos}, ${book.thoughtMemos}, ${book.questionMemos}) >= 0`,
    ),
    check('books_has_memos', sql`${book.hasMemos} = (${book.memoCount} > 0)`),
  ],
)

export const memos = sqliteTable(
  'memos',
  {
    memoId: integer().primaryKey(),
    bookId: integer()
      .notNull()
      .references(() => books.bookId, { onDelete: 'cascade' }),
    /** The book's owner, copied here so that queries need no join. */
    memberId: integer().notNull(),
    /** 1 … n without gaps among the member's memos, for the random draw. */
    position: integer().notNull(),
    memoType: text({ enum: MEMO_TYPES }).notNull(),
    memoContent: text().notNull(),
    memoBookPage: integer().notNull(),
    memoAuthority: text({ enum: MEMO_AUTHORITIES }).notNull(),
    memoLikesCount: counter(),
    createdAt: text().notNull(),
    updatedAt: text().notNull(),
    /** `toFoldedColumn` of the content, for search. */
    contentFolded: text(),
  },
  (memo) => [
    index('memos_newest_first').on(memo.memberId),
    index('memos_by_type').on(memo.bookId, memo.memoType),
    uniqueIndex('memos_by_position').on(memo.memberId, memo.position),
    check('memos_type', isOneOf(memo.memoType, MEMO_TYPES)),
    check('memos_authority', isOneOf(memo.memoAuthority, MEMO_AUTHORITIES)),
    check('memos_book_page', isPage(memo.memoBookPage)),
    check('memos_likes_count', sql`${memo.memoLikesCount} >= 0`),
    check('memos_created_at', isTimestamp(memo.createdAt)),
    check('memos_updated_at', isTimestamp(memo.updatedAt)),
  ],
)

/** The images in the bucket. Images uploaded before this table existed have one only if `npm run db -- images` added it. */
export const images = sqliteTable(
  'images',
  {
    imageId: integer().primaryKey(),
    memberId: integer()
      .notNull()
      .references(() => members.memberId, { onDelete: 'cascade' }),
    /** The last part of the object's key. */
    name: text().notNull(),
    type: text({ enum: IMAGE_TYPES }).notNull(),
    bytes: integer().notNull(),
    createdAt: text().notNull(),
  },
  (image) => [
    uniqueIndex('images_by_name').on(image.memberId, image.name),
    index('images_newest_first').on(image.memberId),
    check('images_bytes', sql`${image.bytes} > 0`),
    check('images_created_at', isTimestamp(image.createdAt)),
  ],
)

/** The highest deleted identifier of a table, so that identifiers are never reused. */
export const retiredIds = sqliteTable('retiredIds', {
  tableName: text().primaryKey(),
  id: integer().notNull(),
})

/** The last verification code that a network requested for an e-mail address. Times are milliseconds since 1970. */
export const joinCodes = sqliteTable(
  'joinCodes',
  {
    /** A keyed hash of e-mail address and network. */
    subject: text().primaryKey(),
    codeHash: text().notNull(),
    issuedAt: integer().notNull(),
    expiresAt: integer().notNull(),
    /** A keyed hash of the e-mail address. Null in rows written before this column was added. */
    address: text(),
  },
  (code) => [index('joinCodes_by_address').on(code.address)],
)

/** Mails with a code sent per UTC day. Days are counted from 1970. */
export const dailyMails = sqliteTable('dailyMails', {
  day: integer().primaryKey(),
  /** Mails with codes. */
  mails: integer().notNull(),
  /** Mails about new access tokens, counted apart so that they use up no codes. */
  tokenMails: integer().notNull().default(0),
})

/** Mails sent, codes tried and logins failed, for exact limits. The subject is a keyed hash of the action and its target. */
export const attempts = sqliteTable(
  'attempts',
  {
    attemptId: integer().primaryKey(),
    subject: text().notNull(),
    at: integer().notNull(),
  },
  (attempt) => [index('attempts_by_subject').on(attempt.subject, attempt.at)],
)

/** Withdrawn members whose books, memos or images may not all be deleted yet. */
export const purgeJobs = sqliteTable('purgeJobs', {
  memberId: integer().primaryKey(),
  createdAt: integer().notNull(),
})

// The tables below serve members in several databases (slots): docs/decisions/0021-slots.md.

/** RESERVED: the former address after a change of e-mail, which an undo may restore. */
const ADDRESS_STATES = ['CLAIMED', 'HELD', 'RESERVED'] as const

/**
 * The directory: the e-mail addresses of members in slots other than 0. Only in the database of slot 0, and only as keyed
 * hashes. The migration creates it WITHOUT ROWID, which Drizzle cannot express.
 */
export const addresses = sqliteTable(
  'addresses',
  {
    /** 16 bytes of HMAC-SHA-256. */
    addressHash: blob().primaryKey(),
    memberId: integer().notNull(),
    slot: integer().notNull(),
    /** The flow that changed this entry last. Later changes are conditional on it, so that a late call changes nothing. */
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

/** The last claim id of each slot other than 0. Claim ids are never reused; that of a sign-up becomes the member's id. */
export const slotCounters = sqliteTable('slotCounters', {
  slot: integer().primaryKey(),
  lastClaimId: integer().notNull(),
})

/** Claims that can no longer take effect in this slot: settled ones, and those of withdrawn members. Kept for a day. */
export const settledClaims = sqliteTable('settledClaims', {
  claimId: integer().primaryKey(),
  settledAt: integer().notNull(),
})
