import { sql } from 'drizzle-orm'
import { type Caller, queryAll, runAsCaller } from '../../db/caller'
import { afterResponse, type Db, firstRow, sqlStatement } from '../../db/client'
import { loadParts, MAX_PART_BYTES, type Size } from '../../db/parts'
import { toCsv } from '../entries/csv-writer'
import { MAX_COLUMNS } from '../entries/file-limits'
import { isOwnImport, isOwnReportRow } from './store'

// The failed rows of an import, as a table with the columns of its file.

/** The longest name of a column that can be mapped. The formats have none that is longer. */
const MAX_NAME = 500

/** The columns of the table: those of the rows, in the order in which they appear, as far as a table may have. */
export const columnsOf = (rows: string[][]) => {
  const columns = new Set<string>()
  // The rows of a table share one array of names.
  for (const names of new Set(rows)) {
    for (const name of names) if (name.length <= MAX_NAME && columns.size < MAX_COLUMNS) columns.add(name)
    if (columns.size === MAX_COLUMNS) break
  }
  return [...columns]
}

const isFailed = sql`${isOwnReportRow} and outcome = 'failed'`

const selectColumns = sqlStatement<{ columns: string }>`select columns from imports where ${isOwnImport}`
const selectSizes = sqlStatement<Size>`select row as id, octet_length(cells) as bytes from importRows where ${isFailed} order by row`
type FailedRow = { cells: string }
/** All failed rows, if they fit into one part. */
const selectAll = sqlStatement<FailedRow>`
  select cells from importRows where ${isFailed} and (
    select sum(octet_length(cells)) from importRows where ${isFailed}
  ) <= ${sql.raw(String(MAX_PART_BYTES))} order by row`
const selectPart = sqlStatement<FailedRow>`
  select cells from importRows
  where ${isOwnReportRow} and row in (select value from json_each(:ids)) order by row`

/**
 * Loads the failed rows of an import, in parts if they are large (`loadParts`), with the columns of their table.
 * Returns undefined if the caller has no such import.
 */
export const loadFailed = async (db: Db, caller: Caller, importId: number) => {
  const values = { importId }
  const { member, found, sizes, all } = await runAsCaller(db, caller, {
    found: firstRow(selectColumns(values)),
    sizes: selectSizes(values),
    all: selectAll(values),
  })
  if (!found) return undefined
  const columns: string[] = sizes.length > 0 ? JSON.parse(found.columns) : []
  if (all.length === sizes.length) return { columns, parts: [all].values() }
  const parts = await loadParts(db, member, sizes, (ids) =>
    queryAll(afterResponse(db), caller, selectPart({ importId, ids })),
  )
  return { columns, parts }
}

export async function* toTable(columns: string[], parts: Iterable<FailedRow[]> | AsyncIterable<FailedRow[]>) {
  yield toCsv([columns])
  for await (const rows of parts) {
    const lines = rows.map(({ cells }) => new Map(Object.entries<string>(JSON.parse(cells))))
    yield toCsv(lines.map((line) => columns.map((name) => line.get(name) ?? '')))
  }
}
