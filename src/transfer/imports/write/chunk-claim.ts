import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../../db/client'
import { nextId } from '../../../db/next-id'
import { bookLimit, textLimit } from '../../../db/quotas'
import { books } from '../../../db/schema/book-tables'
import { members } from '../../../db/schema/member-tables'
import { IMPORT_OUTCOMES } from '../../../values/contract'
import { MAX_REPORT_BYTES } from '../../../values/prices'

// Expressions that the statements of a chunk share. An import runs without a session, so all statements are scoped to
// the member by `memberId`. Lists are JSON parameters, because D1 allows a hundred parameters per statement.

// In conditions on rows with an identifier, a unary plus keeps SQLite from reading all rows of the member: `+memberId =
// …`.
const isImport = sql`memberId = :memberId and importId = :importId`
/** Whether the chunk was claimed by this run, which `claimChunk` does first. */
export const isClaimed = sql`exists (select 1 from imports where ${isImport} and done = :done and lease = :lease)`
const bookCount = sql`${members.yetBooks} + ${members.ingBooks} + ${members.doneBooks}`
const addCounts = sql.raw(IMPORT_OUTCOMES.map((outcome) => `${outcome} = ${outcome} + :${outcome}`).join(', '))

/**
 * Claims the rows of a chunk for this run, so that no other run can commit them, and counts their outcomes. Returns no
 * row if another run has taken over, the import was cancelled, the member has withdrawn, the chunk would exceed a
 * quota, or the report already takes MAX_REPORT_BYTES.
 */
export const claimChunk = sqlStatement<{ done: number }>`
  update imports set
    done = :done, leaseEndsAt = :leaseEndsAt, continuations = 0, ${addCounts},
    status = iif(:done = total and :isWhole, 'DONE', status)
  where ${isImport} and done = :doneBefore and lease = :lease and status = 'RUNNING'
    and isDeleted = 0 and reportBytes < ${sql.raw(String(MAX_REPORT_BYTES))}
    and exists (
      select 1 from ${members} where ${members.memberId} = :memberId and ${members.withdrawnAt} is null
        and (:newBooks = 0 or ${bookCount} + :newBooks <= ${bookLimit})
        and (:bytes = 0 or ${members.textBytes} + :bytes <= ${textLimit})
    )
  returning done`

/** The items of a statement, as chunk-items.ts makes them. */
export const items = sql`json_each(:items) as item`
export const value = (name: string) => sql.raw(`item.value ->> '${name}'`)
export const jsonOf = (name: string) => sql.raw(`item.value -> '${name}'`)
export const values = (...names: string[]) => sql.join(names.map(value), sql`, `)
/** The last of the new books. Once they are inserted, no other book has a higher identifier. */
const lastBookId = sql`${nextId(books.bookId)} - 1`
/** The member's book to which an item belongs. */
export const itemBook = sql`books on books.memberId = :memberId
  and books.bookId = coalesce(${value('bookId')}, ${lastBookId} - ${value('newer')})`
/** Joined with CROSS JOIN, which fixes the order of the tables: otherwise, SQLite may parse the JSON once per row. */
export const itemsOfBooks = sql`${items} cross join ${itemBook}`
