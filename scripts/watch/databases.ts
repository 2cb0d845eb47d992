// Prints the state of all databases as JSON, for `npm run watch`.
import { forEachAtOnce } from '../data/at-once.ts'
import { LOCATION_OPTIONS, openStores, readLocation } from '../data/stores.ts'
import { parseOptions } from '../options.ts'
import { print } from '../print.ts'
import { DAY_MS, type DatabaseState } from './alerts.ts'

const USAGE = 'scripts/watch/databases.ts --local [--persist-to DIR] | --remote'

/** Without the jobs of members who are back after a restore, which the sweep leaves alone. */
const OVERDUE = `select count(*) as overduePurges from purgeJobs
  where createdAt < ?
    and not exists (select 1 from members where members.memberId = purgeJobs.memberId and withdrawnAt is null)`

const { values: flags } = parseOptions({ options: LOCATION_OPTIONS }, USAGE)
const { slots, dispose } = await openStores(readLocation(flags, USAGE))
const states: DatabaseState[] = []
await forEachAtOnce(slots, async ({ binding, database }) => {
  const { results, meta } = await database
    .prepare(OVERDUE)
    .bind(Date.now() - DAY_MS)
    .all<{ overduePurges: number }>()
  states.push({ binding, bytes: meta.size_after, overduePurges: results[0]?.overduePurges ?? 0 })
})
print(JSON.stringify(states.sort((a, b) => a.binding.localeCompare(b.binding))))
await dispose()
process.exit(0)
