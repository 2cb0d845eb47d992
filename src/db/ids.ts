import { getTableName, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { retiredIds } from './schema'

/** The next identifier of a table: above every one that is, and every one that ever was. */
export const nextId = (id: SQLiteColumn): SQL<number> => {
  const tableName = sql.raw(`'${getTableName(id.table)}'`)
  return sql`max(
    coalesce((select max(${id}) from ${id.table}), 0),
    coalesce((select ${retiredIds.id} from ${retiredIds} where ${retiredIds.tableName} = ${tableName}), 0)
  ) + 1`
}
