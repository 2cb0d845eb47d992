import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { TEXT_CHECKS } from './integrity.ts'
import { compareDigests, type Digests, digestTables, toStatements } from './rows-as-sql.ts'
import { readStatements } from './statements.ts'

// A dump is a folder of files 0001.sql, 0002.sql and so on, the last of which is called 0003-last.sql.

const MAX_FILE_BYTES = 32_000_000
const BUFFER_CHARACTERS = 65_536
/** D1's limit. */
const LIMITS = { sqlLength: 100_000 }

export type Report = (line: string) => void

/**
 * Reports a file, and collects its garbage (node --expose-gc), which Node otherwise keeps much of while memory is left.
 */
const endFile = (report: Report, line: string) => {
  globalThis.gc?.()
  report(line)
}

const writeFiles = (folder: string, statements: Iterable<string>, report: Report) => {
  const pathOf = (number: number, suffix = '') => join(folder, `${String(number).padStart(4, '0')}${suffix}.sql`)
  let count = 1
  let bytes = 0
  let buffer = ''
  let file = openSync(pathOf(count), 'wx', 0o600)
  const flush = () => {
    writeSync(file, buffer)
    buffer = ''
  }
  const close = () => {
    flush()
    closeSync(file)
    endFile(report, `file ${count} written, ${(bytes / 1e6).toFixed(1)} MB`)
  }
  for (const statement of statements) {
    const line = `${statement};\n`
    const length = Buffer.byteLength(line)
    if (bytes + length > MAX_FILE_BYTES) {
      close()
      count += 1
      bytes = 0
      file = openSync(pathOf(count), 'wx', 0o600)
    }
    buffer += line
    bytes += length
    if (buffer.length > BUFFER_CHARACTERS) flush()
  }
  close()
  renameSync(pathOf(count), pathOf(count, '-last'))
  return count
}

/**
 * The paths of a dump's files, in order.
 * @throws Error if one is missing
 */
export const listFiles = (folder: string) => {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const isComplete = files.every((name, index) => Number.parseInt(name, 10) === index + 1)
  if (!isComplete || !files.at(-1)?.endsWith('-last.sql')) throw new Error(`${folder}: files of the dump are missing`)
  return files.map((name) => join(folder, name))
}

/** Opens a new database to fill, which need not survive a crash. */
const openNew = (path: string, options: object) => {
  const database = new DatabaseSync(path, options)
  database.exec('pragma journal_mode = off; pragma synchronous = off; begin')
  return database
}

/** Reports rows whose texts differ in size from their counters: an export replaces \n in texts that have line feeds. */
const reportChangedTexts = (database: DatabaseSync, report: Report) => {
  const all = { first: 0, last: Number.MAX_SAFE_INTEGER }
  for (const check of TEXT_CHECKS) {
    for (const { table, id, field, expected, found } of database.prepare(check).iterate(all))
      report(
        `${table} ${id}: ${field} is ${found}, but the texts in the export have ${expected} bytes: see Backups in docs/operations.md`,
      )
  }
}

/** Loads the output of `wrangler d1 export` into a new database. Its tables are in an order that D1 cannot restore. */
export const loadExport = (path: string, databasePath: string, report: Report) => {
  const database = openNew(databasePath, { enableForeignKeyConstraints: false })
  for (const statement of readStatements(path)) database.exec(statement)
  database.exec('commit')
  reportChangedTexts(database, report)
  return database
}

/** Restores a dump into a new database file, with D1's limits. Returns the digests of the database. */
export const restoreFiles = (folder: string, path: string, report: Report) => {
  using database = openNew(path, { limits: LIMITS })
  for (const [index, file] of listFiles(folder).entries()) {
    for (const statement of readStatements(file)) database.exec(statement)
    endFile(report, `file ${index + 1} restored`)
  }
  database.exec('commit')
  return digestTables(database)
}

/** @throws Error if a folder has other files than those of a dump: the new dump replaces the folder */
const requireReplaceable = (folder: string) => {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const other = names.find((name) => !/^\d{4,}(?:-last)?\.sql$/.test(name))
  if (other) throw new Error(`${folder} has ${other}, which is not part of a dump: choose another folder`)
}

const UNFINISHED = '.unfinished.'

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Deletes the scratch folders of dumps that were killed. */
const deleteAbandoned = (folder: string) => {
  const prefix = `${basename(folder)}${UNFINISHED}`
  const names = existsSync(dirname(folder)) ? readdirSync(dirname(folder)) : []
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    if (!isRunning(Number(name.slice(prefix.length)))) rmSync(join(dirname(folder), name), { recursive: true })
  }
}

/**
 * Writes a dump of a database, and replaces an older one only once this one has been restored and compared. Beside the
 * dump it needs space for the restored database.
 * @param open opens the database, and may write temporary files to the folder that it receives
 */
export const writeDump = (
  path: string,
  open: (scratch: string) => DatabaseSync,
  { isVerified, report }: { isVerified: boolean; report: Report },
) => {
  // Removes a trailing slash: the scratch folder must be beside the folder, not in it.
  const folder = resolve(path)
  requireReplaceable(folder)
  const replaced = `${folder}.replaced`
  // An earlier run was killed while it replaced a dump.
  if (existsSync(replaced) && !existsSync(folder)) renameSync(replaced, folder)
  deleteAbandoned(folder)
  const scratch = `${folder}${UNFINISHED}${process.pid}`
  const files = join(scratch, 'files')
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(files, { recursive: true, mode: 0o700 })
  try {
    using source = open(scratch)
    const restored = join(scratch, 'restored.sqlite')
    writeFileSync(restored, '', { mode: 0o600 })
    // In one transaction, so that the dump has no part of what is written meanwhile.
    source.exec('begin')
    const digests: Digests = {}
    const count = writeFiles(files, toStatements(source, digests), report)
    if (isVerified) {
      const found = restoreFiles(files, restored, (line) => report(`verification: ${line}`))
      const differences = compareDigests(digests, found)
      if (differences.length > 0) throw new Error(`The dump restores another database: ${differences.join(', ')}`)
    }
    rmSync(replaced, { recursive: true, force: true })
    if (existsSync(folder)) renameSync(folder, replaced)
    renameSync(files, folder)
    rmSync(replaced, { recursive: true, force: true })
    return count
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
