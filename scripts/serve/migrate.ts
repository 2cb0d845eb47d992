// Migrations without workerd: what Miniflare adds to reach its databases from this process keeps 50 MB for as long as it
// runs.
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { D1Database } from '@cloudflare/workers-types'
import { localPath } from '../data/stores.ts'
import type { Slot } from '../slots/table.ts'
import { migrateOpen } from '../wrangler/migrate-local.ts'

const openFile = (path: string) => {
  mkdirSync(dirname(path), { recursive: true })
  return new DatabaseSync(path)
}

const toStatement = (database: DatabaseSync, query: string, values: SQLInputValue[] = []) => ({
  bind: (...bound: SQLInputValue[]) => toStatement(database, query, bound),
  all: async () => ({ results: database.prepare(query).all(...values) }),
  run: () => database.prepare(query).run(...values),
})
type Statement = ReturnType<typeof toStatement>

/** As far as migrations use a database. */
const asD1 = (database: DatabaseSync) =>
  ({
    exec: async (query: string) => database.exec(query),
    prepare: (query: string) => toStatement(database, query),
    batch: async (statements: Statement[]) => {
      database.exec('begin immediate')
      try {
        for (const statement of statements) statement.run()
        database.exec('commit')
      } catch (error) {
        database.exec('rollback')
        throw error
      }
    },
  }) as unknown as D1Database

/**
 * Applies the migrations that the data lacks, as `npm run db -- migrate` does.
 * @throws Error if one fails
 */
export const migrateData = async (slots: Slot[], data: string, addressKey: string | undefined) => {
  const open = slots.map((slot) => ({ ...slot, file: openFile(localPath(data, slot.binding)) }))
  try {
    const asSlots = open.map(({ file, ...slot }) => ({ ...slot, database: asD1(file) }))
    await migrateOpen(asSlots, data, addressKey)
  } finally {
    for (const { file } of open) file.close()
  }
}
