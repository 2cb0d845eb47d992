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

/** Starts the service as `npm run dev` does, with data of its own, and answers its address and how to stop it. */
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
  for (let waited = 0; waited < 100; waited++) {
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
