import { sql } from 'drizzle-orm'
import { isWithMemos } from '../db/schema'

/** What an export contains: everything, the books with their readings, or the books with their memos. */
export type Contents = 'library' | 'books' | 'memos'

const ofBook = sql.raw('memberId = books.memberId and bookId = books.bookId')
const text = sql.raw('octet_length(concat(title, cover, author, publisher, language, series, sourceIds))')
const tags = sql`(select count(*) from bookTags where ${ofBook})`
const memos = sql.raw('memoBytes + 240 * memoCount')
const notes = sql`(select coalesce(sum(220 + octet_length(concat(note))), 0) from readings where ${ofBook})`
// The latest event has the number of all events.
const events = sql`coalesce((select total from progress where ${ofBook} order by at desc limit 1), 0)`

/** Of a book without anything. No part has more books than a file that can be imported may have: 10,000. */
const book = sql`840`

/**
 * The approximate size of a book in a file, in bytes: its texts in UTF-8, and a fixed number for the rest of each row. The
 * names of tables in the expressions are those of a query on `books`.
 */
export const SIZES = {
  library: {
    bytes: sql`${book} + ${text} + 64 * ${tags} + ${memos} + ${notes} + 70 * ${events}`,
    isIncluded: sql`true`,
  },
  books: { bytes: sql`${book} + ${text} + 64 * ${tags} + ${notes}`, isIncluded: sql`true` },
  memos: { bytes: sql`100 + ${text} + ${memos}`, isIncluded: isWithMemos },
} satisfies Record<Contents, object>
