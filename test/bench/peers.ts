// The peers: the same six endpoints on Express and on Fastify, and the service's own app on Node, one storage engine.
// Their packages are installed here on first use, and burden no other install.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BUILD } from '../support/workerd.ts'
import { JWT_SECRET, seedStatements } from './seed.ts'

export const PEERS = ['service', 'express', 'fastify'] as const
export type Peer = (typeof PEERS)[number]
const FOLDER = 'test/bench/peers'
// Workers have Uint8Array's base64; Node 24 has it behind a flag of V8.
const FLAGS = ['--js-base-64']

const run = (command: string, args: string[]) => {
  const { status, stderr } = spawnSync(command, args, { cwd: FOLDER, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr.trim().split('\n').at(-1) || `${command} ${args[0]} failed`)
}

/** Installs the peers and fills their database. @throws Error when that fails: there are then no peers. */
export const preparePeers = (progress: (line: string) => void) => {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    progress('installing the peers (first use only)')
    run('npm', ['ci', '--no-audit', '--no-fund'])
  }
  progress('filling the peers’ database')
  writeFileSync(join(BUILD, 'seed.json'), JSON.stringify(seedStatements()))
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
  const told = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  const port = Number(told[0])
  if (!Buffer.isBuffer(told[0]) || !port) throw new Error(`${peer} did not start`)
  return { url: new URL(`http://127.0.0.1:${port}`), child }
}

/** Starts all peers on Node, each on a copy of the same database. */
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
