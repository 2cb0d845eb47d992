// @module-tag slow
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { StoredObject } from '../../scripts/backup/manifest.ts'
import { forgetDeleted, pathOfObject, saveObjects } from '../../scripts/backup/objects.ts'
import { restoreBackup } from '../../scripts/backup/restore.ts'
import { writeBackup } from '../../scripts/backup/write.ts'
import { findMismatches } from '../../scripts/data/integrity.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import { toMark } from '../../src/values/marks.ts'
import {
  addMember,
  createDatabase,
  createFolder,
  JWT_SECRET,
  runBackupScript,
  runCommand,
  runHere,
} from './databases.ts'
import { buildWorkers, runInstruction } from './serve.ts'

const HOSTILE_TEXT = "It's; DROP TABLE books;\n-- END; “그래서”\r\n/* \\n \\10 \u2028 👩‍💻"
const LONG_TEXTS = [
  `${'한'.repeat(59_999)}\n`,
  "'".repeat(60_000),
  '👩‍💻\\n\n'.repeat(9000),
  '\n\\10\r'.repeat(12_000),
  // With marks of line feeds, a statement could become longer than D1 accepts.
  `${'x'.repeat(500)}\\10${'.'.repeat(9990)}${'\n'.repeat(9990)}${'x'.repeat(45_000)}`,
]

const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Local data of one database, and where it is backed up and restored. */
const createData = (name: string) => {
  const [data = '', backup = '', restored = ''] = ['data', 'backup', 'restored'].map((each) => join(folder, name, each))
  return {
    ...{ data, backup, restored, database: createDatabase(data) },
    writeBackup: () => runBackupScript('backup', backup, '--local', '--persist-to', data),
    restore: () => runBackupScript('restore', backup, '--local', '--persist-to', restored),
  }
}
type Outcome = Awaited<ReturnType<typeof runBackupScript>>

/** A member has texts that are hard to dump. */
const small = createData('small')
beforeAll(buildWorkers)
let written: Outcome
let read: Outcome
beforeAll(async () => {
  const { database, data, backup } = small
  addMember(database, [[HOSTILE_TEXT], LONG_TEXTS, ...Array(40).fill(['A memo', 'Another memo'])])
  addMember(database, [])
  // The highest identifier assigned is kept, too.
  database.exec(
    `delete from members where memberId = 2; insert into addresses values (zeroblob(16), 3, 1, 3, 'HELD', null)`,
  )
  const { bucket, dispose } = await openStores({ persistTo: data })
  await bucket.put('marks/2026-01-01T00:00:00.000Z/9/withdrawn', '')
  await dispose()
  mkdirSync(backup)
  chmodSync(backup, 0o755)
  written = await small.writeBackup()
  read = await small.restore()
})

const TABLES = ['members', 'books', 'memos', 'authors', 'addresses']
const readRows = (database: DatabaseSync) =>
  TABLES.map((table) => database.prepare(`select * from ${table} order by 1, 2`).all())
const countMemos = (path: string) => new DatabaseSync(path).prepare('select count(*) as memos from memos').get()

it('is private, and holds statements that D1 accepts, each on one line', () => {
  const { backup, restored } = small
  const files = readdirSync(backup, { recursive: true }).map(String).sort()
  expect(files.filter((name) => /\.\w+$/.test(name))).toEqual([
    'DB/0001.sql',
    'manifest.json',
    'objects.jsonl',
    'objects/marks/2026-01-01T00%3A00%3A00.000Z',
  ])
  const openToOthers = (path: string) =>
    ['', ...readdirSync(path, { recursive: true }).map(String)].filter((name) => {
      const { mode } = statSync(join(path, name))
      return (mode & 0o777 & ~(mode & 0o100 ? 0o700 : 0o600)) !== 0
    })
  expect([openToOthers(backup), openToOthers(restored)]).toEqual([[], []])
  expect(statSync(localPath(restored, 'DB')).mode & 0o777).toBe(0o600)

  const lines = readFileSync(join(backup, 'DB', '0001.sql'), 'utf8').split('\n')
  const statements = lines.filter((line) => /^(INSERT|UPDATE)/.test(line))
  expect(statements.length).toBeGreaterThan(120)
  for (const line of statements)
    expect([line.slice(-2), Buffer.byteLength(line) <= 100_000]).toEqual([expect.stringMatching(/.;/), true])
})

