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

type Unfinished = { memberId: number; importId: number; file: string; isRunning: number }
const failLate = sqlStatement(
  () => sql`
  update imports set status = 'FAILED', reason = 'The import took longer than a day.'
  where ${hasFile} and importId < ${placeholder('dayAgo')} and status = 'RUNNING'`,
)
const selectUnfinished = sqlStatement<Unfinished>(
  () => sql`
  select memberId, importId, file, status = 'RUNNING' as isRunning from imports where ${hasFile}
  order by importId limit ${sql.raw(String(MAX_IMPORTS))}`,
)
const selectOld = sqlStatement<{ memberId: number; importId: number; total: number }>(
  () => sql`
  select memberId, importId, total from imports where importId < ${placeholder('before')} and file is null
  order by importId limit ${sql.raw(String(MAX_IMPORTS))}`,
)
const isListed = sql`(memberId, importId) in (
  select value ->> 0, value ->> 1 from json_each(${placeholder('list')})
)`
const deleteRows = sqlStatement(() => sql`delete from importRows where ${isListed}`)
const deleteImports = sqlStatement(() => sql`delete from imports where ${isListed}`)

const deleteOld = async (db: Db, now: number) => {
  const [old] = await run(db, selectOld({ before: now - KEPT_MS }))
  let rows = 0
  const list = old.filter(({ total }, at) => {
    rows += total
    return at === 0 || rows <= MAX_ROWS
  })
  if (list.length === 0) return
  const values = { list: JSON.stringify(list.map(({ memberId, importId }) => [memberId, importId])) }
  await run(db, deleteRows(values), deleteImports(values))
}

/** The statements of a sweep of one database, beside those of imports that it continues. */
export const SWEEP_STATEMENTS = 5

/**
 * Deletes reports after 30 days, and the files of imports that have ended; continues those that were interrupted.
 * @param maxStatements for the imports that it continues, and for the files that it deletes
 * @returns how many of them were left
 */
export const sweepImports = async (context: RunContext, maxStatements: number, now = Date.now()) => {
  await deleteOld(context.db, now)
  const [, unfinished] = await run(context.db, failLate({ dayAgo: now - LONGEST_MS }), selectUnfinished())
  let left = maxStatements
  for (const { memberId, importId, file, isRunning } of unfinished) {
    if (left < 1) return left
    const work = isRunning
      ? continueImport({ ...context, maxStatements: left }, memberId, importId)
      : dropFile(context, memberId, importId, file)
    await work.catch((error) => log('error', `import: ${error}`))
    // What the continued import used is not known: the next sweep continues the others.
    left = isRunning ? 0 : left - 1
  }
  return left
}
