import { LOCATION_OPTIONS } from '../data/stores.ts'
import { printError } from '../print.ts'

export const BACKUP_OPTIONS = { ...LOCATION_OPTIONS, without: { type: 'string', multiple: true } } as const

/** Runs a command whose files must be private, and sets the exit code: 1 if it fails, or returns false. */
export const runBackup = async (command: () => Promise<unknown>) => {
  // Wrangler's files, too: they have password hashes.
  process.umask(0o077)
  // Ends as usual, so that what is unfinished is deleted.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  try {
    if ((await command()) === false) process.exitCode = 1
  } catch (error) {
    printError((error as Error).message)
    process.exitCode = 1
  }
}
