// `npm run backup`: writes everything to one folder, or rehearses a restore of one.
import { exit } from 'node:process'
import { rehearse } from './backup/restore.ts'
import { BACKUP_OPTIONS, runBackup } from './backup/run.ts'
import { writeBackup } from './backup/write.ts'
import { readLocation } from './data/stores.ts'
import { failWithUsage, parseOptions } from './options.ts'

const USAGE = `npm run backup -- FOLDER --local [--persist-to DIR] | --remote [--without SECRET]
       npm run backup -- rehearse FOLDER [--without SECRET]
  writes the databases, the bucket and a manifest to a new folder; rehearse restores them into a temporary one
  --without  the name of a secret that is lost`

const { values: flags, positionals } = parseOptions({ options: BACKUP_OPTIONS, allowPositionals: true }, USAGE)
const isRehearsal = positionals[0] === 'rehearse'
const [folder, ...others] = isRehearsal ? positionals.slice(1) : positionals
if (!folder || others.length > 0) failWithUsage(USAGE)
const location = isRehearsal ? undefined : readLocation(flags, USAGE)
await runBackup(() => (location ? writeBackup(folder, location, flags.without) : rehearse(folder, flags)))
exit()
