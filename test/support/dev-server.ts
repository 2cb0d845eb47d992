import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** Starts `npm run dev` with an empty database. Returns its address and a function that stops it. */
export const startService = async () => {
  const port = await freePort()
  const data = mkdtempSync(join(tmpdir(), 'reading-library-'))
  const child = spawn('node', ['scripts/dev.ts', '--port', String(port), '--persist-to', data], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const stop = async () => {
    child.kill()
    await ended
    rmSync(data, { recursive: true, force: true })
  }
  const base = `http://localhost:${port}`
  for (let seconds = 0; seconds < 100; seconds++) {
    if (
      await fetch(`${base}/health`)
        .then(({ ok }) => ok)
        .catch(() => false)
    )
      return { base, stop }
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  await stop()
  throw new Error(`The service did not start on ${base}`)
}
