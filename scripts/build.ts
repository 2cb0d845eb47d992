// Builds the Workers like a deployment, without deploying them, and fails if a bundle exceeds its size limit.
// `--env NAME` builds those of an environment.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { toEnvironment } from './deploy/environment.ts'
import { parseOptions } from './options.ts'
import { print } from './print.ts'
import { bindSlots, formatConfig } from './slots/table.ts'
import {
  configFlags,
  READER_CONFIG,
  readConfig,
  readReaderConfig,
  readSlots,
  writeTemporary,
} from './wrangler/config.ts'

const USAGE = `npm run build -- [--env NAME]
  builds the Workers into dist, like a deployment
  --env  those of another environment: staging`
const { env } = parseOptions({ options: { env: { type: 'string' } } }, USAGE).values

const MAX_GZIPPED_BYTES = 200_000

const build = (name: string, folder: string, flags: string[]) => {
  const { status } = spawnSync('wrangler', ['deploy', '--dry-run', '--outdir', folder, ...flags], {
    stdio: 'inherit',
    env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  })
  if (status !== 0) process.exit(status ?? 1)
  const worker = readFileSync(`${folder}/index.js`)
  const gzipped = gzipSync(worker).length
  print(`${name}: ${worker.length} bytes, ${gzipped} gzipped (limit ${MAX_GZIPPED_BYTES})`)
  if (gzipped > MAX_GZIPPED_BYTES) process.exit(1)
}

/** The flags that name the configurations of both Workers. */
const flagsOf = (environment?: string) => {
  if (environment === undefined) return { reader: ['--config', READER_CONFIG], service: configFlags(readSlots()) }
  const { config, reader } = toEnvironment(readConfig(), readReaderConfig(), environment)
  const service = formatConfig(bindSlots(config, readSlots(config, environment)))
  return {
    reader: ['--config', writeTemporary('wrangler.reader.json', JSON.stringify(reader))],
    service: ['--config', writeTemporary('wrangler.json', service)],
  }
}

const flags = flagsOf(env)
build('File reader', 'dist/reader', flags.reader)
build('Worker', 'dist', flags.service)
