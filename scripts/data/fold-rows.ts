import type { D1Database } from '@cloudflare/workers-types'
import { toFoldedColumn } from '../../src/values/text/fold.ts'
import { repeatUnsent } from '../wrangler/repeat-unsent.ts'

/** A page ends after this many rows, or with the row that reaches this many bytes: D1 limits the size of responses. */
const MAX_ROWS = 1000
const MAX_BYTES = 1024 * 1024

type Table = { table: string; id: string; columns: Record<string, string> }
const TABLES: Table[] = [
  { table: 'books', id: 'bookId', columns: { title: 'titleFolded', author: 'authorFolded' } },
  { table: 'memos', id: 'memoId', columns: { memoContent: 'contentFolded' } },
]

/** Skips the rows of withdrawn members, which are being deleted. */
const selectPage = ({ table, id, columns }: Table) => `
  with page as (
    select ${id} as id, octet_length(concat(${Object.keys(columns)})) as bytes
    from ${table} cross join members using (memberId)
    where ${id} > ? and withdrawnAt is null order by ${id} limit ${MAX_ROWS}
  ), counted as (
    select id, sum(bytes) over (order by id rows unbounded preceding) - bytes as bytesBefore from page
  )
  select id, ${Object.entries(columns).flat()}
  from counted join ${table} on ${table}.${id} = id where bytesBefore < ${MAX_BYTES} order by id`

/** Changes nothing if a request has changed the text since it was read. */
const updateRow = ({ table, id, columns }: Table) => `
  update ${table} set ${Object.values(columns).map((folded) => `${folded} = ?`)}
  where ${id} = ? and ${Object.keys(columns)
    .map((column) => `${column} is ?`)
    .join(' and ')}`

type Row = { id: number } & Record<string, string | null>

const foldTable = async (database: D1Database, table: Table, isRepair: boolean, report: (read: number) => void) => {
  const [select, update] = [database.prepare(selectPage(table)), database.prepare(updateRow(table))]
  const columns = Object.entries(table.columns)
  let [last, read, outdated] = [0, 0, 0]
  for (;;) {
    const { results } = await repeatUnsent(() => select.bind(last).all<Row>())
    const [newest] = results.slice(-1)
    if (!newest) return { read, outdated }
    const rows = results.filter((row) =>
      columns.some(([column, folded]) => toFoldedColumn(row[column]) !== row[folded]),
    )
    const updates = rows.map((row) => {
      const texts = columns.map(([column]) => row[column] ?? null)
      return update.bind(...texts.map(toFoldedColumn), row.id, ...texts)
    })
    if (isRepair && updates.length > 0) await repeatUnsent(() => database.batch(updates))
    last = newest.id
    read += results.length
    outdated += rows.length
    report(read)
  }
}

/**
 * Counts the rows whose folded texts are missing or differ from what `fold` returns: those written before the columns
 * existed, or by a release without them after a rollback.
 * @param isRepair whether it stores them
 * @param progress called after each page with the number of rows of the table read so far
 */
export const foldRows = async (
  database: D1Database,
  isRepair: boolean,
  progress: (table: string, read: number) => void,
) => {
  const total = { read: 0, outdated: 0 }
  for (const table of TABLES) {
    const { read, outdated } = await foldTable(database, table, isRepair, (count) => progress(table.table, count))
    total.read += read
    total.outdated += outdated
  }
  return total
}
