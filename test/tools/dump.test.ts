// @module-tag slow
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { findMismatches } from '../../scripts/data/integrity.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import { addMember, createDatabase, createFolder, runCommand, runCommandIn } from './databases.ts'

const HOSTILE_TEXT = "It's; DROP TABLE books;\n-- END; “그래서”\r\n/* \\n \\10 \u2028 👩‍💻"
const LONG_TEXTS = [`${'한'.repeat(59_999)}\n`, "'".repeat(60_000), '👩‍💻\\n\n'.repeat(9000), '\n\\10\r'.repeat(12_000)]

/** A folder with local data of one database, in which a member has texts that are hard to dump. */
const createData = () => {
  const folder = createFolder()
  const data = join(folder, 'data')
  const database = createDatabase(data)
  addMember(database, [[HOSTILE_TEXT], LONG_TEXTS, ...Array(40).fill(['A memo', 'Another memo'])])
  addMember(database, [])
  // The highest identifier assigned is kept, too.
  database.exec(
    `delete from members where memberId = 2; insert into addresses values (zeroblob(16), 3, 1, 3, 'HELD', null)`,
  )
  return { folder, data, database, backup: join(folder, 'backup'), restored: join(folder, 'restored') }
}

const TABLES = ['members', 'books', 'memos', 'authors', 'addresses', 'sqlite_sequence']
const readRows = (database: DatabaseSync) =>
  TABLES.map((table) => database.prepare(`select * from ${table} order by 1, 2`).all())
const readFiles = (folder: string) => readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
const countMemos = (path: string) => new DatabaseSync(path).prepare('select count(*) as memos from memos').get()

it('a dump restores every row, counter and trigger, and texts longer than a statement of D1', async () => {
  const { data, database, backup, restored } = createData()
  const rows = readRows(database)
  expect(await runCommand('dump', backup, '--local', '--persist-to', data)).toMatchObject({ code: 0 })
  expect(await runCommand('restore', backup, '--persist-to', restored)).toMatchObject({ code: 0 })
  expect(readRows(new DatabaseSync(localPath(restored, 'DB')))).toEqual(rows)

  const { slots, dispose } = await openStores({ persistTo: restored })
  const [slot] = slots
  if (!slot) throw new Error('There is no slot')
  expect(await findMismatches(slot.database)).toEqual([])
  await slot.database.prepare(`delete from memos where memoContent = ?`).bind(HOSTILE_TEXT).run()
  await slot.database.prepare(`update books set bookStatus = 'ING' where bookId = 1`).run()
  expect(await findMismatches(slot.database)).toEqual([])
  await dispose()
})

it('a dump is private, and holds statements that D1 accepts, each on one line', async () => {
  const { data, backup } = createData()
  const { stdout } = await runCommand('dump', backup, '--local', '--persist-to', data)
  expect(stdout).toBe(`${join(backup, 'DB')}: one file, verified\n`)
  expect(readdirSync(backup, { recursive: true })).toEqual(['DB', join('DB', '0001-last.sql')])
  expect(statSync(join(backup, 'DB')).mode & 0o777).toBe(0o700)
  expect(statSync(join(backup, 'DB', '0001-last.sql')).mode & 0o777).toBe(0o600)
  const [text = ''] = readFiles(join(backup, 'DB'))
  const lines = text.split('\n').filter((line) => /^(INSERT|UPDATE)/.test(line))
  expect(lines.length).toBeGreaterThan(120)
  for (const line of lines)
    expect([line.slice(-2), Buffer.byteLength(line) <= 100_000]).toEqual([expect.stringMatching(/.;/), true])
})

it('a text with marks of line feeds does not make a statement that D1 refuses', async () => {
  const { data, database, backup } = createData()
  addMember(database, [[`${'x'.repeat(500)}\\10${'.'.repeat(9990)}${'\n'.repeat(9990)}${'x'.repeat(45_000)}`]])
  expect(await runCommand('dump', backup, '--local', '--persist-to', data)).toMatchObject({ code: 0 })
})

