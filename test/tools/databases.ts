import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished, vi } from 'vitest'
import { localPath } from '../../scripts/data/stores.ts'

const NOW = '2026-01-01T00:00:00'

/** A folder that is deleted after the test. */
export const createFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Creates the local database of a slot, with all migrations. */
export const createDatabase = (persistTo: string, binding = 'DB') => {
  const path = localPath(persistTo, binding)
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = wal; pragma synchronous = off')
  for (const file of globSync('migrations/*.sql').sort()) database.exec(readFileSync(file, 'utf8'))
  return database
}

/** Adds a member with a book for each list of memos. */
export const addMember = (database: DatabaseSync, books: string[][]) => {
  const insertMember = `insert into members (email, name, passwordHash, createdAt, updatedAt)
    values (hex(randomblob(16)), 'Mina', 'hash', '${NOW}', '${NOW}') returning memberId`
  const insertBook = database.prepare(
    `insert into books (memberId, title, author, seriesNumber, createdAt) values (?, ?, '한강', 0.1, '${NOW}') returning bookId`,
  )
  const insertMemo = database.prepare(
    `insert into memos (memberId, bookId, position, memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt,
      updatedAt) values (?1, ?2, (select count(*) + 1 from memos where memberId = ?1), 'THOUGHT', ?3, lower(?3), 1, 'PRIVATE',
      '${NOW}', '${NOW}')`,
  )
  database.exec('begin')
  const memberId = Number(database.prepare(insertMember).get()?.memberId)
  for (const memos of books) {
    const bookId = Number(insertBook.get(memberId, memos[0] ?? 'A book')?.bookId)
    for (const memo of memos) insertMemo.run(memberId, bookId, memo)
  }
  database.exec('commit')
}

type Variables = Record<string, string>

const fromHere = (flag: string) => (flag.startsWith('./') ? resolve(flag) : flag)

/** The scripts of package.json. */
export const SCRIPTS: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8')).scripts

/** Runs a script of package.json in a folder, with variables in its environment. */
export const runScript = (name: string, cwd: string, env: Variables, args: string[]) => {
  const [, ...flags] = SCRIPTS[name]?.split(' ') ?? []
  const at = flags.findIndex((flag) => flag.endsWith('.ts') && !flag.includes('resolve-ts'))
  const measure = `process.on('exit', () => console.error('maxRSS', process.resourceUsage().maxRSS))`
  const hook = ['--import', `data:text/javascript,${encodeURIComponent(measure)}`]
  const command = [
    ...hook,
    ...flags.slice(0, at).map(fromHere),
    resolve(flags[at] ?? ''),
    ...flags.slice(at + 1),
    ...args,
  ]
  return new Promise<{ code: number; stdout: string; stderr: string; memory: number }>((settle) => {
    execFile('node', command, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      const memory = Number(/maxRSS (\d+)/.exec(stderr)?.[1]) / 1024
      settle({ code: error ? Number(error.code) : 0, stdout, stderr, memory })
    })
  })
}

/** Runs a command of `npm run db`. Returns its exit code, what it printed, and the most memory it had, in MB. */
export const runCommand = (...args: string[]) => runCommandIn('.', {}, ...args)

/** Runs a command in another folder, with variables in its environment. */
export const runCommandIn = (cwd: string, env: Variables, ...args: string[]) => runScript('db', cwd, env, args)

/** A secret that backups are checked with. */
export const JWT_SECRET = 'a secret of the tests only, which no deployment has'

/** Runs `npm run backup` or `npm run restore`. */
export const runBackupScript = (name: 'backup' | 'restore', ...args: string[]) =>
  runBackupScriptIn('.', {}, name, ...args)

export const runBackupScriptIn = (cwd: string, env: Variables, name: 'backup' | 'restore', ...args: string[]) =>
  runScript(name, cwd, { JWT_SECRET, ...env }, args)

/**
 * Calls what a command does in this process, which is quicker, with the secrets and other variables in the environment.
 * Returns what it printed, and its result.
 */
export const runHere = async <Result>(env: Variables, command: () => Promise<Result>) => {
  const lines: string[] = []
  const spies = (['log', 'error'] as const).map((name) => vi.spyOn(console, name).mockImplementation(() => {}))
  spies[0]?.mockImplementation((line) => lines.push(line))
  for (const [name, value] of Object.entries({ JWT_SECRET, ...env })) vi.stubEnv(name, value)
  try {
    return { result: await command(), stdout: lines.join('\n') }
  } finally {
    vi.unstubAllEnvs()
    for (const spy of spies) spy.mockRestore()
  }
}

/** Runs a command of `npm run members`. */
export const runMembersScript = (env: Variables, ...args: string[]) => runScript('members', '.', env, args)

/** Runs `npm run watch`. */
export const runWatchScript = (env: Variables, ...args: string[]) => runScript('watch', '.', env, args)

/** Runs `npm run import`. */
export const runImportScript = (...args: string[]) => runScript('import', '.', {}, args)
