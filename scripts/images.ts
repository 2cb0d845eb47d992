// `npm run images`: adds a row for each image in the bucket that has none, such as those uploaded before rows existed.
// Safe to repeat. Skips images of withdrawn members, and objects whose key is not that of an image.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { getPlatformProxy } from 'wrangler'
import { addMissingRows } from './image-rows.ts'

/** A copy of wrangler.toml whose bindings reach the deployed database and bucket. */
const writeRemoteConfig = () => {
  const path = join('.wrangler', 'remote.toml')
  const config = readFileSync('wrangler.toml', 'utf8').replaceAll(
    /^(binding = "(?:DB|IMAGES)")$/gm,
    '$1\nremote = true',
  )
  mkdirSync('.wrangler', { recursive: true })
  writeFileSync(path, config)
  return path
}

const flag = { type: 'boolean' } as const
const persistTo = { type: 'string', default: '.wrangler/state' } as const
const { values: flags } = parseArgs({ options: { local: flag, remote: flag, 'persist-to': persistTo } })
if (flags.local === flags.remote) {
  console.error('Usage: npm run images -- --local [--persist-to DIR] | --remote')
  process.exit(2)
}

const options = flags.remote
  ? { configPath: writeRemoteConfig() }
  : { persist: { path: join(flags['persist-to'], 'v3') }, remoteBindings: false }
const { env, dispose } = await getPlatformProxy<{ DB: D1Database; IMAGES: R2Bucket }>(options)
const { added, checked } = await addMissingRows(env.DB, env.IMAGES, (count) =>
  console.error(`${count} objects checked`),
)
await dispose()
console.log(`${checked} objects checked, ${added} rows added`)
process.exit(0)
