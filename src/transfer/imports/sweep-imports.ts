import { sql } from 'drizzle-orm'
import { type Db, run, sqlStatement } from '../../db/client'
import { hasFile } from '../../db/schema/import-tables'
import { log } from '../../runtime/log'
import { DAY_MS } from '../../values/time'
import { dropFile } from './lease'
import { libraryStatements } from './plan/existing'
import { continueImport, RUN_STATEMENTS } from './run'
import { query, type RunContext } from './run-context'
import type { StoredImport } from './store'

/** How long reports are kept, and how long an import may take. */
const KEPT_MS = 30 * DAY_MS
const LONGEST_MS = DAY_MS
/** Imports per sweep and database that are continued or whose files are deleted, and the most that are considered. */
const MAX_IMPORTS = 20
const MAX_CONSIDERED = 1000
/** Reports that one sweep deletes from a database, and their rows. */
const MAX_REPORTS = 1000
const MAX_ROWS = 9000

/** `books`: of the member. */
type Sweepable = Pick<StoredImport, 'memberId' | 'importId' | 'file' | 'total'> & { isRunning: number; books: number }
/**
 * Imports on which no run works and whose file is still there, of each member the oldest and those that took too long, and
 * those whose report is too old. The ones that were continued last come last: some that fail each time do not keep the
 * others waiting.
 */
const selectSweepable = sqlStatement<Sweepable>`
  select * from (
    select memberId, importId, file, total, status = 'RUNNING' as isRunning,
      coalesce((select yetBooks + ingBooks + doneBooks from members where members.memberId = each.memberId), 0) as books
    from (
      select * from imports where ${hasFile} order by importId limit ${sql.raw(String(MAX_CONSIDERED))}
    ) as each
    where status <> 'RUNNING' or (
      leaseEndsAt <= :now
        and (importId < :late or not exists (
          select 1 from imports as older where older.memberId = each.memberId and older.importId < each.importId
            and older.status = 'RUNNING' and older.isDeleted = 0
        ))
        and not exists (select 1 from members where members.memberId = each.memberId and blockedAt is not null)
    )
    order by leaseEndsAt limit ${sql.raw(String(MAX_IMPORTS))}
  )
  union all select * from (
    select memberId, importId, file, total, 0, 0 from imports where importId < :before and file is null
    order by importId limit ${sql.raw(String(MAX_REPORTS))}
  )`
const failLate = sqlStatement`
  update imports set status = 'FAILED', reason = 'The import took longer than a day.'
  where memberId = :memberId and importId = :importId and status = 'RUNNING'`
const isListed = sql`(memberId, importId) in (select value ->> 0, value ->> 1 from json_each(:list))`
const deleteRows = sqlStatement`delete from importRows where ${isListed}`
const deleteImports = sqlStatement`delete from imports where ${isListed}`

const deleteReports = async (context: RunContext, old: Sweepable[]) => {
  let rows = 0
  const list = old.filter(({ total }, at) => {
    rows += total
    return at === 0 || rows <= MAX_ROWS
  })
  const values = { list: JSON.stringify(list.map(({ memberId, importId }) => [memberId, importId])) }
  await query(context, { rows: deleteRows(values) })
  await query(context, { imports: deleteImports(values) })
}

const end = async (context: RunContext, each: Sweepable) => {
  if (each.isRunning) await query(context, { failed: failLate({ ...each }) })
  await dropFile(context, each)
  return false
}

/** One statement. */
export const findSweepable = async (db: Db, now: number) => {
  const { imports } = await run(db, {
    imports: selectSweepable({ now, before: now - KEPT_MS, late: now - LONGEST_MS }),
  })
  return imports
}

/**
 * Deletes reports after 30 days, and the files of imports that have ended; continues those that were interrupted, if
 * enough statements are left to commit some of their rows. Otherwise the next sweep does.
 */
export const sweepImports = async (context: RunContext, imports: Sweepable[], now: number) => {
  const { budget } = context
  const logError = (error: Error) => log('error', `import: ${error}`)
  const old = imports.filter(({ file }) => file === null)
  if (old.length > 0 && budget.left >= 2) await deleteReports(context, old).catch(logError)
  // One at a time: the rows of a file take up to ten times its size.
  const rest = imports.filter(({ file }) => file !== null)
  for (const each of rest) {
    const isContinued = each.isRunning && each.importId >= now - LONGEST_MS
    const needed = isContinued ? RUN_STATEMENTS + libraryStatements(each.books) + 1 : 2
    if (budget.left < needed) continue
    const sweepOne = () => (isContinued ? continueImport(context, each.memberId) : end(context, each))
    // The next one of the member comes after those of others.
    if (await sweepOne().catch(logError)) rest.push(each)
  }
}
