// What an import leaves in the database.
import { LIBRARY_TABLES } from '../../support/stores'
import type { Service } from '../harness/service'

/** The identifier of the newest import. */
export const NEWEST_IMPORT = '(select max(importId) from imports)'
const SELECTIONS = {
  ...Object.fromEntries(LIBRARY_TABLES.map((table) => [table, `select * from ${table} order by 1, 2, 3`])),
  members: 'select yetBooks, ingBooks, doneBooks, finishedBooks, undatedBooks, memoBooks, textBytes from members',
  imports: `select status, format, total, done, created, updated, unchanged, skipped, failed, reason, isDeleted
    from imports where importId = ${NEWEST_IMPORT}`,
  importRows: `select * from importRows where importId = ${NEWEST_IMPORT} order by row`,
}

/** Everything that the import wrote, by table. Times of the run, and versions of memos, which are random, are masked. */
export const takeSnapshot = async ({ database }: Service, begin: number) => {
  const [firstDay = ''] = new Date(begin - 86_400_000).toISOString().split('T')
  const mask = (text: string) =>
    text
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, (time) => (time >= firstDay ? 'now' : time))
      .replace(/"(version|importVersion)":\d+/g, '"$1":"random"')
      .replace(/\b\d{13}\b/g, (ms) => (Number(ms) >= begin ? 'now' : ms))
  const results = await database.batch(Object.values(SELECTIONS).map((query) => database.prepare(query)))
  return Object.keys(SELECTIONS).map((table, at) => ({
    table,
    rows: (results[at]?.results ?? []).map((row) => mask(JSON.stringify(row))),
  }))
}
type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>

/** The texts where they begin to differ. */
const showDifference = (expected = 'no row', found = 'no row') => {
  const at = [...expected].findIndex((character, index) => character !== found[index])
  const show = (text: string) => text.slice(Math.max(0, at - 80), Math.max(0, at) + 80)
  return `${show(found)}, not ${show(expected)}`
}

/** Names the first row of each table that differs. */
export const compare = (expected: Snapshot, found: Snapshot) =>
  expected.flatMap(({ table, rows }, at) => {
    const others = found[at]?.rows ?? []
    const longer = rows.length > others.length ? rows : others
    const first = longer.findIndex((_, row) => rows[row] !== others[row])
    return first < 0 ? [] : [`${table} differs: ${showDifference(rows[first], others[first])}`]
  })
