// Builds the Worker like a deployment, without deploying it, and fails if the bundle exceeds its size limit.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { configFlags, readSlots } from './wrangler-config.ts'

const MAX_GZIPPED_BYTES = 140_000

const { status } = spawnSync('wrangler', ['deploy', '--dry-run', '--outdir', 'dist', ...configFlags(readSlots())], {
  stdio: 'inherit',
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
})
if (status !== 0) process.exit(status ?? 1)

const worker = readFileSync('dist/index.js')
const gzipped = gzipSync(worker).length
console.log(`Worker: ${worker.length} bytes, ${gzipped} gzipped (limit ${MAX_GZIPPED_BYTES})`)
if (gzipped > MAX_GZIPPED_BYTES) process.exit(1)
