// `npm run deploy`: deploys to a Cloudflare account, empty or not.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { deploy, plan } from './deploy/deploy.ts'
import { DeployError, type Host, type WranglerResult } from './deploy/host.ts'
import { readConfig, readReaderConfig, readSlots, writeNames, writeTemporary } from './wrangler/config.ts'

const USAGE = `Usage: npm run deploy [-- --dry-run]
  --dry-run   lists the steps and builds the Worker; needs no account`

const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}

const readArguments = () => {
  try {
    return parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } }).values
  } catch {
    return fail(USAGE)
  }
}

const reports = mkdtempSync(join(tmpdir(), 'reading-library-'))
process.on('exit', () => rmSync(reports, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const exitCode = async (child: ChildProcess) => Number((await once(child, 'exit'))[0] ?? 1)

const wrangler = async (args: string[], input?: string, unset: string[] = []): Promise<WranglerResult> => {
  const report = join(reports, String(Math.random()))
  const env = {
    ...process.env,
    ...Object.fromEntries(unset.map((name) => [name, undefined])),
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_OUTPUT_FILE_PATH: report,
  }
  const child = spawn('wrangler', args, { stdio: ['pipe', 'pipe', 'ignore'], env })
  // Wrangler may exit without reading its input.
  child.stdin.on('error', () => {}).end(input)
  const [stdout, code] = await Promise.all([text(child.stdout), exitCode(child)])
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
  return { code, stdout, records: lines.map((line) => JSON.parse(line)) }
}

const { 'dry-run': isDryRun } = readArguments()
const config = readConfig()
const reader = readReaderConfig()
const slots = readSlots()
if (isDryRun) {
  for (const step of plan(config, reader, slots)) console.log(step)
  process.exit(await exitCode(spawn('node', ['scripts/build.ts'], { stdio: 'inherit' })))
}
const isInteractive = process.stdin.isTTY && process.stdout.isTTY && !process.env.CI
const terminal = isInteractive ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
// All questions come before the first change, so cancelling one changes nothing.
const ask =
  terminal && ((question: string) => terminal.question(question).catch(() => fail('Cancelled: nothing was changed')))
const host: Host = { wrangler, writeTemporary, writeNames, print: console.log, ask, fetch, wait, env: process.env }
await deploy(host, config, reader, slots)
  .catch((error) => {
    throw error instanceof DeployError ? fail(error.message) : error
  })
  .finally(() => terminal?.close())
