import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { ERASED, MARKS, parseMark } from '../../src/values/withdrawal.ts'
import { idsOf } from '../slots/table.ts'
import { listRanges } from './integrity.ts'
import { lastSignUp, listObjects } from './objects.ts'

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

/**
 * Withdraws those members of a slot again who had withdrawn, as marks in the bucket say. Returns how many.
 * @param timeZone that of the service
 */
export const repeatWithdrawals = async (database: D1Database, slot: number, bucket: R2Bucket, timeZone: string) => {
  const { first, last } = idsOf(slot)
  let repeated = 0
  for await (const objects of listObjects(bucket, { prefix: MARKS })) {
    const marks = objects.map(({ key }) => parseMark(key)).filter((mark) => mark !== undefined)
    const own = marks
      .filter(({ memberId }) => memberId >= first && memberId <= last)
      .map(({ memberId, at }) => ({ memberId, lastSignUp: lastSignUp(timeZone, at) }))
    const statements = WITHDRAW.map((query) => database.prepare(query).bind(JSON.stringify(own)))
    const results = own.length > 0 ? await database.batch(statements) : []
    repeated += results.at(-1)?.results.length ?? 0
  }
  return repeated
}
