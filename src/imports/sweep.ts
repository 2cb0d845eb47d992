import { sql } from 'drizzle-orm'
import { DAY_MS } from '../db/caller'
import { type Db, run, sqlStatement } from '../db/client'
import { hasFile } from '../db/import-schema'
import { log } from '../log'
import { continueImport, dropFile, type RunContext } from './run'

const { placeholder } = sql

/** How long reports are kept, and how long an import may take. */
const KEPT_MS = 30 * DAY_MS
const LONGEST_MS = DAY_MS
/** Imports per sweep and database. */
const MAX_IMPORTS = 20
/** Rows of reports that one sweep deletes from a database. */
const MAX_ROWS = 20_000

type Sweepable = { memberId: number; importId: number; file: string | null; total: number; isRunning: number }
/** Imports that run or whose file is still there, and those whose report is too old. */
const selectSweepable = sqlStatement<Sweepable>(
  () => sql`
  select * from (
    select memberId, importId, file, total, status = 'RUNNING' as isRunning from imports where ${hasFile}
    order by importId limit ${sql.raw(String(MAX_IMPORTS))}
  )
  union all select * from (
    select memberId, importId, file, total, 0 from imports where importId < ${placeholder('before')} and file is null
    order by importId limit ${sql.raw(String(MAX_IMPORTS))}
  )`,
)
const failLate = sqlStatement(
  () => sql`
  update imports set status = 'FAILED', reason = 'The import took longer than a day.'
  where memberId = ${placeholder('memberId')} and importId = ${placeholder('importId')} and status = 'RUNNING'`,
)
const isListed = sql`(memberId, importId) in (
  select value ->> 0, value ->> 1 from json_each(${placeholder('list')})
)`
const deleteRows = sqlStatement(() => sql`delete from importRows where ${isListed}`)
const deleteImports = sqlStatement(() => sql`delete from imports where ${isListed}`)

const deleteReports = async (db: Db, old: Sweepable[]) => {
  let rows = 0
  const list = old.filter(({ total }, at) => {
    rows += total
    return at === 0 || rows <= MAX_ROWS
  })
  const values = { list: JSON.stringify(list.map(({ memberId, importId }) => [memberId, importId])) }
  await run(db, deleteRows(values), deleteImports(values))
}

const sweepOne = async (context: RunContext, { memberId, importId, file, isRunning }: Sweepable, now: number) => {
  if (isRunning && importId >= now - LONGEST_MS) return continueImport(context, memberId, importId)
  if (isRunning) await run(context.db, failLate({ memberId, importId }))
  if (file !== null) await dropFile(context, memberId, importId, file)
}

/** The statements of a sweep of a database in which no import is to be swept. */
export const SWEEP_STATEMENTS = 1

/** The imports of a database that `sweepImports` has something to do with. */
export const findSweepable = async (db: Db, now: number) => {
  const [imports] = await run(db, selectSweepable({ before: now - KEPT_MS }))
  return imports
}

/**
 * Deletes reports after 30 days, and the files of imports that have ended; continues those that were interrupted.
 * @returns how many of `maxStatements` were left
 */
export const sweepImports = async (context: RunContext, imports: Sweepable[], maxStatements: number, now: number) => {
  let left = maxStatements
  const old = imports.filter(({ file }) => file === null)
  if (old.length > 0 && left >= 2) {
    await deleteReports(context.db, old)
    left -= 2
  }
  for (const each of imports) {
    if (each.file === null) continue
    if (left < 2) return left
    await sweepOne({ ...context, budget: { left } }, each, now).catch((error) => log('error', `import: ${error}`))
    // What a continued import used is not known: the next sweep continues the others.
    left = each.isRunning ? 0 : left - 2
  }
  return left
}
