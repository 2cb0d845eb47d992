// `npm run deploy`: deploys to a Cloudflare account, empty or not.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { deploy, plan } from './deploy/deploy.ts'
import { requireOwnDatabases, toEnvironment, withConfig } from './deploy/environment.ts'
import { DeployError, type Host, type WranglerResult } from './deploy/host.ts'
import { promote, rollBack } from './deploy/rollout.ts'
import { exitOnHelp } from './options.ts'
import { print, printError } from './print.ts'
import { bindSlots } from './slots/table.ts'
import { readConfig, readReaderConfig, readSlots, tableOf, writeNames, writeTemporary } from './wrangler/config.ts'

const USAGE = `npm run deploy [-- --dry-run | --promote | --rollback] [--percentage N] [--env NAME]
  --dry-run      lists the steps and builds the Worker; needs no account
  --percentage   begins a gradual deployment: N % of the requests, 1 to 99, for the new version
  --promote      ends it: all requests, or those of --percentage, for the new version
  --rollback     ends it: all requests for the version before
  --env          another deployment in the same account, with its own names and data: staging`

const fail = (message: string): never => {
  printError(message)
  process.exit(1)
}

const [flag, text] = [{ type: 'boolean' }, { type: 'string' }] as const
const options = { 'dry-run': flag, promote: flag, rollback: flag, percentage: text, env: text }

/** Without `--`, npm keeps the flags for itself, and production would be deployed to all users. */
const refuseFlagsOfNpm = () => {
  const [kept] = Object.keys(options).filter((name) => process.env[`npm_config_${name.replace('-', '_')}`])
  if (kept) fail(`npm has kept --${kept} for itself: write \`npm run deploy -- --${kept}\`\nUsage: ${USAGE}`)
}

const readArguments = () => {
  try {
    const { percentage, ...values } = parseArgs({ options }).values
    const share = percentage === undefined ? undefined : Number(percentage)
    const excludesShare = values.rollback || values['dry-run']
    const isShare = share === undefined || (Number.isInteger(share) && share > 0 && share < 100 && !excludesShare)
    const modes = [values['dry-run'], values.promote, values.rollback].filter(Boolean)
    return isShare && modes.length < 2 ? { ...values, share } : fail(`Usage: ${USAGE}`)
  } catch {
    return fail(`Usage: ${USAGE}`)
  }
}

exitOnHelp(USAGE)
refuseFlagsOfNpm()
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
  const [stdout, code] = await Promise.all([readText(child.stdout), exitCode(child)])
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
  return { code, stdout, records: lines.map((line) => JSON.parse(line)) }
}

const { 'dry-run': isDryRun, promote: isPromotion, rollback: isRollback, share, env } = readArguments()
const failWithReason = (error: unknown): never => {
  throw error instanceof DeployError ? fail(error.message) : error
}
const readConfigs = () => {
  const configs = { config: readConfig(), reader: readReaderConfig() }
  return env === undefined ? configs : toEnvironment(configs.config, configs.reader, env)
}
const { config, reader } = await Promise.try(readConfigs).catch(failWithReason)
const slots = readSlots(config, env)
if (env) await Promise.try(requireOwnDatabases, slots, readSlots(), tableOf(env)).catch(failWithReason)
if (isDryRun) {
  for (const step of plan(config, reader, slots)) print(step)
  const flags = env ? ['--env', env] : []
  process.exit(await exitCode(spawn('node', ['scripts/build.ts', ...flags], { stdio: 'inherit' })))
}
const isInteractive = process.stdin.isTTY && process.stdout.isTTY && !process.env.CI
const terminal = isInteractive ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
// All questions come before the first change, so cancelling one changes nothing.
const ask =
  terminal && ((question: string) => terminal.question(question).catch(() => fail('Cancelled: nothing was changed')))
const production: Host = {
  wrangler,
  writeTemporary,
  writeNames: (named) => writeNames(tableOf(env), named),
  print,
  ask,
  fetch: (url, headers) => fetch(url, { headers }),
  wait,
  env: process.env,
}
const host = env ? withConfig(production, bindSlots(config, slots)) : production
const run = async () => {
  if (isPromotion) return promote(host, config, share)
  if (isRollback) return rollBack(host)
  return deploy(host, config, reader, slots, share)
}
await run()
  .catch(failWithReason)
  .finally(() => terminal?.close())
