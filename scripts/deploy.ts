// Takes a Cloudflare account from nothing to serving, or from one version to the next.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { experimental_readRawConfig } from 'wrangler'
import { deploy, plan } from './deploy/deploy.ts'
import { type Config, type Host, type Outcome, Stop } from './deploy/host.ts'

const USAGE = `Usage: npm run deploy [-- --dry-run]
  --dry-run   says what would be done, and builds the Worker; needs no account`

const giveUp = (...why: string[]): never => {
  for (const line of why) console.error(line)
  process.exit(1)
}

const readArguments = () => {
  try {
    return parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } }).values
  } catch {
    return giveUp(USAGE)
  }
}

const reports = mkdtempSync(join(tmpdir(), 'reading-library-'))
// Beside wrangler.toml, since its paths are relative.
const written: string[] = []
process.on('exit', () => {
  for (const path of [reports, ...written]) rmSync(path, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const write = (name: string, content: string) => {
  written.push(name)
  writeFileSync(name, content, { mode: 0o600 })
  return name
}

const wrangler = async (args: string[], input?: string): Promise<Outcome> => {
  const report = join(reports, String(Math.random()))
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_OUTPUT_FILE_PATH: report }
  const child = spawn('wrangler', args, { stdio: ['pipe', 'pipe', 'ignore'], env })
  // It may end without having read.
  child.stdin.on('error', () => {}).end(input)
  const ended = new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
  const [stdout, code] = await Promise.all([text(child.stdout), ended])
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
  return { code, stdout, records: lines.map((line) => JSON.parse(line)) }
}

const build = () =>
  new Promise<number>((resolve) =>
    spawn('node', ['scripts/build.ts'], { stdio: 'inherit' }).on('exit', (code) => resolve(code ?? 1)),
  )

const { 'dry-run': isDry } = readArguments()
const config = experimental_readRawConfig({ config: 'wrangler.toml' }).rawConfig as unknown as Config
if (isDry) {
  for (const step of plan(config)) console.log(step)
  process.exit(await build())
}
const isAttended = process.stdin.isTTY && process.stdout.isTTY && !process.env.CI
const terminal = isAttended ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
// All is asked before anything is done.
const ask =
  terminal && ((question: string) => terminal.question(question).catch(() => giveUp('Stopped: nothing was changed')))
const host: Host = { wrangler, write, say: console.log, ask, fetch, wait, env: process.env }
await deploy(host, config)
  .catch((error) => {
    if (error instanceof Stop) giveUp(...error.lines)
    throw error
  })
  .finally(() => terminal?.close())
