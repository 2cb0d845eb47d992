import { sql } from 'drizzle-orm'
import { type Caller, runAsCaller, selectCaller } from '../../db/caller'
import { afterResponse, type Db, sqlStatement } from '../../db/client'
import { MAX_PART_BYTES, startLoading } from '../../db/parts'
import { toCsv } from '../csv-writer'
import type { Cells } from '../entry'
import { MAX_COLUMNS } from '../reader/csv-rows'
import { isOwnImport, isOwnReportRow, selectImport } from './store'

// The failed rows of an import, as a table with the columns of its file.

/** The longest name of a column that can be mapped. The formats have none that is longer. */
const MAX_NAME = 500
/** Rows whose size is read for a page. */
const PAGE_ROWS = 100

const isFailed = sql`${isOwnReportRow} and outcome = 'failed'`

/** The columns of the table: those of the file's rows, in the order in which they appear, as far as a table may have. */
export const columnsOf = (entries: { cells: Cells }[]) => {
  const columns = new Set<string>()
  let last: string[] = []
  for (const { names } of entries.map(({ cells }) => cells)) {
    // The rows of a table share their names.
    if (names === last) continue
    last = names
    for (const name of names) if (name.length <= MAX_NAME && columns.size < MAX_COLUMNS) columns.add(name)
    if (columns.size === MAX_COLUMNS) break
  }
  return [...columns]
}

const selectColumns = sqlStatement<{ columns: string | null }>(
  () => sql`select columns from imports where ${isOwnImport}`,
)

type FailedRow = { row: number; cells: string }
/** A page: the failed rows after a row that fit, or a single one that does not. */
const selectPage = sqlStatement<FailedRow>(
  () => sql`
  with sizes as materialized (
    select row, octet_length(cells) as bytes from importRows where ${isFailed} and row > ${sql.placeholder('after')}
    order by row limit ${sql.raw(String(PAGE_ROWS))}
  )
  select row, cells from importRows
  where ${isOwnReportRow} and row in (
    select row from (select row, bytes, sum(bytes) over (order by row) as total from sizes)
    where total <= ${sql.raw(String(MAX_PART_BYTES))} or total = bytes
  )
  order by row`,
)

const toNames = ({ cells }: FailedRow) => ({ cells: { names: Object.keys(JSON.parse(cells)), values: [] } })

/**
 * Yields an empty chunk, then the table page by page. Request the first chunk at once: only a generator that has begun releases
 * in `return` what it holds.
 */
async function* writePages(
  columns: string[],
  first: FailedRow[],
  total: number,
  load: (after: number) => Promise<FailedRow[]>,
  end: () => void,
) {
  const toLine = ({ cells }: FailedRow) => {
    const named = new Map(Object.entries<string>(JSON.parse(cells)))
    return columns.map((name) => named.get(name) ?? '')
  }
  try {
    yield ''
    yield toCsv(columns, first.map(toLine))
    let left = total - first.length
    for (let last = first.at(-1); left > 0 && last; ) {
      // A running import may have added rows since.
      const page = (await load(last.row)).slice(0, left)
      const [line, ...others] = page.map(toLine)
      if (line) yield toCsv(line, others)
      left -= page.length
      last = page.at(-1)
    }
  } finally {
    end()
  }
}

/**
 * Writes the failed rows as CSV, in chunks. Read them to the end or call `return`: until then, a table of several pages counts
 * towards the limit of tables that are loaded at a time. Returns undefined if the member has no such import.
 */
export const writeFailed = async (db: Db, caller: Caller, importId: number) => {
  const values = { importId }
  const [, [found], [stored], first] = await runAsCaller(
    db,
    caller,
    selectCaller(),
    selectImport(values),
    selectColumns(values),
    selectPage({ importId, after: 0 }),
  )
  if (!found) return undefined
  const loading = first.length < found.failed ? await startLoading(db, caller) : undefined
  const loadPage = async (after: number) => {
    const call = () => runAsCaller(afterResponse(db), caller, selectCaller(), selectPage({ importId, after }))
    const [, page] = (await loading?.load(call)) ?? [undefined, []]
    return page
  }
  const ofFile: string[] = JSON.parse(stored?.columns ?? 'null') ?? columnsOf(first.map(toNames))
  const columns = found.failed > 0 ? ofFile : []
  const chunks = writePages(columns, first, found.failed, loadPage, () => loading?.end())
  await chunks.next()
  return chunks
}
