// `npm run serve`: the service for one household, without a Cloudflare account (docs/self-hosting.md).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parseOptions } from './options.ts'
import { requireFolder } from './paths.ts'
import { print, printError } from './print.ts'
import { isBuildOld } from './serve/build.ts'
import { createFront } from './serve/front.ts'
import { lockFolder } from './serve/lock.ts'
import { startService } from './serve/service.ts'
import { readSettings } from './serve/settings.ts'
import { warnOfFullDisk } from './serve/space.ts'
import { watchParent } from './wrangler/run.ts'

const USAGE = `npm run serve -- [--data DIR], with settings in the environment: docs/self-hosting.md
  --data  the folder of the data (default data)`
/** How long requests in progress may take at the end. Docker kills after ten seconds. */
const DRAIN_MS = 5000

const { values } = parseOptions({ options: { data: { type: 'string', default: 'data' } } }, USAGE)

const ended = new AbortController()
const SIGNALS = ['SIGINT', 'SIGTERM'] as const
// Repeated signals change nothing: a terminal and npm may both send one.
const onSignal = () => ended.abort()
for (const signal of SIGNALS) process.on(signal, onSignal)
if (process.env.npm_lifecycle_event) watchParent(onSignal)

/** @throws Error if it fails, or is ended with this process */
const build = async () => {
  print('Building the Workers')
  const child = spawn('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 'ignore', 'inherit'], detached: true })
  // Its whole group: npm does not pass signals on.
  const end = () => process.kill(-Number(child.pid), 'SIGTERM')
  ended.signal.addEventListener('abort', end)
  const [code] = await once(child, 'exit')
  ended.signal.removeEventListener('abort', end)
  if (code !== 0) throw new Error('The Workers could not be built: `npm run build` says why')
}

/** Ends when the requests in progress have ended, but after DRAIN_MS at the latest. */
const close = async (front: Server) => {
  const closed = once(front.close(), 'close')
  const idle = setInterval(() => front.closeIdleConnections(), 50)
  await Promise.race([closed, wait(DRAIN_MS)])
  clearInterval(idle)
  front.closeAllConnections()
}

const serve = async ({ data }: { data: string }) => {
  // The data has password hashes.
  process.umask(0o077)
  requireFolder(data)
  warnOfFullDisk(data)
  lockFolder(data)
  const { host, port, trustedProxy, ...settings } = readSettings(data, process.env)
  if (isBuildOld()) await build()
  const service = await startService({ data, ...settings })
  // Miniflare has added listeners that end this process at once.
  for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, onSignal)
  const health = await fetch(new URL('/health', service.target()))
  if (!health.ok) throw new Error('The service does not work: the lines above say why')
  const front = createFront({ target: service.target, trustedProxy })
  await once(front.listen(port, host), 'listening')
  const { port: actual } = front.address() as { port: number }
  print(`Serving ${data} at ${settings.service.PUBLIC_URL ?? `http://${host}:${actual}`}`)
  service.sweep()
  if (!ended.signal.aborted) await once(ended.signal, 'abort')
  await close(front)
  await service.stop()
}

try {
  await serve(values)
  process.exit(0)
} catch (error) {
  if (!ended.signal.aborted) printError((error as Error).message)
  process.exit(ended.signal.aborted ? 0 : 1)
}
