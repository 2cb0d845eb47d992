// The same six endpoints on Express and Fastify, and the service itself on Node, all on better-sqlite3. Their packages
// are installed on first use, separately from the service's.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readMigrations } from '../support/migrations.ts'
import { BUILD } from '../support/workerd.ts'
import { fillStatements, JWT_SECRET } from './seed.ts'

export const PEERS = ['service', 'express', 'fastify'] as const
export type Peer = (typeof PEERS)[number]
const FOLDER = 'test/bench/peers'
// Enables Uint8Array.fromBase64, which Workers have without a flag.
const FLAGS = ['--js-base-64']

const run = (command: string, args: string[]) => {
  const { status, stderr } = spawnSync(command, args, { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr.trim().split('\n').at(-1) || `${command} ${args[0]} failed`)
}

/** Installs the peers and fills their database. @throws Error if either fails */
export const preparePeers = (progress: (line: string) => void) => {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    progress('installing the peers (first use only)')
    run('npm', ['ci', '--no-audit', '--no-fund'])
  }
  progress('filling the peers’ database')
  writeFileSync(join(BUILD, 'seed.json'), JSON.stringify([...readMigrations(), ...fillStatements()]))
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(BUILD, `seed.db${suffix}`), { force: true })
  run(process.execPath, ['fill.ts', resolve(BUILD, 'seed.json'), resolve(BUILD, 'seed.db')])
}

const start = async (peer: Peer): Promise<{ url: URL; child: ChildProcess }> => {
  const file = resolve(BUILD, `${peer}.db`)
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  copyFileSync(join(BUILD, 'seed.db'), file)
  const child = spawn(process.execPath, [...FLAGS, `${peer}.ts`], {
    cwd: FOLDER,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE: file, JWT_SECRET },
  })
  const [output] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  const port = Number(output)
  if (!Buffer.isBuffer(output) || !port) throw new Error(`${peer} did not start`)
  return { url: new URL(`http://127.0.0.1:${port}`), child }
}

/** Starts all peers, each with a copy of the same database. */
export const startPeers = async () => {
  const started: Awaited<ReturnType<typeof start>>[] = []
  for (const peer of PEERS) started.push(await start(peer))
  return {
    urls: started.map(({ url }) => url),
    stop: () => {
      for (const { child } of started) child.kill()
    },
  }
}
