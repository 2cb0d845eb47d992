import { sql } from 'drizzle-orm'
import { type Caller, queryAll, runAsCaller } from '../../db/caller'
import { afterResponse, type Db, firstRow, sqlStatement } from '../../db/client'
import { loadParts, MAX_PART_BYTES, type Size } from '../../db/parts'
import { toCsv } from '../entries/csv-writer'
import { MAX_COLUMNS } from '../entries/entry'
import { isOwnImport, isOwnReportRow } from './store'

// The failed rows of an import, as a table with the columns of its file.

/** The longest name of a column that can be mapped. The formats have none that is longer. */
const MAX_NAME = 500

/** The columns of the table: those of the rows, in the order in which they appear, as far as a table may have. */
export const headerOf = (rows: string[][]) => {
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
/** JSON. Null if the rows do not fit into one part. */
type FailedRow = { cells: string | null }
const selectAll = sqlStatement<FailedRow & Size>`
  select row as id, octet_length(cells) as bytes,
    iif(sum(octet_length(cells)) over () <= ${sql.raw(String(MAX_PART_BYTES))}, cells, null) as cells
  from importRows where ${isFailed} order by row`
const selectPart = sqlStatement<FailedRow>`
  select cells from importRows
  where ${isOwnReportRow} and row in (select value from json_each(:ids)) order by row`

/** The failed rows of an import, in parts if they are large. Returns undefined if the caller has no such import. */
export const loadFailed = async (db: Db, caller: Caller, importId: number) => {
  const { member, found, all } = await runAsCaller(db, caller, {
    found: firstRow(selectColumns({ importId })),
    all: selectAll({ importId }),
  })
  if (!found) return undefined
  const columns: string[] = all.length > 0 ? JSON.parse(found.columns) : []
  if (all.every(({ cells }) => cells !== null)) return { columns, parts: [all].values() }
  const parts = await loadParts(db, member, all, (ids) =>
    queryAll(afterResponse(db), caller, selectPart({ importId, ids })),
  )
  return { columns, parts }
}

export async function* toTable(columns: string[], parts: Iterable<FailedRow[]> | AsyncIterable<FailedRow[]>) {
  yield toCsv([columns])
  for await (const rows of parts) {
    const lines = rows.map(({ cells }) => new Map(Object.entries<string>(JSON.parse(cells ?? '{}'))))
    yield toCsv(lines.map((line) => columns.map((name) => line.get(name) ?? '')))
  }
}
