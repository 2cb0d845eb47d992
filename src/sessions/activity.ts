import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller, selectCaller } from '../db/caller'
import { type Db, sqlStatement, statement } from '../db/client'
import { activity } from '../db/schema'
import { toInstant } from '../schema/values'
import type { Activity } from './responses'

const { placeholder } = sql

/** Where a request comes from, as entries of the activity show it. */
export type Origin = { device: string | null; country: string | null }

/** The most entries of a member. A trigger deletes older ones. */
export const MAX_ENTRIES = 1000

const DAYS_KEPT = 90
const KEPT_MS = DAYS_KEPT * 86_400_000

const insertEntry = (kind: Activity['kind'], member: SQL) => {
  const isFailedLogin = sql.raw(kind === 'LOGIN_FAILED' ? '1' : '0')
  return sqlStatement<{ entry: number }>(
    () => sql`
    insert into activity (memberId, isFailedLogin, entry, at, kind, device, country)
    select id, ${isFailedLogin}, 1 + coalesce((select max(entry) from activity where memberId = id and isFailedLogin = ${isFailedLogin}), 0),
      ${placeholder('at')}, ${sql.raw(`'${kind}'`)}, ${placeholder('device')}, ${placeholder('country')}
    from (select ${member} as id) where id is not null
    returning entry`,
  )
}

/**
 * Builds the statement that adds an entry. For the caller's own activity, run it before the session is deleted.
 * @param member SQL for the member's id. If it is null, nothing is added
 */
export const recordActivity = (kind: Activity['kind'], member: SQL) => {
  const insert = insertEntry(kind, member)
  return ({ device, country }: Origin, values: Record<string, unknown> = {}) =>
    insert({ ...values, device, country, at: Date.now() })
}

const selectEntries = sqlStatement<{
  at: number
  kind: Activity['kind']
  device: string | null
  country: string | null
}>(
  () => sql`
  select at, kind, device, country from activity
  where memberId = ${callerId} and at > ${placeholder('since')}
  order by at desc, entry desc`,
)

/** What happened to the caller's account in the last 90 days, newest first. */
export const listActivity = async (db: Db, caller: Caller, now = Date.now()): Promise<Activity[]> => {
  const [, entries] = await runAsCaller(db, caller, selectCaller(), selectEntries({ since: now - KEPT_MS }))
  return entries.map((entry) => ({ ...entry, at: toInstant(entry.at) }))
}

export const deleteOwnActivity = statement((db) =>
  db.delete(activity).where(sql`${activity.memberId} = ${callerId}`).returning({ entry: activity.entry }),
)
/** Deletes entries that are no longer listed, oldest first. */
export const deleteOldActivity = sqlStatement<{ entry: number }>(
  () => sql`
  delete from activity where (memberId, isFailedLogin, entry) in (
    select memberId, isFailedLogin, entry from activity where at < ${placeholder('now')} - ${sql.raw(String(KEPT_MS))}
    order by at limit ${placeholder('limit')}
  ) returning entry`,
)
