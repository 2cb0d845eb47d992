import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { MARKS, type Mark, marksOf, parseMark, toMark } from '../../src/values/marks.ts'
import { OWN_QUOTAS, type OwnQuota } from '../../src/values/quotas.ts'
import { blockMember, unblockMember } from '../members/block.ts'
import { removeImage } from '../members/take-down.ts'
import { mainOf, queryAll } from '../slots/compare.ts'
import { idsOf } from '../slots/table.ts'
import { lastSignUp, listObjects } from './objects.ts'
import type { OpenSlot } from './stores.ts'
import { type DatedMark, repeatWithdrawals } from './withdrawals.ts'

// Repeats what marks in the bucket say, in a database that was restored: docs/decisions/0041-backups.md.

const PAGE = 500

/** All marks, oldest first. @param timeZone that of the service */
export const readMarks = async (bucket: R2Bucket, timeZone: string) => {
  const marks: DatedMark[] = []
  for await (const objects of listObjects(bucket, { prefix: MARKS }))
    for (const { key } of objects) {
      const mark = parseMark(key)
      if (mark) marks.push({ ...mark, lastSignUp: lastSignUp(timeZone, mark.at) })
    }
  return marks
}

/** Whether a bucket has a mark that is newer than a time, in milliseconds since 1970. */
export const hasNewerMark = async (bucket: R2Bucket, at: number) =>
  (await bucket.list({ prefix: MARKS, startAfter: marksOf(at), limit: 1 })).objects.length > 0

const INSERT_ENTRIES = `insert into operatorLog (at, action, memberId)
  select value ->> 'at', value ->> 'action', value ->> 'memberId' from json_each(?1) where not exists (
    select 1 from operatorLog where at = value ->> 'at' and action = value ->> 'action' and memberId = value ->> 'memberId')
  returning entryId`

/** Adds the entries that the log of operators has lost. Returns how many. */
export const repeatEntries = async (slots: OpenSlot[], marks: DatedMark[]) => {
  const entries = marks.filter(({ kind }) => kind === 'operator')
  let added = 0
  for (let at = 0; at < entries.length; at += PAGE)
    added += (await queryAll(mainOf(slots), INSERT_ENTRIES, JSON.stringify(entries.slice(at, at + PAGE)))).length
  return added
}

/** Whether the mark `?1` concerns the member who has the identifier now. */
const IS_MEMBER = `memberId = ?1 ->> 'memberId' and memberId in (
  select memberId from members where memberId = ?1 ->> 'memberId' and withdrawnAt is null and createdAt <= ?1 ->> 'lastSignUp')`
const endAll = (table: string) => `delete from ${table} where ${IS_MEMBER} and createdAt <= ?1 ->> 'at'`

const runAll = async (database: D1Database, mark: DatedMark & { linkId?: string }, queries: string[]) => {
  const results = await database.batch(queries.map((query) => database.prepare(query).bind(JSON.stringify(mark))))
  return results.some(({ meta }) => meta.changes > 0)
}

/** A slot whose database was restored, with the bucket. `timeZone`: the service's. */
type Restored = OpenSlot & { bucket: R2Bucket; timeZone: string }
/** Returns whether it changed something. */
type Repeat = (restored: Restored, mark: DatedMark) => Promise<boolean>
type ReportFailure = (line: string) => void

/** Repeats a mark. A failure is reported, so that those after it are repeated, and a restore completes. */
const repeatOrReport = async (mark: DatedMark, report: ReportFailure, repeat: () => Promise<boolean>) =>
  repeat().catch((error) => {
    report(`${toMark(mark)}: not repeated: ${error instanceof Error ? error.message : error}`)
    return false
  })

/** The last block or unblock of a member counts. */
const repeatBlock =
  (isBlocked: boolean): Repeat =>
  async ({ database }, mark) => {
    const query = `select 1 from members where ${IS_MEMBER} and (blockedAt is null) = ?2`
    const isOther = (await queryAll(database, query, JSON.stringify(mark), Number(isBlocked))).length > 0
    if (isOther) await (isBlocked ? blockMember : unblockMember)(database, mark.memberId)
    return isOther
  }

const repeatQuota =
  (setting: string): Repeat =>
  ({ database }, mark) => {
    const [name, value] = setting.split('=')
    const column = OWN_QUOTAS[name as OwnQuota]
    return runAll(database, mark, [
      `update members set ${column} = ${value} where ${IS_MEMBER} and ${column} is not ${value}`,
    ])
  }

