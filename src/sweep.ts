import { deleteOldClaims, findAbandoned } from './accounts/addresses/claims'
import { releaseAddresses } from './accounts/addresses/directory'
import { settleClaims } from './accounts/addresses/settlement'
import { deleteExpired } from './accounts/members/housekeeping'
import { type Budget, runPurgeJobs } from './accounts/members/purge'
import { connect, type Db } from './db/client'
import { type Bindings, configure } from './env'
import { purgeObjects } from './library/images/bucket'
import { forEachConcurrent, MAX_CONNECTIONS } from './runtime/concurrently'
import { log } from './runtime/log'
import { databaseOf, databasesOf, type Slots } from './slots/slots'
import { findSweepable, SWEEP_STATEMENTS, sweepImports } from './transfer/imports/sweep-imports'

const HOUR_MS = 3_600_000
// D1 allows an invocation 1,000 statements. A slot takes up to 14, and slot 0 three more; purge jobs and imports take the rest.
const MAX_STATEMENTS = 960
const STATEMENTS_PER_SLOT = 13 + SWEEP_STATEMENTS
const MAX_SLOTS = 64

const openSlots = (env: Bindings): Slots => {
  const open = (slot: number) => connect(databaseOf(env, slot), { slot })
  return { numbers: [...databasesOf(env).keys()], directory: open(0), open }
}

/** The slots that this hour's sweep visits. The first slot changes hourly, as the first ones get the most statements. */
const slotsOfHour = (numbers: readonly number[], now: number) => {
  const start = (Math.floor(now / HOUR_MS) * Math.min(MAX_SLOTS, numbers.length - 1)) % numbers.length
  return [...numbers.slice(start), ...numbers.slice(0, start)].slice(0, MAX_SLOTS)
}

const settleAbandoned = async (env: Bindings, slots: Slots, visited: number[], now: number) => {
  const config = configure(env)
  const abandoned = await findAbandoned(slots.directory, now)
  const ofVisited = [...abandoned].filter(([slot]) => visited.includes(slot))
  return forEachConcurrent(ofVisited, ([slot, entries]) => settleClaims(slots, config, slot, entries))
}

/** The most statements for the imports of one slot. */
const MAX_IMPORT_STATEMENTS = 200

const sweepImportsWithin = async (env: Bindings, db: Db, budget: Budget, now: number) => {
  const imports = await findSweepable(db, now)
  if (imports.length === 0) return
  const config = configure(env)
  const share = Math.max(0, Math.min(MAX_IMPORT_STATEMENTS, Math.floor(budget.left / budget.slotsAtATime)))
  const own = { left: share }
  budget.left -= share
  const { IMAGES: bucket, READER: reader } = env
  await sweepImports({ db, bucket, reader, quotas: config, timeZone: config.TIME_ZONE, budget: own }, imports, now)
  budget.left += own.left
}

const sweepSlot = async (env: Bindings, slots: Slots, slot: number, budget: Budget, now: number) => {
  const db = slots.open(slot)
  const release = async (memberIds: number[]) => slot > 0 && releaseAddresses(slots, memberIds)
  const steps = [
    () => runPurgeJobs(db, (memberId) => purgeObjects(env.IMAGES, memberId), release, budget),
    () => deleteExpired(db, now),
    () => sweepImportsWithin(env, db, budget, now),
    async () => slot > 0 && deleteOldClaims(db, now),
  ]
  for (const step of steps) await step().catch((error) => log('error', `sweep: ${error}`))
}

/**
 * The hourly cron job, over all slots: settles abandoned claims of e-mail addresses, and deletes what withdrawn members left
 * behind and what has expired.
 */
export const sweep = async (env: Bindings, now = Date.now()) => {
  const slots = openSlots(env)
  const visited = slotsOfHour(slots.numbers, now)
  const budget: Budget = {
    left: MAX_STATEMENTS - STATEMENTS_PER_SLOT * visited.length,
    slotsAtATime: Math.min(visited.length, MAX_CONNECTIONS),
  }
  const settled = slots.numbers.length > 1 ? await Promise.allSettled([settleAbandoned(env, slots, visited, now)]) : []
  const swept = await forEachConcurrent(visited, (slot) => sweepSlot(env, slots, slot, budget, now))
  const outcomes = [
    ...settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome)),
    ...swept,
  ]
  for (const outcome of outcomes) if (outcome.status === 'rejected') log('error', `sweep: ${outcome.reason}`)
}
