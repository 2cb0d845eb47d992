// `npm run db -- sort-dump`: makes a dump that can be restored from the output of `wrangler d1 export`.
import { join } from 'node:path'
import { loadExport, writeDump } from '../data/dump-files.ts'
import { failWithUsage, parseOptions } from '../data/stores.ts'

const USAGE = 'npm run db -- sort-dump EXPORT.sql FOLDER'
const [exported, folder, ...others] = parseOptions({ allowPositionals: true }, USAGE).positionals
if (!exported || !folder || others.length > 0) failWithUsage(USAGE)
process.umask(0o077)
const open = (scratch: string) => loadExport(exported, join(scratch, 'export.sqlite'), console.error)
const count = writeDump(folder, open, { isVerified: true, report: console.error })
console.log(`${folder}: ${count === 1 ? 'one file' : `${count} files`}, verified`)