const endSessions: Repeat = ({ database }, mark) => runAll(database, mark, ['sessions', 'accessTokens'].map(endAll))
const deleteLink =
  (linkId: string): Repeat =>
  ({ database }, mark) => {
    const query = `delete from accessTokens where ${IS_MEMBER} and tokenId = ?1 ->> 'linkId' and kind is not null`
    return runAll(database, { ...mark, linkId }, [query])
  }
/** Its name is random: another member has no image of the same name. */
const takeDownImage =
  (name: string): Repeat =>
  (restored, { memberId }) =>
    removeImage({ ...restored, memberId, name })

const QUOTA = new RegExp(`^(?:${Object.keys(OWN_QUOTAS).join('|')})=(?:\\d{1,15}|null)$`)

/** What an action of an operator changes, by name: the last of each name counts. */
const listChanges = ({ action = '' }: Mark): [name: string, repeat: Repeat][] => {
  const [command = '', ...values] = action.split(' ')
  if (command === 'block' || command === 'unblock') return [['block', repeatBlock(command === 'block')]]
  if (command === 'end-sessions') return [[command, endSessions]]
  if (command === 'delete-link') return [[action, deleteLink(values.join(' '))]]
  if (command === 'take-down') {
    const [kind, id = ''] = values
    return [[`${kind} ${id}`, kind === 'image' ? takeDownImage(id) : deleteLink(id)]]
  }
  if (command !== 'quota') return []
  return values.filter((value) => QUOTA.test(value)).map((value) => [String(value.split('=')[0]), repeatQuota(value)])
}

const repeatActions = async (restored: Restored, marks: DatedMark[], report: ReportFailure) => {
  const last = new Map<string, { mark: DatedMark; repeat: Repeat }>()
  for (const mark of marks.filter(({ kind }) => kind === 'operator'))
    for (const [name, repeat] of listChanges(mark)) last.set(`${mark.memberId} ${name}`, { mark, repeat })
  let repeated = 0
  for (const { mark, repeat } of last.values())
    repeated += Number(await repeatOrReport(mark, report, () => repeat(restored, mark)))
  return repeated
}

/** An entry of the activity is written with the password, a moment before its mark. */
const LATEST_MARK_MS = 10_000
const LACKS_PASSWORD = `not exists (select 1 from activity where memberId = ?1 ->> 'memberId'
  and kind in ('PASSWORD_CHANGED', 'PASSWORD_RESET', 'EMAIL_RESTORED') and at >= (?1 ->> 'at') - ${LATEST_MARK_MS})`
/** The password that the member has replaced is deleted, as an undo of a change of e-mail does. */
const FORGET_PASSWORD = [
  endAll('sessions'),
  `${endAll('accessTokens')} and kind is null`,
  `update members set passwordHash = '', credentialsVersion = credentialsVersion + 1 where ${IS_MEMBER} and passwordHash <> ''`,
].map((query) => `${query} and ${LACKS_PASSWORD}`)

/** Marks older than the newest activity, which all logins write, were made before the backup. */
const repeatPasswords = async (database: D1Database, marks: DatedMark[], report: ReportFailure) => {
  const [newest] = await queryAll<{ at: number | null }>(database, 'select max(at) as at from activity')
  let repeated = 0
  for (const mark of marks.filter(({ kind, at }) => kind === 'password' && at > (newest?.at ?? 0)))
    repeated += Number(await repeatOrReport(mark, report, () => runAll(database, mark, FORGET_PASSWORD)))
  return repeated
}

/** Repeats in the database of a slot what marks say of its members. Returns how many of each kind changed something. */
export const repeatMarks = async (restored: Restored, marks: DatedMark[], report: ReportFailure) => {
  const { slot, database } = restored
  const { first, last } = idsOf(slot)
  const own = marks.filter(({ memberId }) => memberId >= first && memberId <= last)
  const withdrawn = own.filter(({ kind }) => kind === 'withdrawn')
  return {
    'withdrawals repeated': await repeatWithdrawals(database, withdrawn),
    'actions of operators repeated': await repeatActions(restored, own, report),
    'passwords to be reset': await repeatPasswords(database, own, report),
  }
}
