// `npm run db -- verify`: runs the integrity checks and lists what does not match. Exits with 1 if anything does not.
// It works in steps, and the service can keep running.
import { LOCATION_OPTIONS, openStores, readLocation } from '../data/stores.ts'
import { verify } from '../data/verify.ts'
import { failWithUsage, parseOptions } from '../options.ts'
import { print, printError } from '../print.ts'

const USAGE = `npm run db -- verify [--repair [--after-restore SLOT|all]] --local [--persist-to DIR] | --remote
  --repair   adds missing purge jobs and missing rows of images, deletes rows of missing images, sets sessions and access tokens of
              blocked members aside, deletes objects of reading statistics without a row, and forgets the reading time of
              members whose objects are lost: the next upload counts all of it again
  --after-restore  also does what a restored database needs: docs/operations.md#after-a-restore
With several databases, set ADDRESS_KEY in the environment. With --repair, set TIME_ZONE in the environment to that of the deployment,
unless wrangler.toml sets it`
/** Longer than an upload stores what it has read. */
const SETTLE_MS = 30_000

const options = {
  ...LOCATION_OPTIONS,
  repair: { type: 'boolean', default: false },
  'after-restore': { type: 'string' },
} as const
const { values: flags } = parseOptions({ options }, USAGE)
const { dispose, ...stores } = await openStores(readLocation(flags, USAGE))
const which = flags['after-restore']
const restored = stores.slots.filter(({ slot }) => which === 'all' || which === String(slot))
if (which !== undefined && (!flags.repair || restored.length === 0)) failWithUsage(USAGE)

const isSound = await verify(stores, {
  repair: flags.repair,
  restored,
  settleMs: flags.remote ? SETTLE_MS : 0,
  print,
  progress: printError,
})
await dispose()
process.exit(isSound ? 0 : 1)
