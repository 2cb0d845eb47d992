import { sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller } from '../../../db/caller'
import { idempotent, sqlStatement } from '../../../db/client'
import type { EntryMember } from '../../entries/entry'

/** Matches the import that the same batch creates. */
const isStarting = sql`imports.memberId = ${callerId} and file = :file`
const fillGoals = sqlStatement`
  insert into goals (memberId, year, metric, target)
  select imports.memberId, goal.value ->> 'year', goal.value ->> 'metric', goal.value ->> 'target'
  from imports cross join json_each(:goals) as goal
  where ${isStarting} and isDryRun = 0
  on conflict do update set metric = excluded.metric, target = excluded.target where :merge = 'overwrite'`
const fillTimeZone = sqlStatement`
  update members set timeZone = :timeZone
  where ${isCaller} and (timeZone is null or :merge = 'overwrite')
    and exists (select 1 from imports where ${isStarting} and isDryRun = 0)`

/** Stores what an export says of its member, together with the start of the import. An undo leaves it. */
export const storeMember = (
  caller: Caller,
  { timeZone, goals }: EntryMember = { timeZone: null, goals: [], unread: [] },
  values: { merge: string; file: string | null },
) => ({
  goals: goals.length > 0 ? idempotent(fillGoals({ ...values, goals: JSON.stringify(goals) })) : undefined,
  // A setting of the account, which access tokens cannot change.
  timeZone: timeZone && caller.kind === 'session' ? idempotent(fillTimeZone({ ...values, timeZone })) : undefined,
})
