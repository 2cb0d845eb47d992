import { getTableName, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { retiredIds } from './schema'

/** SQL for the next identifier of a table: one above every existing and every deleted one. */
export const nextId = (id: SQLiteColumn): SQL<number> => {
  const tableName = sql.raw(`'${getTableName(id.table)}'`)
  return sql`max(
    coalesce((select max(${id}) from ${id.table}), 0),
    coalesce((select ${retiredIds.id} from ${retiredIds} where ${retiredIds.tableName} = ${tableName}), 0)
  ) + 1`
}
