import { getTableName, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { books, retiredIds } from './schema/book-tables'
import { readings } from './schema/reading-tables'

/** Leaves room for 8,192 slots below 2^53. */
const IDS_PER_SLOT = 2 ** 40

/** Offset of reading identifiers in the range of a slot. A book's first reading can have the identifier of the book. */
const READING_ID_OFFSET = IDS_PER_SLOT / 2

/** The slot that assigned an identifier. */
export const slotOfId = (id: number) => Math.floor(id / IDS_PER_SLOT)

/** The parameters with a slot's range of identifiers, which `run` adds to every statement. */
export const idRange = (slot: number) => ({ idFloor: slot * IDS_PER_SLOT, idCeiling: (slot + 1) * IDS_PER_SLOT - 1 })

const isInRange = (id: SQLiteColumn) => sql`${id} between :idFloor and :idCeiling`
const highest = (id: SQLiteColumn) =>
  sql`coalesce((select max(${id}) from ${id.table} where ${isInRange(id)}), :idFloor)`

const highestRetired = (table: SQLiteTable) => {
  const isOfTable = sql`${retiredIds.tableName} = ${sql.raw(`'${getTableName(table)}'`)}`
  return sql`coalesce((select ${retiredIds.id} from ${retiredIds} where ${isOfTable} and ${isInRange(retiredIds.id)}), 0)`
}

/** SQL for the next identifier of a table: one above every existing and every deleted one of the slot. */
export const nextId = (id: SQLiteColumn): SQL<number> => sql`max(${highest(id)}, ${highestRetired(id.table)}) + 1`

/** SQL for the highest identifier that a reading of the slot has had, past or current. */
export const lastReadingId: SQL<number> = sql`max(
  :idFloor + ${sql.raw(String(READING_ID_OFFSET))}, ${highest(readings.readingId)}, ${highest(books.readingId)},
  ${highestRetired(readings)}
)`

/** The same for a table whose deleted identifiers may be reused: in slot 0 null, for which SQLite assigns one. */
export const nextReusableId = (id: SQLiteColumn): SQL<number | null> =>
  sql`case when :idFloor > 0 then ${highest(id)} + 1 end`
