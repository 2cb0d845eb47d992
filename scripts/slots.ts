// `npm run slots`: lists the slots with their members and sizes, and how close they are to the limit of a database.
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { fixed, formatTable, whole } from '../test/support/table.ts'
import { forEachAtOnce } from './at-once.ts'
import { placeOf } from './slots/table.ts'
import { LOCATION_OPTIONS, type OpenSlot, openStores, readLocation } from './stores.ts'

const USAGE = 'npm run slots [-- --local [--persist-to DIR] | --remote]'
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
  const child = spawn('wrangler', ['d1', 'info', name, '--json'], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const info = JSON.parse(await text(child.stdout)) as { read_queries_24h?: number; write_queries_24h?: number }
  return ((info.read_queries_24h ?? 0) + (info.write_queries_24h ?? 0)) / SECONDS_PER_DAY
}

const { values: flags } = parseArgs({ options: LOCATION_OPTIONS })
const location = readLocation({ ...flags, local: flags.local ?? !flags.remote }, USAGE)
const { slots, dispose } = await openStores(location)
const sizes = new Map<number, Size>()
await forEachAtOnce(slots, async (slot) => {
  const rate = location.remote ? { perSecond: await readQueryRate(slot) } : {}
  sizes.set(slot.slot, { ...(await measure(slot)), ...rate })
})
await dispose()

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
console.log(formatTable(header, rows))
process.exit(0)