/** Writes what `wrangler d1 export` does. */
const exportAsWrangler = async (data: string, folder: string) => {
  const { slots, dispose } = await openStores({ persistTo: data })
  const exported = await slots[0]?.database.prepare('PRAGMA miniflare_d1_export(?,?,?);').bind(0, 0).raw<string[]>()
  await dispose()
  const path = join(folder, 'export.sql')
  writeFileSync(path, exported?.[0]?.join('\n') ?? '')
  return path
}

/** A wrangler that exports a prepared file, and fails after some lines for the database called `broken`. */
const FAKE_WRANGLER = `#!/bin/sh
if [ "$3" = broken ]; then head -n 3 "$EXPORT" > "$7"; exit 1; fi
cat "$EXPORT" > "$7"
stat -c 'exported with mode %a' "$7" >&2
`

/** Dumps databases as if they were deployed, each of which wrangler exports as the given file. */
const dumpDeployed = (folder: string, EXPORT: string, slots: object[] = []) => {
  writeFileSync(join(folder, 'wrangler'), FAKE_WRANGLER, { mode: 0o755 })
  writeFileSync(join(folder, 'wrangler.toml'), readFileSync('wrangler.toml'))
  writeFileSync(join(folder, 'slots.json'), JSON.stringify(slots))
  return runCommandIn(folder, { EXPORT, PATH: `${folder}:${process.env.PATH}` }, 'dump', 'backup', '--remote')
}

it('texts that wrangler d1 export has changed are reported', async () => {
  const { folder, data } = createData()
  const { code, stderr } = await dumpDeployed(folder, await exportAsWrangler(data, folder))
  expect(code).toBe(0)
  expect(stderr).toMatch(
    /^DB: books 2: memoBytes is \d+, but the texts in the export have \d+ bytes: see Backups in docs\/operations\.md$/m,
  )
  expect(stderr).not.toMatch(/books 3:/m)
})

it('the output of wrangler d1 export can be restored only as a dump, since books reference members', async () => {
  const { folder, data, database, backup, restored } = createData()
  // Wrangler replaces \n in a text that also has a line feed.
  database.exec(`delete from memos where memoContent like '%\\%'; update books set title = 'A book'`)
  const path = await exportAsWrangler(data, folder)
  expect(() => new DatabaseSync(':memory:').exec(readFileSync(path, 'utf8'))).toThrow(/no such table/)

  expect(await dumpDeployed(folder, path)).toMatchObject({ code: 0 })
  await runCommand('restore', backup, '--persist-to', restored)
  expect(readRows(new DatabaseSync(localPath(restored, 'DB')))).toEqual(readRows(database))
})

it('a dump that cannot be restored is deleted, and the others and the last one are kept', async () => {
  const { data, database, backup } = createData()
  createDatabase(data, 'DB_1')
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  const dump = (...flags: string[]) => runCommand('dump', backup, '--local', '--persist-to', data, ...flags)
  expect(await dump()).toMatchObject({ code: 0 })
  const first = readFiles(join(backup, 'DB'))
  database.exec('create table files (id integer primary key, file blob); insert into files values (1, zeroblob(60000))')

  const { code, stdout, stderr } = await dump()
  expect([code, stdout]).toEqual([1, `${join(backup, 'DB_1')}: one file, verified\n`])
  expect(stderr).toContain('DB: not dumped: ')
  expect(readdirSync(backup)).toEqual(['DB', 'DB_1'])
  expect(readFiles(join(backup, 'DB'))).toEqual(first)

  expect(await dump('--no-verify')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('verified') })
  expect(readFiles(join(backup, 'DB'))).not.toEqual(first)
})

it('a dump replaces nothing but a dump', async () => {
  const { data, backup } = createData()
  const dump = () => runCommand('dump', backup, '--local', '--persist-to', data)
  for (let n = 0; n < 2; n++) expect(await dump()).toMatchObject({ code: 0 })
  writeFileSync(join(backup, 'DB', 'notes.txt'), 'Keep this.')
  const { code, stderr } = await dump()
  expect([code, stderr]).toEqual([1, expect.stringContaining('DB has notes.txt, which is not part of a dump')])
  expect(readdirSync(join(backup, 'DB')).sort()).toEqual(['0001-last.sql', 'notes.txt'])
})