it('restores every row, counter and trigger, and texts longer than a statement of D1', async () => {
  expect(written).toMatchObject({ code: 0 })
  expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining('no mismatches') })
  expect(readRows(new DatabaseSync(localPath(small.restored, 'DB')))).toEqual(readRows(small.database))

  const { slots, dispose } = await openStores({ persistTo: small.restored })
  const [slot] = slots
  if (!slot) throw new Error('There is no slot')
  await slot.database.prepare(`delete from memos where memoContent = ?`).bind(HOSTILE_TEXT).run()
  await slot.database.prepare(`update books set bookStatus = 'ING' where bookId = 1`).run()
  expect(await findMismatches(slot.database)).toEqual([])
  await dispose()
})

it('needs a new folder, and leaves none if it fails', async () => {
  const notes = join(createFolder(), 'notes')
  writeFileSync(notes, 'Keep this.')
  const write = (to: string, env = {}) => runHere(env, () => writeBackup(to, { persistTo: small.data }))
  await expect(write(join(notes, '..'))).rejects.toThrow(`is not empty: choose a new folder`)
  expect(readFileSync(notes, 'utf8')).toBe('Keep this.')
  await expect(write(join(notes, 'backup'))).rejects.toThrow(/^ENOTDIR.*'$/)
  await expect(write(createFolder(), { JWT_SECRET: '' })).rejects.toThrow('Set JWT_SECRET')
  const { database, backup, ...failing } = createData('failing')
  database.exec('create table files (id integer primary key, file blob); insert into files values (1, zeroblob(60000))')
  expect(await failing.writeBackup()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('DB: string or blob too big'),
  })
  expect(existsSync(backup)).toBe(false)
})

it('has each object that a row may name, and no image that was deleted meanwhile', async () => {
  const folder = createFolder()
  const { bucket, dispose } = await openStores({ persistTo: createData('images').data })
  const saved = new Map<string, StoredObject>()
  const copy = () => saveObjects(bucket, folder, saved, () => {})
  const [kept, deleted, added, file] = ['images/1/a.png', 'images/1/b.png', 'images/1/c.png', 'imports/1/file'] as const
  for (const key of [kept, deleted, file]) await bucket.put(key, `the content of ${key}`)
  await copy()
  for (const key of [deleted, file]) await bucket.delete(key)
  await bucket.put(added, '')
  forgetDeleted(folder, saved, await copy())
  await dispose()
  expect([...saved.keys()].sort()).toEqual([kept, added, file])
  expect(readFileSync(join(folder, 'objects', file), 'utf8')).toBe(`the content of ${file}`)
  expect(readdirSync(join(folder, 'objects/images/1'))).toEqual(['a.png', 'c.png'])
})

it('gives a file to each object, whatever its name', () => {
  expect(pathOfObject(`marks/1/operator ${'ㄱ'.repeat(300)}`)).toMatch(/^objects\/marks\/1\/[0-9a-f]{64}$/)
  expect(pathOfObject('a:b/%/c d')).toBe('objects/a%3Ab/%25/c%20d')
  const mark = toMark({ at: 0, memberId: 1, kind: 'operator', action: 'failed: export: /a//../b' })
  expect(pathOfObject(mark).split('/')).toHaveLength(5)
  for (const key of ['../a', 'a/./b', 'a//b']) expect(() => pathOfObject(key)).toThrow('no file can have this name')
})

