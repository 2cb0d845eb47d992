import { sql } from 'drizzle-orm'
import { sqlStatement } from '../../../db/client'
import { members } from '../../../db/schema/member-tables'

// Expressions that the statements of a chunk share. An import runs without a session, so all statements are scoped to the
// member by `memberId`. Arrays are JSON parameters, because D1 allows a hundred parameters per statement.

const { placeholder } = sql

export const memberId = placeholder('memberId')
export const importId = placeholder('importId')
const isImport = sql`memberId = ${memberId} and importId = ${importId}`
/** Whether the chunk was claimed by this run, which `claimChunk` does first. */
export const isClaimed = sql`exists (
  select 1 from imports where ${isImport} and done = ${placeholder('done')} and lease = ${placeholder('lease')}
)`
const bookCount = sql`${members.yetBooks} + ${members.ingBooks} + ${members.doneBooks}`

/**
 * Claims the rows of a chunk for this run, so that no other run can commit them, and counts their outcomes. Returns no row if
 * another run has taken over, the import was cancelled, the member has withdrawn, or the chunk would exceed a quota.
 */
export const claimChunk = sqlStatement<{ done: number }>(
  () => sql`
  update imports set
    done = ${placeholder('done')}, leaseEndsAt = ${placeholder('leaseEndsAt')}, continuations = 0,
    created = created + ${placeholder('created')}, updated = updated + ${placeholder('updated')},
    unchanged = unchanged + ${placeholder('unchanged')}, skipped = skipped + ${placeholder('skipped')},
    failed = failed + ${placeholder('failed')},
    status = iif(${placeholder('done')} = total, 'DONE', status)
  where ${isImport} and done = ${placeholder('doneBefore')} and lease = ${placeholder('lease')} and status = 'RUNNING'
    and isDeleted = 0
    and exists (
      select 1 from ${members} where ${members.memberId} = ${memberId} and ${members.withdrawnAt} is null
        and (${placeholder('newBooks')} = 0 or ${bookCount} + ${placeholder('newBooks')} <= ${placeholder('MAX_BOOKS')})
        and (
          ${placeholder('bytes')} = 0
          or ${members.textBytes} + ${placeholder('bytes')} <= ${placeholder('MAX_MEMBER_TEXT_BYTES')}
        )
    )
  returning done`,
)

export const each = (name: string) => sql`json_each(${placeholder(name)}) as item`
export const value = (name: string) => sql.raw(`item.value ->> '${name}'`)
/**
 * The row of the report to which an item belongs, with the identifier of the book. Use it with CROSS JOIN, which fixes the
 * order of the tables: otherwise, SQLite may parse the JSON once per row.
 */
export const row = sql`importRows on importRows.memberId = ${memberId} and importRows.importId = ${importId} and importRows.row = ${value('row')}`
