// `npm run db -- dump`: writes the database of every slot to a folder of files that `npm run db -- restore` or D1 can
// restore.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { loadExport, type Report, writeDump } from '../data/dump-files.ts'
import { failWithUsage, LOCATION_OPTIONS, localPath, parseOptions, readLocation } from '../data/stores.ts'
import { print, printError } from '../print.ts'
import { createMarkCheck } from '../slots/marks.ts'
import type { Slot } from '../slots/table.ts'
import { readLocalSlots, readSlots } from '../wrangler/config.ts'

const USAGE = `npm run db -- dump FOLDER --local [--persist-to DIR] | --remote [--no-verify]
  --no-verify   does not check that the dump can be restored`

const openLocal = (persistTo: string, { binding }: Slot) => {
  const path = localPath(persistTo, binding)
  if (!existsSync(path)) throw new Error(`${persistTo} has no database ${binding}`)
  return new DatabaseSync(path, { readOnly: true })
}

const openExport = ({ name }: Slot, scratch: string, report: Report) => {
  const path = join(scratch, 'export.sql')
  const args = ['d1', 'export', name, '--remote', '--skip-confirmation', '--output', path]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const { status } = spawnSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  if (status !== 0) throw new Error(`wrangler d1 export ${name} failed`)
  const database = loadExport(path, join(scratch, 'export.sqlite'), report)
  rmSync(path)
  return database
}

const options = { ...LOCATION_OPTIONS, 'no-verify': { type: 'boolean', default: false } } as const
const { values: flags, positionals } = parseOptions({ options, allowPositionals: true }, USAGE)
const [folder, ...others] = positionals
if (!folder || others.length > 0) failWithUsage(USAGE)
const location = readLocation(flags, USAGE)
// A dump has password hashes: wrangler's files must be private, too.
process.umask(0o077)
mkdirSync(folder, { recursive: true })
const checkMark = createMarkCheck()
// One after the other, since a dump blocks its database: never all members at once.
for (const slot of location.remote ? readSlots() : readLocalSlots(location.persistTo)) {
  const path = join(folder, slot.binding)
  const report = (line: string) => printError(`${slot.binding}: ${line}`)
  const open = (scratch: string) => {
    const database = location.remote ? openExport(slot, scratch, report) : openLocal(location.persistTo, slot)
    checkMark(slot.slot, database)
    return database
  }
  try {
    const count = writeDump(path, open, { isVerified: !flags['no-verify'], report })
    print(`${path}: ${count === 1 ? 'one file' : `${count} files`}${flags['no-verify'] ? '' : ', verified'}`)
  } catch (error) {
    printError(`${slot.binding}: not dumped: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
