// `npm run db -- slots`: lists the slots with their members and sizes, and how close they are to the limit of a
// database.
// `npm run db -- slots rebuild N`: rebuilds the entries of a slot in the directory.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { hashAddress } from '../../src/auth/keyed-hash.ts'
import { fixed, formatTable, whole } from '../../test/support/service/table.ts'
import { forEachAtOnce } from '../data/at-once.ts'
import { LOCATION_OPTIONS, type OpenSlot, openStores, readLocation, requireAddressKey } from '../data/stores.ts'
import { failWithUsage, parseOptions } from '../options.ts'
import { print, printError } from '../print.ts'
import { describeDifference, toQuery } from '../slots/compare.ts'
import { findLost, isOtherKey, OTHER_KEY, recordKey } from '../slots/marks.ts'
import { rebuildSlot } from '../slots/rebuild.ts'
import { placeOf } from '../slots/table.ts'

const USAGE = `npm run db -- slots [rebuild SLOT|all [--keep-stale]] [--local [--persist-to DIR] | --remote]
  rebuild       rebuilds the directory's entries of a slot from its members, and lists conflicts
  --keep-stale  keeps entries under another ADDRESS_KEY`
const LIMIT_BYTES = 10e9
const SECONDS_PER_DAY = 86_400

type Size = { members: number; bytes: number; perSecond?: number }

const COUNT = 'select count(*) as members from members where withdrawnAt is null'

const measure = async ({ database }: OpenSlot): Promise<Size> => {
  const { results, meta } = await database.prepare(COUNT).all<{ members: number }>()
  return { members: results[0]?.members ?? 0, bytes: meta.size_after }
}

/** The queries per second of a deployed database, on average over the last 24 hours. */
const readQueryRate = async ({ name }: OpenSlot) => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const { stdout } = await promisify(execFile)('wrangler', ['d1', 'info', name, '--json'], { env })
  const info = JSON.parse(stdout) as { read_queries_24h?: number; write_queries_24h?: number }
  return ((info.read_queries_24h ?? 0) + (info.write_queries_24h ?? 0)) / SECONDS_PER_DAY
}

const list = async (slots: OpenSlot[], isRemote: boolean) => {
  const sizes = new Map<number, Size>()
  await forEachAtOnce(slots, async (slot) => {
    const rate = isRemote ? { perSecond: await readQueryRate(slot) } : {}
    sizes.set(slot.slot, { ...(await measure(slot)), ...rate })
  })
  const header = ['slot', 'database', 'place', 'new members from', 'members', 'bytes', '% of 10 GB', 'queries/s']
  const rows = slots.map((slot) => {
    const { members, bytes, perSecond } = sizes.get(slot.slot) ?? { members: 0, bytes: 0 }
    return [
      slot.binding,
      slot.name,
      placeOf(slot) ?? '',
      slot.newMembers.join(' '),
      whole(members),
      whole(bytes),
      fixed((bytes / LIMIT_BYTES) * 100, 2),
      perSecond === undefined ? '' : fixed(perSecond, 1),
    ]
  })
  print(formatTable(header, rows))
}

/**
 * Exits with a message if a rebuild would take the members of another database, or delete the entries under the right
 * key.
 */
const requireRight = async (slots: OpenSlot[], addressKey: string, keepStale: boolean) => {
  const query = toQuery(slots)
  const numbers = slots.map(({ slot }) => slot)
  const lines = await findLost(query, numbers)
  if (!keepStale && (await isOtherKey(query, addressKey)))
    lines.push(`${OTHER_KEY}: to change it, begin with --keep-stale`)
  for (const line of lines) printError(line)
  if (lines.length > 0) process.exit(1)
}

/** Rebuilds slots one after the other, and returns the number of conflicts. */
const rebuild = async (slots: OpenSlot[], numbers: number[], addressKey: string, keepStale: boolean) => {
  let count = 0
  for (const slot of numbers) {
    const hash = (email: string) => hashAddress(addressKey, email)
    const { added, deleted, conflicts } = await rebuildSlot(slots, slot, hash, { keepStale })
    for (const conflict of conflicts) print(describeDifference(slot, conflict))
    print(`slot ${slot}: ${added} entries made, ${deleted} deleted, ${conflicts.length} conflicts`)
    count += conflicts.length
  }
  return count
}

const options = { ...LOCATION_OPTIONS, 'keep-stale': { type: 'boolean', default: false } } as const
const { values: flags, positionals } = parseOptions({ options, allowPositionals: true }, USAGE)
const [command, which = '', ...others] = positionals
if ((command && command !== 'rebuild') || others.length > 0) failWithUsage(USAGE)
const location = readLocation({ ...flags, local: flags.local ?? !flags.remote }, USAGE)
const { slots, addressKey, dispose } = await openStores(location)
let conflicts = 0
if (command) {
  const numbers = slots
    .map(({ slot }) => slot)
    .filter((slot) => slot > 0 && (which === 'all' || which === String(slot)))
  if (numbers.length === 0) failWithUsage(USAGE)
  const key = requireAddressKey(addressKey)
  await requireRight(slots, key, flags['keep-stale'])
  conflicts = await rebuild(slots, numbers, key, flags['keep-stale'])
  // From now on, a Worker with the old key accepts no new address, and a second run finds those of the last minutes.
  if (which === 'all') await recordKey(toQuery(slots), key, { replace: true })
} else await list(slots, location.remote === true)
await dispose()
process.exit(conflicts > 0 ? 1 : 0)
