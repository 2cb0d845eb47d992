// `npm run db -- sort-dump`: makes a dump that can be restored from the output of `wrangler d1 export`.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadExport, writeDump } from '../data/dump-files.ts'
import { failWithUsage } from '../data/stores.ts'

const [exported, folder, ...others] = parseArgs({ allowPositionals: true }).positionals
if (!exported || !folder || others.length > 0) failWithUsage('npm run db -- sort-dump EXPORT.sql FOLDER')
process.umask(0o077)
const open = (scratch: string) => loadExport(exported, join(scratch, 'export.sqlite'))
const count = writeDump(folder, open, { isVerified: true, report: console.error })
console.log(`${folder}: ${count === 1 ? 'one file' : `${count} files`}, verified`)
