// `npm run db -- dump`: writes the database of every slot to a file that `npm run db -- restore` or D1 can restore.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { unstable_splitSqlQuery } from 'wrangler'
import { sortDump } from '../data/sort-statements.ts'
import { failWithUsage, LOCATION_OPTIONS, type OpenSlot, openStores, readLocation } from '../data/stores.ts'
import { readSlots } from '../wrangler/config.ts'

const USAGE = 'npm run db -- dump FOLDER --local [--persist-to DIR] | --remote'

const write = (folder: string, binding: string, dump: string) => {
  const statements = sortDump(unstable_splitSqlQuery(dump))
  const path = join(folder, `${binding}.sql`)
  writeFileSync(path, `${statements.join(';\n')};\n`, { mode: 0o600 })
  console.log(`${path}: ${statements.length} statements`)
}

/** What `wrangler d1 export --local` runs, which knows no --persist-to. miniflare matches the text of the query. */
const dumpLocal = async ({ database }: OpenSlot) => {
  const [lines = []] = await database.prepare('PRAGMA miniflare_d1_export(?,?,?);').bind(0, 0).raw<string[]>()
  return lines.join('\n')
}

const dumpRemote = (name: string, path: string) => {
  const args = ['d1', 'export', name, '--remote', '--skip-confirmation', '--output', path]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const { status } = spawnSync('wrangler', args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  if (status !== 0) process.exit(status ?? 1)
  return readFileSync(path, 'utf8')
}

const { values: flags, positionals } = parseArgs({ options: LOCATION_OPTIONS, allowPositionals: true })
const [folder, ...others] = positionals
if (!folder || others.length > 0) failWithUsage(USAGE)
const location = readLocation(flags, USAGE)
mkdirSync(folder, { recursive: true })
if (location.remote) {
  // One after the other, since a dump blocks its database: never all members at once.
  for (const { binding, name } of readSlots()) write(folder, binding, dumpRemote(name, join(folder, `${binding}.sql`)))
} else {
  const { slots, dispose } = await openStores(location)
  for (const slot of slots) write(folder, slot.binding, await dumpLocal(slot))
  await dispose()
}
process.exit(0)
