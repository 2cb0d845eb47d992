import { type SQL, sql } from 'drizzle-orm'

/**
 * Selects the oldest entries of the trash whose deletion changes at most `most` rows: each its own row and that of its
 * member, and its parts.
 * @param entries selects `trashId`, `deletedAt`, `bytes` and `parts`
 * @param isWanted a condition; `freed`: what the older ones count
 */
export const oldestOf = (entries: SQL, most: number, isWanted = sql`true`) => sql`
  select trashId from (
    select *, sum(bytes) over oldest - bytes as freed, sum(2 + parts) over oldest as changes
    from (${entries} order by deletedAt, trashId limit ${sql.raw(String(Math.ceil(most / 2)))})
    window oldest as (order by deletedAt, trashId rows unbounded preceding)
  ) where changes <= ${sql.raw(String(most))} and ${isWanted}`
