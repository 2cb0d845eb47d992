import { sql } from 'drizzle-orm'
import { deleteOldClaims, findAbandoned } from './accounts/addresses/claims'
import { releaseAddresses } from './accounts/addresses/directory'
import { settleClaims } from './accounts/addresses/settlement'
import { dayOf } from './accounts/codes/mail-limits'
import { type Budget, runPurgeJobs } from './accounts/members/purge'
import { deleteOldActivity } from './accounts/sessions/activity'
import { deleteExpiredSessions } from './accounts/sessions/store'
import { connect, type Db, run, sqlStatement } from './db/client'
import { deleteOldKeys } from './db/idempotency'
import { deleteAttemptsBefore, LONGEST_WINDOW_MS } from './db/limits/attempts'
import { type Bindings, configure } from './env'
import { deleteOldTrash } from './library/trash/store'
import { recordSweep } from './reference/health/store'
import { forEachConcurrent, MAX_CONNECTIONS } from './runtime/concurrently'
import { log, withLogFields } from './runtime/log'
import { databaseOf, databasesOf, type Slots } from './slots/slots'
import { deleteOldMarks } from './storage/bucket'
import { findSweepable, sweepImports } from './transfer/imports/sweep-imports'
import { HOUR_MS } from './values/time'

const deleteExpiredFrom = (table: string) => sqlStatement`delete from ${sql.raw(table)} where expiresAt < :now`
const EXPIRING = ['emailUndos', 'accessTokens'].map(deleteExpiredFrom)
/** Only slot 0 has rows of these tables. */
const EXPIRING_CODES = ['joinCodes', 'accountCodes'].map(deleteExpiredFrom)

const deleteDailyMailsBefore = sqlStatement`delete from dailyMails where day < :today`

/** The most sessions and entries of activity that one sweep deletes from a database. */
const MAX_ROWS = 10_000
/** Each idempotency key also changes its member. */
const MAX_KEYS = MAX_ROWS / 2

/** Deletes what has expired or no longer counts. The round selects members whose idempotency keys and trash are read. */
export const deleteExpired = async (db: Db, now = Date.now(), round = Math.floor(now / HOUR_MS)) => {
  const inSlot0 = {
    codes: EXPIRING_CODES.map((build) => build({ now })),
    dailyMails: deleteDailyMailsBefore({ today: dayOf(now) }),
  }
  // A batch each, so that none changes more than 10,000 rows.
  await run(db, { sessions: deleteExpiredSessions({ now, limit: MAX_ROWS }) })
  await run(db, { activity: deleteOldActivity({ now, limit: MAX_ROWS }) })
  await run(db, { keys: deleteOldKeys(now, round, MAX_KEYS) })
  await run(db, { trash: deleteOldTrash(now, round) })
  await run(db, {
    expired: EXPIRING.map((build) => build({ now })),
    attempts: deleteAttemptsBefore({ before: now - LONGEST_WINDOW_MS }),
    ...(db.slot === 0 && inSlot0),
  })
}

// D1 allows an invocation 1,000 statements. A slot takes up to 16, slot 0 three more; jobs and imports the rest.
const MAX_STATEMENTS = 960
const STATEMENTS_PER_SLOT = 16
/** Leaves a third of the statements to purge jobs and imports. */
const MAX_SLOTS = 40

const openSlots = (env: Bindings): Slots => {
  const open = (slot: number) => connect(databaseOf(env, slot), { slot })
  return { numbers: [...databasesOf(env).keys()], directory: open(0), open }
}

/** The slots that this hour's sweep visits. The first one changes hourly, as it gets the most statements. */
const slotsOfHour = (numbers: readonly number[], now: number) => {
  const start = (Math.floor(now / HOUR_MS) * Math.min(MAX_SLOTS, numbers.length - 1)) % numbers.length
  return [...numbers.slice(start), ...numbers.slice(0, start)].slice(0, MAX_SLOTS)
}

/** The number of the round. In a round of sweeps, every slot is visited at least once. */
const roundOf = (numbers: readonly number[], now: number) =>
  Math.floor(now / HOUR_MS / Math.ceil(numbers.length / MAX_SLOTS))

