import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type OpenSlot, openLocal } from '../data/stores.ts'
import { print, printError } from '../print.ts'
import { toQuery } from '../slots/compare.ts'
import { confirmMarks, markSlots, recordKey } from '../slots/marks.ts'
import type { Slot } from '../slots/table.ts'

/** Drizzle writes it between the statements of a migration. */
const STATEMENT_BREAK = '--> statement-breakpoint'
/** The table in which wrangler records what it has applied: one process for all migrations is many times faster. */
const CREATE_APPLIED =
  'create table if not exists d1_migrations (id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null)'

/**
 * Marks local databases as those of their slots, and records the key of the directory.
 * @throws Error if a database is not that of its slot
 */
const markLocal = async (slots: OpenSlot[], addressKey: string | undefined) => {
  const query = toQuery(slots)
  const { lost, unconfirmed } = await markSlots(
    query,
    slots.map(({ slot }) => slot),
  )
  await confirmMarks(query, unconfirmed)
  if (addressKey) await recordKey(query, addressKey, { replace: false })
  if (lost.length > 0) throw new Error(lost.join('\n'))
}

/** The migrations in their order, each with its statements. */
export const readMigrations = () =>
  globSync('migrations/*.sql')
    .sort()
    .map((file) => ({ name: basename(file), statements: readFileSync(file, 'utf8').split(STATEMENT_BREAK) }))

/**
 * Applies the migrations that a database lacks, each in a transaction.
 * @throws Error if one fails, or if the database has a migration that does not exist
 */
const migrate = async ({ binding, database }: OpenSlot, persistTo: string) => {
  await database.exec(CREATE_APPLIED)
  const { results } = await database.prepare('select name from d1_migrations').all<{ name: string }>()
  const applied = new Set(results.map(({ name }) => name))
  const migrations = readMigrations()
  const unknown = [...applied].find((applied) => migrations.every(({ name }) => name !== applied))
  if (unknown) {
    throw new Error(
      `${binding}: ${persistTo} has data of another version of the service (migration ${unknown}): start that version, or begin anew in another folder`,
    )
  }
  for (const { name, statements } of migrations.filter(({ name }) => !applied.has(name))) {
    const record = database.prepare('insert into d1_migrations (name) values (?)').bind(name)
    try {
      await database.batch([...statements.map((statement) => database.prepare(statement)), record])
    } catch (error) {
      throw new Error(`${binding}: ${name} failed: ${(error as Error).message}`)
    }
    print(`${binding}: applied ${name}`)
  }
}

/**
 * Applies the migrations to open local databases, one after the other.
 * @throws Error if one fails, or a database is not that of its slot
 */
export const migrateOpen = async (slots: OpenSlot[], persistTo: string, addressKey: string | undefined) => {
  for (const slot of slots) await migrate(slot, persistTo)
  if (slots.length > 1) await markLocal(slots, addressKey)
}

/** The same for local databases in a folder. Returns the exit code. */
export const migrateLocal = async (slots: Slot[], persistTo: string) => {
  const { dispose, ...open } = await openLocal(slots, persistTo)
  try {
    await migrateOpen(open.slots, persistTo, open.addressKey)
    return 0
  } catch (error) {
    printError((error as Error).message)
    return 1
  } finally {
    await dispose()
  }
}
