// `npm run verify -- --local [--persist-to DIR] | --remote`: recounts all that the database keeps beside its rows, and
// lists what disagrees. Exits with 1 when anything does. The bucket is looked through locally only: wrangler lists none.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { getPlatformProxy } from 'wrangler'
import { type Disagreement, findDisagreements, findOrphans, RECOUNTS } from './integrity.ts'

const verifyLocal = async (folder: string) => {
  const { env, dispose } = await getPlatformProxy<{ DB: D1Database; IMAGES: R2Bucket }>({
    persist: { path: join(folder, 'v3') },
  })
  try {
    return { disagreements: await findDisagreements(env.DB), orphans: await findOrphans(env.DB, env.IMAGES) }
  } finally {
    await dispose()
  }
}

const verifyRemote = () => {
  const { status, stdout, stderr } = spawnSync(
    'wrangler',
    ['d1', 'execute', 'DB', '--remote', '--json', '--command', RECOUNTS.join(';')],
    { encoding: 'utf8', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
  )
  if (status !== 0) throw new Error(`wrangler could not ask the database:\n${stdout}${stderr}`)
  const answers = JSON.parse(stdout) as { results: Disagreement[] }[]
  return { disagreements: answers.flatMap(({ results }) => results), orphans: [] }
}

const { values: flags } = parseArgs({
  options: {
    local: { type: 'boolean' },
    remote: { type: 'boolean' },
    'persist-to': { type: 'string', default: '.wrangler/state' },
  },
})
if (flags.local === flags.remote) {
  console.error('Usage: npm run verify -- --local [--persist-to DIR] | --remote')
  process.exit(2)
}

const { disagreements, orphans } = flags.local ? await verifyLocal(flags['persist-to']) : verifyRemote()
for (const { what, id, field, expected, found } of disagreements) {
  console.log(`${what} ${id}: ${field} is ${found}, and should be ${expected}`)
}
for (const key of orphans) console.log(`${key}: nobody owns this object`)
const count = disagreements.length + orphans.length
console.log(
  `${RECOUNTS.length} recounts${flags.local ? ' and the bucket' : ''}: ${count === 0 ? 'all agree' : `${count} disagree`}`,
)
process.exit(count === 0 ? 0 : 1)
