import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { forgetSharedReader } from '../api'
import { migrate } from '../stores'

const TABLES = ['members', 'joinCodes', 'accountCodes', 'attempts', 'dailyMails', 'addresses', 'slotMarks', 'purgeJobs']

export const migrateDatabase = (database: D1Database) =>
  migrate(
    database,
    env.MIGRATIONS.flatMap(({ queries }) => queries),
  )

export const emptyDatabase = async (database: D1Database) => {
  await migrateDatabase(database)
  await database.batch(TABLES.map((table) => database.prepare(`delete from ${table}`)))
}

/** Files that share a Worker begin with the clock, without mocks, and with empty databases, whose identifiers go on. */
export const emptyDatabases = async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  forgetSharedReader()
  for (const database of [env.DB, ...(env.DB_1 ? [env.DB_1] : [])]) await emptyDatabase(database)
}
