import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement, type Values } from '../../db/client'
import { ACTIVITY_KINDS } from '../../values/contract'
import { toInstant } from '../../values/fields'
import { DAY_MS } from '../../values/time'
import type { Activity } from './responses'

/** Where a request comes from. Entries of the activity show device and country. */
export type Origin = { network: string; device: string | null; country: string | null }

const DAYS_KEPT = 90
const KEPT_MS = DAYS_KEPT * DAY_MS

/** The most entries of a kind on a UTC day that differ in device or country. Others become one with neither. */
const ORIGINS_PER_DAY = 5
/** How many entries to search for those of the day: as many as a day can have. */
const NEWEST = ACTIVITY_KINDS.length * (ORIGINS_PER_DAY + 1)

const insertFailure = (member: SQL) =>
  sqlStatement`
    insert into activity (memberId, isFailedLogin, entry, at, kind, device, country)
    select id, 1, 1 + coalesce((select max(entry) from activity where memberId = id and isFailedLogin = 1), 0),
      :at, 'LOGIN_FAILED', :device, :country
    from (select ${member} as id) where id is not null`

// Repeats are merged, so that nobody can use them to push out other entries within the 90 days. Entries are numbered by
// their first occurrence, so those of the day are among the newest.
const mergeEntry = (kind: Activity['kind'], member: SQL) =>
  sqlStatement`
    insert into activity (memberId, isFailedLogin, entry, at, kind, device, country)
    with owner as materialized (select ${member} as id),
      today as materialized (
        select entry, device, country from (
          select entry, at, kind, device, country from activity
          where memberId = (select id from owner) and isFailedLogin = 0
          order by entry desc limit ${sql.raw(String(NEWEST))}
        ) where kind = ${sql.raw(`'${kind}'`)} and at >= :dayStart
      ),
      origin as (
        select :device as device, :country as country
        where ${sql.raw(String(ORIGINS_PER_DAY))} > (
          select count(*) from today
          where (device, country) is not (null, null) and (device, country) is not (:device, :country)
        )
        union all select null, null limit 1
      )
    select id, 0,
      coalesce(
        (select entry from today where (today.device, today.country) is (origin.device, origin.country)),
        1 + coalesce((select max(entry) from activity where memberId = id and isFailedLogin = 0), 0)
      ),
      :at, ${sql.raw(`'${kind}'`)}, device, country
    from owner, origin where id is not null
    on conflict do update set count = count + 1, firstAt = coalesce(firstAt, at), at = max(at, excluded.at)`

/**
 * Builds the statement that adds an entry, or counts a repeat: the same kind, device and country on the same UTC day.
 * For the caller's own activity, run it before the session is deleted.
 * @param member SQL for the member's id. If it is null, nothing is added
 */
export const recordActivity = (kind: Activity['kind'], member: SQL) => {
  const insert = kind === 'LOGIN_FAILED' ? insertFailure(member) : mergeEntry(kind, member)
  return ({ device, country }: Origin, values: Values = {}) => {
    const at = Date.now()
    return insert({ ...values, device, country, at, dayStart: at - (at % DAY_MS) })
  }
}

/** Builds a function that deletes the caller's matching rows and adds one entry; undefined if none matched. */
export const deleteAndRecord = (kind: Activity['kind'], table: 'sessions' | 'accessTokens', condition: SQL) => {
  const name = sql.raw(table)
  const isMatch = sql`memberId = ${callerId} and ${condition}`
  const record = recordActivity(kind, sql`(select memberId from ${name} where ${isMatch} limit 1)`)
  const remove = sqlStatement<{ memberId: number }>`delete from ${name} where ${isMatch} returning memberId`
  return async (db: Db, caller: Caller, origin: Origin, values: Values = {}) => {
    const statements = { activity: record(origin, values), deleted: firstRow(remove(values)) }
    const { deleted } = await runAsCaller(db, caller, statements)
    return deleted
  }
}

const selectEntries = sqlStatement<Omit<Activity, 'at' | 'firstAt'> & { at: number; firstAt: number }>`
  select at, coalesce(firstAt, at) as firstAt, count, kind, device, country from activity
  where memberId = ${callerId} and at > :since
  order by at desc, entry desc`

/** What happened to the caller's account in the last 90 days, newest first. */
export const listActivity = async (db: Db, caller: Caller, now = Date.now()): Promise<Activity[]> => {
  const { entries } = await runAsCaller(db, caller, { entries: selectEntries({ since: now - KEPT_MS }) })
  return entries.map((entry) => ({ ...entry, at: toInstant(entry.at), firstAt: toInstant(entry.firstAt) }))
}

export const deleteOwnActivity = sqlStatement`delete from activity where memberId = ${callerId}`
/** Deletes entries that are no longer listed, oldest first. */
export const deleteOldActivity = sqlStatement`
  delete from activity where (memberId, isFailedLogin, entry) in (
    select memberId, isFailedLogin, entry from activity where at < :now - ${sql.raw(String(KEPT_MS))}
    order by at limit :limit
  )`