it('keeps the old dump if the command was killed while it replaced it', async () => {
  const { data, database, backup } = createData()
  const dump = () => runCommand('dump', backup, '--local', '--persist-to', data)
  await dump()
  renameSync(join(backup, 'DB'), join(backup, 'DB.replaced'))
  mkdirSync(join(backup, 'DB.unfinished.999999999'))
  database.exec('create table files (id integer primary key, file blob); insert into files values (1, zeroblob(60000))')
  expect(await dump()).toMatchObject({ code: 1 })
  expect(readdirSync(backup)).toEqual(['DB'])
})

it('a database that DB does not know does not replace the dump of its slot', async () => {
  const { data, database, backup } = createData()
  const slot1 = createDatabase(data, 'DB_1')
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  for (const each of [database, slot1])
    each.exec(`insert into slotMarks (slot, mark, isConfirmed) values (1, 'the mark', 1)`)
  const dump = () => runCommand('dump', backup, '--local', '--persist-to', data)
  expect(await dump()).toMatchObject({ code: 0 })
  const first = readFiles(join(backup, 'DB_1'))

  slot1.exec('delete from slotMarks')
  const { code, stdout, stderr } = await dump()
  expect([code, stdout]).toEqual([1, `${join(backup, 'DB')}: one file, verified\n`])
  expect(stderr).toContain('DB_1: not dumped: it is not the database that DB knows')
  expect(readFiles(join(backup, 'DB_1'))).toEqual(first)
})

it('a dump of deployed databases goes on after one fails, and keeps nothing of that one', async () => {
  const { folder, data } = createData()
  const whole = join(folder, 'whole')
  await runCommand('dump', whole, '--local', '--persist-to', data)
  const slots = [
    { slot: 1, name: 'broken' },
    { slot: 2, name: 'whole' },
  ]
  const { code, stdout, stderr } = await dumpDeployed(folder, join(whole, 'DB', '0001-last.sql'), slots)
  expect([code, stdout.split('\n').length]).toEqual([1, 3])
  expect(stderr).toContain('DB_1: not dumped: wrangler d1 export broken failed')
  expect(stderr.match(/exported with mode \d+/g)).toEqual(Array(2).fill('exported with mode 600'))
  expect(readdirSync(join(folder, 'backup'))).toEqual(['DB', 'DB_2'])
  expect(readFiles(join(folder, 'backup', 'DB_2'))).toEqual(readFiles(join(whole, 'DB')))
})

it('a dump of which files are missing is not restored', async () => {
  const { data, backup, restored } = createData()
  await runCommand('dump', backup, '--local', '--persist-to', data)
  const [statement = ''] = readFiles(join(backup, 'DB'))
  writeFileSync(join(backup, 'DB', '0003-last.sql'), statement)
  const { code, stderr } = await runCommand('restore', backup, '--persist-to', restored)
  expect([code, stderr]).toEqual([1, expect.stringContaining('files of the dump are missing')])
})

it('the memory that dump and restore take does not grow with the database, and files have at most 32 MB', async () => {
  const measure = async (megabytes: number) => {
    const folder = createFolder()
    const [data, backup] = [join(folder, 'data'), join(folder, 'backup')]
    const database = createDatabase(data)
    for (let n = 0; n < megabytes; n++) addMember(database, Array(100).fill(Array(5).fill('A memo. '.repeat(125))))
    database.close()
    const dumped = await runCommand('dump', backup, '--local', '--persist-to', data)
    const restored = await runCommand('restore', backup, '--persist-to', join(folder, 'restored'))
    expect([dumped.code, restored.code]).toEqual([0, 0])
    expect(countMemos(localPath(join(folder, 'restored'), 'DB'))).toEqual({ memos: megabytes * 500 })
    const files = readdirSync(join(backup, 'DB'))
    for (const name of files) expect(statSync(join(backup, 'DB', name)).size).toBeLessThanOrEqual(32_000_000)
    return { dump: dumped.memory, restore: restored.memory, files: files.length }
  }
  const [small, large] = [await measure(10), await measure(40)]
  expect(large.files).toBeGreaterThan(small.files)
  expect(large.dump / small.dump).toBeLessThan(1.2)
  expect(large.restore / small.restore).toBeLessThan(1.2)
})
