import { DatabaseSync } from 'node:sqlite'
import type { D1Database } from '@cloudflare/workers-types'
import { queryAll } from '../slots/compare.ts'
import { readMigrations } from '../wrangler/migrate-local.ts'

// Compares the schema of a database with that of the migrations: without a trigger, counters go wrong unnoticed.

type Part = { type: string; name: string; sql: string }

/** All but what SQLite, Cloudflare and wrangler create. */
const SELECT = `select type, name, sql from sqlite_schema
  where name not glob 'sqlite_*' and name not glob '_cf_*' and name <> 'd1_migrations' order by type, name`

const expectedParts = () => {
  using database = new DatabaseSync(':memory:')
  for (const { statements } of readMigrations()) for (const statement of statements) database.exec(statement)
  return database.prepare(SELECT).all() as Part[]
}

const byName = (parts: Part[]) => new Map(parts.map(({ type, name, sql }) => [`${type} ${name}`, sql]))

/** Lists what differs from the migrations, a line each. */
export const compareSchema = async (database: D1Database) => {
  const [expected, found] = [byName(expectedParts()), byName(await queryAll<Part>(database, SELECT))]
  return [
    ...[...expected.keys()].filter((name) => !found.has(name)).map((name) => `${name} is missing`),
    ...[...expected]
      .filter(([name, sql]) => found.has(name) && found.get(name) !== sql)
      .map(([name]) => `${name} is not that of the migrations`),
    ...[...found.keys()].filter((name) => !expected.has(name)).map((name) => `${name} is in no migration`),
  ]
}
