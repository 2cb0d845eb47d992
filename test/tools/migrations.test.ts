// @module-tag slow
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { findMismatches } from '../../scripts/data/integrity.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import { fillSynthetic } from '../../scripts/data/synthetic.ts'
import { writeTriggers } from '../../scripts/triggers/triggers.ts'
import { readMigrations } from '../../scripts/wrangler/migrate-local.ts'
import { addMember, createDatabase, createFolder, runCommand, runCommandIn } from './databases.ts'

const SIZE = { books: 250, memos: 700 }
const migrations = readMigrations()
/** Opens a new database in a folder of local data. */
const openEmpty = (data: string) => {
  const path = localPath(data, 'DB')
  mkdirSync(dirname(path), { recursive: true })
  return new DatabaseSync(path)
}

it('times each migration but the first, and fails if one takes too long', async () => {
  const folder = createFolder()
  cpSync('migrations', join(folder, 'migrations'), { recursive: true })
  const added = ['-- A comment.\nalter table books add shelf text', 'create table shelves (shelfId integer)']
  writeFileSync(join(folder, 'migrations', '0001_added.sql'), added.join('--> statement-breakpoint\n'))
  const { code, stdout, stderr } = await runCommandIn(folder, {}, 'time-migrations', '--books', '250', '--memos', '700')
  expect(stderr).toContain('700 of 700 memos')
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^ *\d+\.\d\d s {2}0001_added\.sql: (?:alter table books add shelf text|create table shelves .*)\n$/,
  )
  const limits = ['--books', '250', '--memos', '700', '--seconds', '0']
  const limited = await runCommandIn(folder, {}, 'time-migrations', ...limits)
  expect([limited.code, limited.stderr]).toEqual([1, expect.stringContaining('0001_added.sql: too long')])
})

/** The example of CONTRIBUTING.md. */
const EXAMPLE = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^```sql\n([^`]+)^```/gm)].map(
  ([, sql = '']) => sql,
)

it('fills a side table of every database in batches, as CONTRIBUTING.md says', async () => {
  const data = join(createFolder(), 'data')
  const [schema = '', fill = ''] = EXAMPLE
  const databases = ['DB', 'DB_1'].map((binding) => createDatabase(data, binding))
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  for (const database of databases) {
    addMember(database, [
      ['one', 'two', 'three'],
      ['four', 'five'],
    ])
    database.exec(schema)
  }
  const file = join(data, 'fill.sql')
  writeFileSync(file, fill.replace('limit 5000', 'limit 2'))
  const run = () => runCommand('fill', file, '--local', '--persist-to', data)
  expect(await run()).toMatchObject({ code: 0, stdout: 'DB: 5 rows\nDB_1: 5 rows\n' })
  for (const database of databases) {
    const missing = `select memoId from memos except select memoId from memoTimes`
    expect(database.prepare(missing).all()).toEqual([])
    // Written since, or during the fill.
    database.exec('delete from memos where memoId = 1; update memos set createdAt = createdAt where memoId = 2')
    expect(database.prepare('select count(*) as count from memoTimes').get()).toEqual({ count: 4 })
  }
  expect(await run()).toMatchObject({ code: 0, stdout: 'DB: 4 rows\nDB_1: 4 rows\n' })
  writeFileSync(file, 'select 1 as key where ?1 < 2')
  const { code, stderr } = await run()
  expect([code, stderr]).toEqual([1, expect.stringContaining('DB: the statement must return keys above ?1')])
  for (const database of databases) database.close()
})

it('times them with a consistent library', async () => {
  const data = join(createFolder(), 'data')
  const database = openEmpty(data)
  fillSynthetic(database, migrations[0]?.statements ?? [], SIZE, () => {})
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

it('names the migration that failed, and records nothing of it', async () => {
  const data = join(createFolder(), 'data')
  using database = openEmpty(data)
  database.exec('create table purgeJobs (id integer)')
  const { code, stderr } = await runCommand('migrate', '--persist-to', data)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^DB: 0000_schema\.sql failed: .*table `?purgeJobs`? already exists/m)
  expect(database.prepare('select name from d1_migrations').all()).toEqual([])
})

it('refuses data with a migration that does not exist, and says to delete it', async () => {
  const data = join(createFolder(), 'data')
  using database = openEmpty(data)
  database.exec(`create table d1_migrations (name text); insert into d1_migrations values ('0000_library.sql')`)
  const { code, stderr } = await runCommand('migrate', '--persist-to', data)
  expect(code).toBe(1)
  expect(stderr).toContain(
    `DB: ${data} has data of another version of the service (migration 0000_library.sql): start that version, or begin anew in another folder`,
  )
})

it('has in triggers.sql what `npm run db -- generate` writes', () => {
  expect(readFileSync('src/db/triggers.sql', 'utf8')).toBe(writeTriggers())
})

it('writes no iif within another one, since iif takes several conditions', () => {
  const isNested = (text: string) =>
    text.split(/\biif(?=\()/).some((after, at) => {
      if (at === 0) return false
      let depth = 0
      const end = [...after].findIndex((character) => {
        depth += Number(character === '(') - Number(character === ')')
        return depth === 0
      })
      return end === -1
    })
  expect(isNested('iif(a, iif(b, c, d), e)')).toBe(true)
  expect(isNested('iif(iif(b, (c), d) = a, b, e)')).toBe(true)
  expect(isNested('iif(a, nullif(b, c), d) + iif(a, b, c)')).toBe(false)
  expect(isNested(writeTriggers())).toBe(false)
})
