// Builds the Worker as a deployment would, without deploying it, and holds its size against the limit.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const MAX_GZIPPED_BYTES = 110_000

const { status } = spawnSync('wrangler', ['deploy', '--dry-run', '--outdir', 'dist'], {
  stdio: 'inherit',
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
})
if (status !== 0) process.exit(status ?? 1)

const worker = readFileSync('dist/index.js')
const gzipped = gzipSync(worker).length
console.log(`Worker: ${worker.length} bytes, ${gzipped} gzipped (at most ${MAX_GZIPPED_BYTES})`)
if (gzipped > MAX_GZIPPED_BYTES) process.exit(1)
