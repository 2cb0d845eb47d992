// `npm run db -- sort-dump`: reorders the output of `wrangler d1 export` so that it can be restored.
import { readFileSync, writeFileSync } from 'node:fs'
import { unstable_splitSqlQuery } from 'wrangler'
import { sortDump } from '../data/sort-statements.ts'

const [dump, sorted] = process.argv.slice(2)
if (!dump || !sorted) {
  console.error('Usage: npm run db -- sort-dump DUMP.sql RESTORE.sql')
  process.exit(1)
}
const statements = sortDump(unstable_splitSqlQuery(readFileSync(dump, 'utf8')))
writeFileSync(sorted, `${statements.join(';\n')};\n`)
console.log(`${sorted}: ${statements.length} statements`)