/** Starts a script of package.json, and ends it when a path exists. */
const end = async (name: 'backup' | 'restore', args: string[], when: string) => {
  const [command, ...flags] = String(JSON.parse(readFileSync('package.json', 'utf8')).scripts[name]).split(' ')
  const TMPDIR = createFolder()
  const env = { ...process.env, JWT_SECRET, TMPDIR }
  const child = spawn(String(command), [...flags, ...args], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await vi.waitFor(() => expect(existsSync(when)).toBe(true), { timeout: 60_000, interval: 20 })
  child.kill('SIGTERM')
  expect(await ended).toEqual([143, null])
  expect(readdirSync(TMPDIR).filter((each) => !each.includes('compile-cache'))).toEqual([])
}

it('leaves nothing when it is ended', async () => {
  const folder = createFolder()
  const backup = join(folder, 'backup')
  await end('backup', [backup, '--local', '--persist-to', small.data], backup)
  expect(readdirSync(folder)).toEqual([])
})

it('says that a restore was ended, and completes it', async () => {
  const persistTo = join(createFolder(), 'restored')
  await end('restore', [small.backup, '--local', '--persist-to', persistTo], join(persistTo, 'restore.unfinished'))
  const serve = runInstruction('CMD', persistTo, { PORT: '0' })
  const errors = text(serve.stderr)
  expect([await once(serve, 'exit'), await errors]).toEqual([
    [1, null],
    expect.stringContaining(`A restore into ${persistTo} was interrupted`),
  ])
  expect((await runHere({}, () => restoreBackup(small.backup, { persistTo }, {}))).result).toBe(true)
  expect(countMemos(localPath(persistTo, 'DB'))).toEqual(countMemos(localPath(small.data, 'DB')))
})

it.each(['backup', 'restore'] as const)('npm run %s -- --help prints the options', async (name) => {
  const { code, stdout } = await runBackupScript(name, '--help')
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Usage: npm run ${name} -- FOLDER --local`)])
})

it.each(['', 'verify', 'slots', 'migrate', 'time-migrations'])('npm run db -- %s --help does, too', async (command) => {
  const { code, stdout } = await runCommand(...[command, '--help'].filter(Boolean))
  expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^Usage: npm run db -- ${command}`))])
})

it('refuses a database that DB does not know', async () => {
  const { data, database, backup } = createData('slots')
  const slot1 = createDatabase(data, 'DB_1')
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  database.exec(`insert into slotMarks (slot, mark, isConfirmed) values (1, 'the mark', 1)`)
  const ADDRESS_KEY = 'a key of the tests only, for the hashes of addresses'
  const write = (to: string) => runHere({ ADDRESS_KEY }, () => writeBackup(to, { persistTo: data }))
  await expect(write(`${backup}-refused`)).rejects.toThrow('DB_1: it is not the database that DB knows')
  slot1.exec(`insert into slotMarks (slot, mark) values (1, 'the mark')`)
  expect((await write(backup)).stdout).toContain(`${backup}: complete`)
})

it('takes no more memory for a larger database, and files have at most 32 MB', async () => {
  const { database, backup, restored, ...large } = createData('large')
  for (let n = 0; n < 32; n++) addMember(database, Array(20).fill(Array(5).fill('A memo. '.repeat(625))))
  const memos = countMemos(String(database.location()))
  database.close()
  const [ofBackup, ofRestore] = [await large.writeBackup(), await large.restore()]
  expect([ofBackup.code, ofRestore.code]).toEqual([0, 0])
  expect(countMemos(localPath(restored, 'DB'))).toEqual(memos)
  const files = readdirSync(join(backup, 'DB'))
  expect(files.length).toBeGreaterThan(1)
  for (const name of files) expect(statSync(join(backup, 'DB', name)).size).toBeLessThanOrEqual(32_000_000)
  expect(ofBackup.memory / written.memory).toBeLessThan(1.2)
  expect(ofRestore.memory / read.memory).toBeLessThan(1.2)
})