/** For the log line: imports and claims that were looked at, members purged at least in part, failed steps. */
type Report = Record<'slots' | 'claims' | 'members' | 'imports' | 'failures', number>

type Sweep = { env: Bindings; slots: Slots; visited: number[]; now: number; budget: Budget; report: Report }

const fail = (report: Report) => (error: unknown) => {
  report.failures++
  log('error', `sweep: ${error}`)
}

// Not `report.members += await …`, which would read the sum before other slots have added to it.
const add = (report: Report, what: keyof Report) => (count: number) => {
  report[what] += count
}

const settleAbandoned = async ({ env, slots, visited, report, now }: Sweep) => {
  const config = configure(env)
  const abandoned = await findAbandoned(slots.directory, now)
  const ofVisited = [...abandoned].filter(([slot]) => visited.includes(slot))
  const settle = async ([slot, entries]: (typeof ofVisited)[number]) => {
    report.claims += entries.length
    await settleClaims(slots, config, slot, entries).catch(fail(report))
  }
  await forEachConcurrent(ofVisited, settle)
}

/** The most statements for the imports of one slot. */
const MAX_IMPORT_STATEMENTS = 200

const sweepImportsWithin = async ({ env, budget, now }: Sweep, db: Db) => {
  const imports = await findSweepable(db, now)
  if (imports.length === 0) return 0
  const config = configure(env)
  const share = Math.max(0, Math.min(MAX_IMPORT_STATEMENTS, Math.floor(budget.left / budget.slotsAtATime)))
  const own = { left: share }
  budget.left -= share
  await sweepImports({ db, bucket: env.IMAGES, reader: env.READER, config, budget: own }, imports, now)
  budget.left += own.left
  return imports.length
}

const sweepSlot = async (sweep: Sweep, slot: number) => {
  const { env, slots, budget, report, now } = sweep
  const db = slots.open(slot)
  const release = async (memberIds: number[]) => slot > 0 && releaseAddresses(slots, memberIds)
  const steps = [
    async () => {
      const { purged, failures } = await runPurgeJobs(db, env.IMAGES, release, budget)
      add(report, 'members')(purged)
      add(report, 'failures')(failures)
    },
    () => deleteExpired(db, now, roundOf(slots.numbers, now)),
    () => sweepImportsWithin(sweep, db).then(add(report, 'imports')),
    async () => slot > 0 && deleteOldClaims(db, now),
  ]
  for (const step of steps) await step().catch(fail(report))
}

const sweepAll = async (env: Bindings, now: number) => {
  const start = Date.now()
  const slots = openSlots(env)
  const visited = slotsOfHour(slots.numbers, now)
  const report: Report = { slots: visited.length, claims: 0, members: 0, imports: 0, failures: 0 }
  const budget: Budget = {
    left: MAX_STATEMENTS - STATEMENTS_PER_SLOT * visited.length,
    slotsAtATime: Math.min(visited.length, MAX_CONNECTIONS),
  }
  const sweep = { env, slots, visited, now, budget, report }
  if (slots.numbers.length > 1) await settleAbandoned(sweep).catch(fail(report))
  await forEachConcurrent(visited, (slot) => sweepSlot(sweep, slot).catch(fail(report)))
  await deleteOldMarks(env.IMAGES, now).catch(fail(report))
  if (report.failures === 0) await recordSweep(env.CATALOGUE, Date.now()).catch(fail(report))
  log('info', 'sweep', { ...report, ms: Date.now() - start })
}

/**
 * The hourly cron job, over all slots: settles abandoned claims of e-mail addresses, continues imports, and deletes
 * what withdrawn members left behind and what has expired. /health shows the last one in which no step failed. Does
 * nothing during maintenance.
 */
export const sweep = async (env: Bindings, now = Date.now()) => {
  if (env.MAINTENANCE === 'on') return
  await withLogFields({ version: env.VERSION.id }, () => sweepAll(env, now))
}
