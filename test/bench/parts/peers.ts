// The same six endpoints on Express and Fastify, and the service itself on Node, all on better-sqlite3. Their packages
// are installed on first use, separately from the service's.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readMigrations } from '../../support/service/migrations.ts'
import { BUILD } from '../../support/service/workerd.ts'
import { fillStatements, JWT_SECRET } from '../endpoints/seed.ts'

export const PEERS = ['service', 'express', 'fastify'] as const
export type Peer = (typeof PEERS)[number]
const FOLDER = 'test/bench/peers'
const SEED = join(BUILD, 'seed.db')

const prepare = (progress: (line: string) => void) => {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    progress('installing the peers (first use only)')
    const { status, stderr } = spawnSync('npm', ['ci'], { cwd: FOLDER, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr.trim().split('\n').at(-1) || 'npm ci failed')
  }
  progress('filling the peers’ database')
  rmSync(SEED, { force: true })
  const database = new DatabaseSync(SEED)
  database.exec(['begin', ...readMigrations(), ...fillStatements(), 'commit'].join(';'))
  database.close()
}

const start = async (peer: Peer, children: ChildProcess[]) => {
  const file = resolve(BUILD, `${peer}.db`)
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  copyFileSync(SEED, file)
  // The flag enables Uint8Array.fromBase64, which Workers have without one.
  const child = spawn(process.execPath, ['--js-base-64', `${peer}.ts`], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE: file, JWT_SECRET },
  })
  children.push(child)
  const [output] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  const port = Number(output)
  if (!Buffer.isBuffer(output) || !port) throw new Error(`${peer} did not start`)
  return new URL(`http://127.0.0.1:${port}`)
}

/** Installs the peers and starts each with a copy of the same database. @throws Error if that fails */
export const startPeers = async (progress: (line: string) => void) => {
  prepare(progress)
  const children: ChildProcess[] = []
  const stop = () => {
    for (const child of children) child.kill()
  }
  try {
    return { urls: await Promise.all(PEERS.map((peer) => start(peer, children))), stop }
  } catch (error) {
    stop()
    throw error
  }
}
