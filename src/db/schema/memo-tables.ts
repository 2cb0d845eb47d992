import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { IMAGE_TYPES, MEMO_AUTHORITIES, MEMO_TYPES } from '../../values/contract'
import { books } from './book-tables'
import { counter, isOneOf, isPage, isTimestamp } from './column-rules'
import { ownerId } from './member-tables'

/** The condition of the index of public memos. */
export const isPublic = sql.raw(`"memoAuthority" = 'PUBLIC'`)

/** The folded content, as `fold` in fold.ts returns it. */
export const contentKey = sql.raw(`coalesce("contentFolded", lower("memoContent"))`)

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
    /** `toFoldedMemo` of the content, for search. */
    contentFolded: text(),
    /** New with each insert and update. */
    version: counter(),
    /** The import that wrote the text, and the version that it gave the memo: another one has been edited since. */
    importId: integer(),
    importVersion: integer(),
    /** The format and column of a file that has one such text for each book, such as a review, or the key of a highlight. */
    importSource: text(),
  },
  (memo) => [
    index('memos_newest_first').on(memo.memberId),
    index('memos_by_time').on(memo.memberId, memo.createdAt),
    index('memos_public').on(memo.memberId).where(isPublic),
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

/**
 * The images in the bucket. Images uploaded before this table existed have a row only if `npm run db -- verify
 * --repair` added it.
 */
export const images = sqliteTable(
  'images',
  {
    imageId: integer().primaryKey(),
    memberId: ownerId(),
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
