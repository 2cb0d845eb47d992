// Puts what `wrangler d1 export` wrote into an order in which it can be restored.
import { readFileSync, writeFileSync } from 'node:fs'
import { unstable_splitSqlQuery } from 'wrangler'
import { orderDump } from './restore/order.ts'

const [dump, ordered] = process.argv.slice(2)
if (!dump || !ordered) {
  console.error('Usage: npm run db:order -- DUMP.sql RESTORE.sql')
  process.exit(1)
}
const statements = orderDump(unstable_splitSqlQuery(readFileSync(dump, 'utf8')))
writeFileSync(ordered, `${statements.join(';\n')};\n`)
console.log(`${ordered}: ${statements.length} statements`)
