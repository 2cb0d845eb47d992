import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * A port that nothing listens on. It is below those that systems use for outgoing connections, one of which could take it
 * between two starts of a service.
 */
export const freePort = async (): Promise<number> => {
  const port = randomInt(10_000, 32_768)
  const server = createServer().listen(port)
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  return port
}

const MOST_SECONDS = 60

/** Starts `npm run dev` with an empty database. Returns what it printed instead if it does not answer. */
const tryToStart = async () => {
  const port = await freePort()
  const data = mkdtempSync(join(tmpdir(), 'reading-library-'))
  // By default wrangler looks for a free inspector port, which another service that starts may take first.
  const flags = ['--port', String(port), '--inspector-port', '0', '--persist-to', data]
  const child = spawn('node', ['scripts/dev.ts', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await ended
    rmSync(data, { recursive: true, force: true })
  }
  const base = `http://localhost:${port}`
  for (let seconds = 0; seconds < MOST_SECONDS && child.exitCode === null; seconds++) {
    const health = await fetch(`${base}/health`).catch(() => undefined)
    if (health?.ok) return { base, stop, printed: () => printed }
    await wait(1000)
  }
  await stop()
  return `${base}:\n${printed}${errors}`
}

/**
 * Starts `npm run dev` with an empty database. Returns its address, what it has printed, and a function that stops it. A
 * start can hang before the first migration, which is rare: then another one follows.
 */
export const startService = async () => {
  const first = await tryToStart()
  const service = typeof first === 'string' ? await tryToStart() : first
  if (typeof service === 'string') throw new Error(`The service did not start on ${first}\n${service}`)
  return service
}
