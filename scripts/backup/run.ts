import { LOCATION_OPTIONS } from '../data/stores.ts'
import { describeError } from '../paths.ts'
import { printError } from '../print.ts'
import { exitOnSignals } from '../wrangler/run.ts'

export const BACKUP_OPTIONS = { ...LOCATION_OPTIONS, without: { type: 'string', multiple: true } } as const

/** Runs a command whose files must be private, and sets the exit code: 1 if it fails, or returns false. */
export const runBackup = async (command: () => Promise<unknown>) => {
  // Wrangler's files, too: they have password hashes.
  process.umask(0o077)
  exitOnSignals()
  try {
    if ((await command()) === false) process.exitCode = 1
  } catch (error) {
    printError(describeError(error))
    process.exitCode = 1
  }
}
