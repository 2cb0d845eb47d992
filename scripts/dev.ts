// `npm run dev`: writes missing local variables to .dev.vars, applies the migrations, then runs `wrangler dev` with the
// given flags.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const VARS_FILE = '.dev.vars'
const LOCAL_VARS = {
  JWT_SECRET: randomBytes(48).toString('base64'),
  EMAIL_VERIFICATION: 'off',
  MAIL_FROM: 'library@example.com',
  CATALOGUE_PROVIDER: 'sample',
}

/** Runs wrangler and returns its exit code. Without stdin it never prompts. */
const wrangler = (stdin: 'inherit' | 'ignore', ...args: string[]) => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  const child = spawn('wrangler', args, { stdio: [stdin, 'inherit', 'inherit'], env })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  // npm passes signals to its shell only, which exits without stopping this process: stop when the parent is gone.
  const parent = process.ppid
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500)
  return new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 0)))
}

/** Prints mails sent locally: wrangler writes them to files and logs only the file names. */
const printMails = () => {
  const folder = '.wrangler/tmp/email'
  const printed = new Set<string>()
  mkdirSync(folder, { recursive: true })
  watch(folder, { recursive: true }, (_, file) => {
    if (!file?.endsWith('.txt') || printed.has(file)) return
    const text = readFileSync(join(folder, file), 'utf8')
    if (text === '') return
    printed.add(file)
    console.log(text)
  })
}

const existing = existsSync(VARS_FILE) ? readFileSync(VARS_FILE, 'utf8') : ''
for (const [name, value] of Object.entries(LOCAL_VARS)) {
  if (new RegExp(`^${name}=`, 'm').test(existing)) continue
  appendFileSync(VARS_FILE, `${name}=${value}\n`, { mode: 0o600 })
  console.log(`Wrote ${name} to ${VARS_FILE}`)
}

const flags = process.argv.slice(2)
const { values } = parseArgs({ args: flags, strict: false, options: { 'persist-to': { type: 'string' } } })
const persistTo = typeof values['persist-to'] === 'string' ? ['--persist-to', values['persist-to']] : []

const migrated = await wrangler('ignore', 'd1', 'migrations', 'apply', 'DB', '--local', ...persistTo)
if (migrated === 0) printMails()
// Exit explicitly: the file watcher would keep this process alive.
process.exit(migrated === 0 ? await wrangler('inherit', 'dev', '--local', ...flags) : migrated)
