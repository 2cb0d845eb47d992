import type { D1Database } from '@cloudflare/workers-types'
import { ERASED } from '../../src/db/withdrawal.ts'
import type { Mark } from '../../src/values/marks.ts'
import { listRanges } from './integrity.ts'

/** `lastSignUp`: a member who signed up after it has the identifier of another one, whom the mark concerns. */
export type DatedMark = Mark & { lastSignUp: string }

const INSERT = `
  insert into purgeJobs (memberId, createdAt)
  select memberId, ?3 from members
  where memberId between ?1 and ?2 and withdrawnAt is not null and memberId not in (select memberId from purgeJobs)
  returning memberId`

/**
 * Adds a job for each withdrawn member who has none, so that the sweep ends the withdrawal. Returns how many it added.
 */
export const addPurgeJobs = async (database: D1Database) => {
  const insert = database.prepare(INSERT)
  let added = 0
  for await (const { first, last } of listRanges(database)) {
    added += (await insert.bind(first, last, Date.now()).all()).results.length
  }
  return added
}

/** The listed members who have not withdrawn. A member who signed up after the withdrawal is another one. */
const LISTED = `memberId in (
  select memberId from json_each(?1) cross join members on memberId = value ->> 'memberId'
  where withdrawnAt is null and createdAt <= value ->> 'lastSignUp')`
/** As a withdrawal does. */
const WITHDRAW = [
  `insert or ignore into purgeJobs (memberId, createdAt) select memberId, unixepoch() * 1000 from members where ${LISTED}`,
  ...['sessions', 'accessTokens', 'activity', 'emailUndos'].map((table) => `delete from ${table} where ${LISTED}`),
  `update members set ${ERASED}, withdrawnAt = unixepoch() * 1000 where ${LISTED} returning memberId`,
]

const PAGE = 1000

/** Withdraws those members again whose withdrawal is marked. Returns how many. */
export const repeatWithdrawals = async (database: D1Database, marks: DatedMark[]) => {
  let repeated = 0
  for (let at = 0; at < marks.length; at += PAGE) {
    const list = JSON.stringify(marks.slice(at, at + PAGE))
    const results = await database.batch(WITHDRAW.map((query) => database.prepare(query).bind(list)))
    repeated += results.at(-1)?.results.length ?? 0
  }
  return repeated
}
