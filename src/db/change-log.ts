import { type SQL, sql } from 'drizzle-orm'
import type { ChangesPosition } from '../values/cursor'
import { currentId } from './schema/shown-reading'

/** The most entries that the condition reads. It is in each of the three statements that put a book into the trash. */
export const MAX_READ_CHANGES = 6000

const ofOwner = sql.raw('from changes where changes.memberId = books.memberId')
const hasEntry = (seq: SQL, more = sql``) => sql`exists (select 1 ${ofOwner} and seq = ${seq} ${more})`
/** Whether an entry is about the book, or one of its memos or readings. Its tags and progress have entries of the book. */
const isOfBook = sql`case kind
  when 1 then id = :bookId
  when 2 then id in (select memoId from memos where bookId = :bookId)
  when 4 then id in (
    select readingId from readings where bookId = :bookId
    union all select ${sql.raw(currentId())} from books where bookId = :bookId
  )
end`

/**
 * Matches the row of the book `:bookId` unless it, or anything of it that exists, has changed since a cursor; also if the
 * log does not prove the cursor, or does not go back to it. Follows the condition that the book is the caller's.
 */
// CASE fixes the order: only a proven cursor reads the entries since then. The log has no gaps.
export const isUnchanged = sql`case
  when :seen is null then 1
  when not ${hasEntry(sql`:visible`, sql`and proof = :proof`)} then 0
  when not ${hasEntry(sql`min(:seen + 1, :visible)`)} then 0
  when ${hasEntry(sql`:seen + ${sql.raw(String(MAX_READ_CHANGES + 1))}`)} then 0
  else not exists (select 1 ${ofOwner} and seq > :seen and ${isOfBook})
end`

/** No log has an entry 0. */
const UNPROVEN = { seen: 0, visible: 0, proof: 0 }
/** The parameters of `isUnchanged`. A cursor of the first sync proves nothing: its client does not have everything yet. */
export const toUnchangedSince = (cursor: ChangesPosition | undefined) => {
  if (cursor?.s) return UNPROVEN
  return { seen: cursor?.c ?? null, visible: cursor?.t ?? null, proof: cursor ? Number(cursor.p) : null }
}
