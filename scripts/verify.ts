// `npm run verify`: runs the integrity checks and lists what does not match. Exits with 1 if anything does not. Objects
// in the bucket are checked locally only, since wrangler cannot list a remote bucket.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { getPlatformProxy } from 'wrangler'
import { CHECKS, findMismatches, findOrphans, type Mismatch } from './integrity.ts'

const verifyLocal = async (folder: string) => {
  const persist = { path: join(folder, 'v3') }
  const { env, dispose } = await getPlatformProxy<{ DB: D1Database; IMAGES: R2Bucket }>({ persist })
  try {
    return { mismatches: await findMismatches(env.DB), orphans: await findOrphans(env.DB, env.IMAGES) }
  } finally {
    await dispose()
  }
}

const verifyRemote = () => {
  const args = ['d1', 'execute', 'DB', '--remote', '--json', '--command', CHECKS.join(';')]
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false' }
  const { status, stdout, stderr } = spawnSync('wrangler', args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`wrangler d1 execute failed:\n${stdout}${stderr}`)
  const results = JSON.parse(stdout) as { results: Mismatch[] }[]
  return { mismatches: results.flatMap((result) => result.results), orphans: [] }
}

const flag = { type: 'boolean' } as const
const persistTo = { type: 'string', default: '.wrangler/state' } as const
const { values: flags } = parseArgs({ options: { local: flag, remote: flag, 'persist-to': persistTo } })
if (flags.local === flags.remote) {
  console.error('Usage: npm run verify -- --local [--persist-to DIR] | --remote')
  process.exit(2)
}

const { mismatches, orphans } = flags.local ? await verifyLocal(flags['persist-to']) : verifyRemote()
for (const { table, id, field, expected, found } of mismatches) {
  console.log(`${table} ${id}: ${field} is ${found}, expected ${expected}`)
}
for (const orphan of orphans) console.log(orphan)
const count = mismatches.length + orphans.length
const checked = `${CHECKS.length} checks of the database${flags.local ? ' and one of the bucket' : ''}`
console.log(`${checked}: ${count === 0 ? 'no mismatches' : `${count} mismatches`}`)
process.exit(count === 0 ? 0 : 1)
