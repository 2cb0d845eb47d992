// @module-tag slow
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { findMismatches } from '../../scripts/data/integrity.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import { fillSynthetic } from '../../scripts/data/synthetic.ts'
import { readMigrations } from '../../scripts/wrangler/migrate-local.ts'
import { createFolder, runCommand } from './databases.ts'

const SIZE = { books: 250, memos: 700 }
const migrations = readMigrations()
const normalize = (statement: string) =>
  statement
    .replaceAll(/^--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

it('times a statement of each migration but the first', async () => {
  const { code, stdout, stderr } = await runCommand('time-migrations', '--books', '250', '--memos', '700')
  expect(code).toBe(0)
  expect(stderr).toContain('700 of 700 memos')
  const lines = stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(migrations.length - 1)
  for (const [at, line] of lines.entries()) {
    const [, name, statement = ''] = /^ *\d+\.\d\d s {2}(\S+): (.+)$/.exec(line) ?? []
    expect(name).toBe(migrations[at + 1]?.name)
    expect(migrations[at + 1]?.statements.some((each) => normalize(each).startsWith(statement.trim()))).toBe(true)
  }
})

it('times them with a library that is consistent before and after', async () => {
  const data = join(createFolder(), 'data')
  const path = localPath(data, 'DB')
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  const [first, ...others] = migrations.map(({ statements }) => statements)
  fillSynthetic(database, first ?? [], SIZE, () => {})
  for (const statement of others.flat()) database.exec(statement)
  const { books, memos } = SIZE
  expect(
    database.prepare('select (select count(*) from books) as books, (select count(*) from memos) as memos').get(),
  ).toEqual({ books, memos })
  database.close()
  const { slots, dispose } = await openStores({ persistTo: data })
  const [slot] = slots
  if (!slot) throw new Error('There is no slot')
  expect(await findMismatches(slot.database, 0)).toEqual([])
  await dispose()
})

it('applies them to a local database once, with a line each, and records them as wrangler does', async () => {
  const data = join(createFolder(), 'data')
  const { code, stdout } = await runCommand('migrate', '--persist-to', data)
  expect(code).toBe(0)
  for (const { name } of migrations) expect(stdout).toContain(`DB: applied ${name}\n`)
  expect((await runCommand('migrate', '--persist-to', data)).stdout).not.toContain('applied')
  const listed = spawnSync('wrangler', ['d1', 'migrations', 'list', 'DB', '--local', '--persist-to', data])
  expect(listed.stdout.toString()).toContain('No migrations to apply')
})

it('names the migration that failed, and records only those before', async () => {
  const data = join(createFolder(), 'data')
  const path = localPath(data, 'DB')
  mkdirSync(dirname(path), { recursive: true })
  using database = new DatabaseSync(path)
  database.exec('create table purgeJobs (id integer)')
  const { code, stderr } = await runCommand('migrate', '--persist-to', data)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^DB: 0001_codes_attempts_purges\.sql failed: .*table `?purgeJobs`? already exists/m)
  expect(database.prepare('select name from d1_migrations').all()).toEqual([{ name: '0000_library.sql' }])
})
