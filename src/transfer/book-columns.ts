import { type SQL, sql } from 'drizzle-orm'
import { ofBook } from '../db/own-book'
import type { books } from '../db/schema/book-tables'
import { fieldsOf } from '../values/book-fields'
import { BOOK_STATUSES } from '../values/contract'

// Columns of a book, and SQL for its tags and progress, that imports, exports and the feed of changes share.

export const BOOK_COLUMNS = fieldsOf('export')
export type BookColumns = Pick<typeof books.$inferSelect, (typeof BOOK_COLUMNS)[number]>

/** The bytes of the texts of a book. */
export const bookTextBytes = sql.raw(`octet_length(concat(${fieldsOf('text').join(', ')}))`)

export const bookColumns = sql.raw(BOOK_COLUMNS.map((name) => `books.${name}`).join(', '))
/** No index lists a member's books by bookId, but one lists those of a status: SQLite merges a `union all` of them. */
export const STATUS_CONDITIONS = BOOK_STATUSES.map((status) => sql.raw(`bookStatus = '${status}'`))
/** The text of a memo of a book, as one value: for NOT IN with a row of two, SQLite compares each with all others. */
export const memoKey = (bookId: SQL, content: SQL) => sql`(${bookId}) || ' ' || (${content})`
/** The tags of a book, after `from`. */
export const tagRowsOfBook = sql`bookTags cross join tags using (memberId, tagId) where ${ofBook('bookTags')}`
