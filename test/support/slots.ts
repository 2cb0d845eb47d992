import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

export const ADDRESS_KEY = 'a key of the tests only, which hashes the addresses'

/** Further databases for one request. Apply the migrations first. */
export const SLOTS = { DB_1: env.SPARE_1, DB_2: env.SPARE_2, ADDRESS_KEY }

export const migrateSlots = async () => {
  for (const database of [env.SPARE_1, env.SPARE_2]) await applyD1Migrations(database, env.MIGRATIONS)
}
