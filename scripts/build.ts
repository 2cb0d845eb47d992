// Builds the Workers like a deployment, without deploying them, and fails if a bundle exceeds its size limit.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { configFlags, READER_CONFIG, readSlots } from './wrangler/config.ts'

const MAX_GZIPPED_BYTES = 180_000

const build = (name: string, folder: string, flags: string[]) => {
  const { status } = spawnSync('wrangler', ['deploy', '--dry-run', '--outdir', folder, ...flags], {
    stdio: 'inherit',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  })
  if (status !== 0) process.exit(status ?? 1)
  const worker = readFileSync(`${folder}/index.js`)
  const gzipped = gzipSync(worker).length
  console.log(`${name}: ${worker.length} bytes, ${gzipped} gzipped (limit ${MAX_GZIPPED_BYTES})`)
  if (gzipped > MAX_GZIPPED_BYTES) process.exit(1)
}

build('File reader', 'dist/reader', ['--config', READER_CONFIG])
build('Worker', 'dist', configFlags(readSlots()))
