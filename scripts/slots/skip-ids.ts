import type { D1Database } from '@cloudflare/workers-types'
import { databaseOf, mainOf, type OpenSlot } from './compare.ts'
import { nextClaimId } from './rebuild.ts'
import { idsOf } from './table.ts'

// After a restore, identifiers that were assigned since the backup must not be assigned again: tokens, the keys of
// images and clients contain them.

/** More than a database assigns between a backup and its restore. */
const SKIPPED = 1_000_000

/**
 * The tables, their identifiers with the columns that have them, and where these begin in the range of the slot: as in
 * src/db/next-id.ts.
 */
const TABLES = [
  { table: 'books', ids: ['books.bookId'], offset: 0 },
  { table: 'memos', ids: ['memos.memoId'], offset: 0 },
  { table: 'readings', ids: ['readings.readingId', 'books.readingId'], offset: 2 ** 39 },
]
const highest = (column: string) => `coalesce((select max(${column}) from ${column.split('.')[0]}), 0)`
const skipIn = ({ table, ids, offset }: (typeof TABLES)[number], first: number) => `
  insert into retiredIds (tableName, id)
  select '${table}', max(${first + offset}, ${ids.map(highest).join(', ')}, coalesce(max(id), 0)) + ${SKIPPED}
  from retiredIds where tableName = '${table}'
  on conflict do update set id = excluded.id`

const skipMembers = (main: D1Database) =>
  main.batch([
    main.prepare(
      `insert into sqlite_sequence (name, seq) select 'members', 0 where not exists (
        select 1 from sqlite_sequence where name = 'members')`,
    ),
    main.prepare(`update sqlite_sequence set seq = seq + ${SKIPPED} where name = 'members'`),
  ])

/** The queries that skip the next million identifiers of books, memos and readings of a slot. */
export const skipQueries = (slot: number) => TABLES.map((table) => skipIn(table, idsOf(slot).first))

/** Skips these identifiers, and for slot 0 those of members of all slots. */
export const skipIds = async (slots: OpenSlot[], slot: number) => {
  const database = databaseOf(slots, slot)
  await database.batch(skipQueries(slot).map((query) => database.prepare(query)))
  if (slot > 0) return
  await skipMembers(mainOf(slots))
  for (const other of slots.filter((each) => each.slot > 0))
    await nextClaimId(mainOf(slots), other.slot, other.database, SKIPPED)
}
