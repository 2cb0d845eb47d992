import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Slot } from '../slots/table.ts'
import { TEXT_CHECKS } from './integrity.ts'
import { compareDigests, type Digests, digestTables, toStatements } from './rows-as-sql.ts'
import { readStatements } from './statements.ts'
import { localPath } from './stores.ts'

// A dump is a folder of files 0001.sql, 0002.sql and so on.

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
  const pathOf = (number: number) => join(folder, `${String(number).padStart(4, '0')}.sql`)
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
  return Array.from({ length: count }, (_, index) => pathOf(index + 1))
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
const loadExport = (path: string, databasePath: string, report: Report) => {
  const database = openNew(databasePath, { enableForeignKeyConstraints: false })
  for (const statement of readStatements(path)) database.exec(statement)
  database.exec('commit')
  reportChangedTexts(database, report)
  return database
}

/** Opens the local database of a slot. */
export const openLocalFile = (persistTo: string, { binding }: Slot) => {
  const path = localPath(persistTo, binding)
  if (!existsSync(path)) throw new Error(`${persistTo} has no database ${binding}`)
  return new DatabaseSync(path, { readOnly: true })
}

/** Exports the deployed database of a slot to a folder, and opens the copy. */
export const openExport = ({ name }: Slot, folder: string, report: Report) => {
  const path = join(folder, 'export.sql')
  const args = ['d1', 'export', name, '--remote', '--skip-confirmation', '--output', path]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const { status } = spawnSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  if (status !== 0) throw new Error(`wrangler d1 export ${name} failed`)
  const database = loadExport(path, join(folder, 'export.sqlite'), report)
  rmSync(path)
  return database
}

/** Restores the files of a dump into a new database file, with D1's limits. Returns the digests of the database. */
export const restoreFiles = (files: string[], path: string, report: Report) => {
  using database = openNew(path, { limits: LIMITS })
  for (const [index, file] of files.entries()) {
    for (const statement of readStatements(file)) database.exec(statement)
    endFile(report, `file ${index + 1} restored`)
  }
  database.exec('commit')
  return digestTables(database)
}

/**
 * Writes a dump of a database to a new folder, and restores it, to compare. Returns the digests of the database.
 * @param scratch a folder for the restored database
 * @throws Error if the dump restores another database
 */
export const writeDump = (database: DatabaseSync, folder: string, scratch: string, report: Report) => {
  mkdirSync(folder, { mode: 0o700 })
  const digests: Digests = {}
  // In one transaction, so that the dump has no part of what is written meanwhile.
  database.exec('begin')
  const files = writeFiles(folder, toStatements(database, digests), report)
  database.exec('commit')
  const restored = join(scratch, 'restored.sqlite')
  const found = restoreFiles(files, restored, (line) => report(`verification: ${line}`))
  rmSync(restored)
  const differences = compareDigests(digests, found)
  if (differences.length > 0) throw new Error(`The dump restores another database: ${differences.join(', ')}`)
  return digests
}
