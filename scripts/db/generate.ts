// `npm run db -- generate`: generates a migration from the tables in src/db, which drizzle-kit compares, and from
// triggers.sql.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parseTriggers, toChanges } from '../data/triggers.ts'

const BREAKPOINT = '\n--> statement-breakpoint\n'
const generate = (...args: string[]) =>
  execFileSync('drizzle-kit', ['generate', ...args, ...process.argv.slice(2)], { stdio: 'inherit' })
const listMigrations = () => globSync('migrations/*.sql').sort()
const read = (file: string) => readFileSync(file, 'utf8')

const migrations = listMigrations()
const database = new DatabaseSync(':memory:')
for (const file of migrations) database.exec(read(file))
const migrated = database.prepare(`select name, sql || ';' as sql from sqlite_master where type = 'trigger'`).all()
const changes = toChanges(
  new Map(migrated.map(({ name, sql }) => [String(name), String(sql)])),
  parseTriggers(read('src/db/triggers.sql')),
)

generate()
if (changes.length > 0) {
  if (listMigrations().length === migrations.length) generate('--custom')
  const [file = ''] = listMigrations().slice(-1)
  const ofTables = read(file).replace(/^-- Custom SQL migration file.*/, '')
  writeFileSync(file, [ofTables.trim(), ...changes].filter(Boolean).join(BREAKPOINT))
  console.log(`${file}: ${changes.length} statements for triggers`)
}
