// `npm run restore`: restores a folder that `npm run backup` has written.
import { exit } from 'node:process'
import { restoreBackup } from './backup/restore.ts'
import { BACKUP_OPTIONS, runBackup } from './backup/run.ts'
import { readLocation } from './data/stores.ts'
import { failWithUsage, parseOptions } from './options.ts'

const USAGE = `npm run restore -- FOLDER --local [--persist-to DIR] | --remote [--slot N] [--without SECRET]
  checks the whole backup, then restores it into an empty place
  --slot     restores only the database of this slot
  --without  the name of a secret that is lost`

const options = { ...BACKUP_OPTIONS, slot: { type: 'string' } } as const
const { values: flags, positionals } = parseOptions({ options, allowPositionals: true }, USAGE)
const [folder, ...others] = positionals
const slot = flags.slot === undefined ? undefined : Number(flags.slot)
if (!folder || others.length > 0 || Number.isNaN(slot)) failWithUsage(USAGE)
const location = readLocation(flags, USAGE)
await runBackup(() => restoreBackup(folder, location, { without: flags.without, slot }))
exit()
