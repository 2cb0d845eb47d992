// Serves the API locally: variables on first use, then the migrations, then `wrangler dev` with the flags handed on.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const FILE = '.dev.vars'
const LOCAL = {
  JWT_SECRET: randomBytes(48).toString('base64'),
  EMAIL_VERIFICATION: 'off',
  MAIL_FROM: 'library@example.com',
  CATALOGUE_PROVIDER: 'sample',
}

/** Runs wrangler; without a keyboard it asks nothing. */
const wrangler = (stdin: 'inherit' | 'ignore', ...args: string[]) => {
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  const child = spawn('wrangler', args, { stdio: [stdin, 'inherit', 'inherit'], env })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  // npm hands a signal to its shell only, and that ends alone: whoever is left without a parent is to end, too.
  const parent = process.ppid
  setInterval(() => process.ppid === parent || child.kill('SIGTERM'), 500)
  return new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 0)))
}

/** Local mail goes to files that wrangler only names: this prints what they say. */
const printMail = () => {
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

const known = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
for (const [name, value] of Object.entries(LOCAL)) {
  if (new RegExp(`^${name}=`, 'm').test(known)) continue
  appendFileSync(FILE, `${name}=${value}\n`, { mode: 0o600 })
  console.log(`Wrote ${name} to ${FILE}`)
}

const flags = process.argv.slice(2)
const { values } = parseArgs({ args: flags, strict: false, options: { 'persist-to': { type: 'string' } } })
const persistTo = typeof values['persist-to'] === 'string' ? ['--persist-to', values['persist-to']] : []

const migrated = await wrangler('ignore', 'd1', 'migrations', 'apply', 'DB', '--local', ...persistTo)
if (migrated === 0) printMail()
// The watch would keep this process alive.
process.exit(migrated === 0 ? await wrangler('inherit', 'dev', '--local', ...flags) : migrated)
