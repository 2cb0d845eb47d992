// `npm run db -- fold`: stores the folded texts of books and memos written before the columns existed. Safe to repeat
// and to interrupt, and while the service runs.
import { parseArgs } from 'node:util'
import { foldRows } from '../data/fold-rows.ts'
import { LOCATION_OPTIONS, openStores, readLocation } from '../data/stores.ts'

const { values: flags } = parseArgs({ options: LOCATION_OPTIONS })
const location = readLocation(flags, 'npm run db -- fold --local [--persist-to DIR] | --remote')
const { slots, dispose } = await openStores(location)
for (const { binding, database } of slots) {
  const report = (table: string, count: number) => console.error(`${binding}: ${count} ${table} read`)
  const { read, updated } = await foldRows(database, report)
  console.log(`${binding}: ${read} books and memos read, ${updated} updated`)
}
await dispose()
process.exit(0)
