// `npm run db -- generate`: writes triggers.sql, and a migration of what has changed in it and in the tables of
// src/db/schema, which drizzle-kit compares.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parseTriggers, toChanges } from '../data/triggers.ts'
import { parseOptions } from '../options.ts'
import { print } from '../print.ts'
import { writeTriggers } from '../triggers/triggers.ts'

const USAGE = `npm run db -- generate [--name NAME]
  writes src/db/triggers.sql, and a migration of what has changed since the last one
  --name  of the migration`
parseOptions({ options: { name: { type: 'string' } } }, USAGE)

const BREAKPOINT = '\n--> statement-breakpoint\n'
const generate = (...args: string[]) =>
  execFileSync('drizzle-kit', ['generate', ...args, ...process.argv.slice(2)], { stdio: 'inherit' })
const listMigrations = () => globSync('migrations/*.sql').sort()
const read = (file: string) => readFileSync(file, 'utf8')

/** Beside these, all tables with several columns in their primary key are WITHOUT ROWID, which Drizzle cannot express. */
const WITHOUT_ROWID = ['accessTokens', 'addresses']
const isWithoutRowid = (table: string) =>
  /\tPRIMARY KEY\(`\w+`, /.test(table) || WITHOUT_ROWID.some((name) => table.startsWith(`CREATE TABLE \`${name}\` (`))
/** drizzle-kit splits the expressions of indexes at commas, and quotes the parts. */
const QUOTED_PARTS = /`(\w+\("[^`]*)`,`([^`]*\))`/g
const repair = (migration: string) =>
  migration
    .replaceAll(/^CREATE TABLE [^;]*\n\)(?=;)/gm, (table) => (isWithoutRowid(table) ? `${table} WITHOUT ROWID` : table))
    .replaceAll(QUOTED_PARTS, '$1,$2')

const migrations = listMigrations()
const database = new DatabaseSync(':memory:')
for (const file of migrations) database.exec(read(file))
const migrated = database.prepare(`select name, sql || ';' as sql from sqlite_master where type = 'trigger'`).all()
const triggers = writeTriggers()
writeFileSync('src/db/triggers.sql', triggers)
const changes = toChanges(
  new Map(migrated.map(({ name, sql }) => [String(name), String(sql)])),
  parseTriggers(triggers),
)

generate()
if (changes.length > 0 && listMigrations().length === migrations.length) generate('--custom')
const [file = ''] = listMigrations().slice(-1)
if (listMigrations().length > migrations.length) {
  const ofTables = repair(read(file).replace(/^-- Custom SQL migration file.*/, ''))
  writeFileSync(file, `${[ofTables.trim(), ...changes].filter(Boolean).join(BREAKPOINT)}\n`)
  print(`${file}: ${changes.length} statements for triggers`)
}
