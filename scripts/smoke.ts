// Runs the HTTP part of the feature tests against a running service, and withdraws every member it signed up.
import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { requiresCode, signUpByMail, withdrawAll } from './smoke/members.ts'

const USAGE = `Usage: npm run smoke -- URL [--public] [--origin ORIGIN] [--email TEMPLATE [--code-command COMMAND]]
  URL             where the service runs, for example http://localhost:8787
  --public        run only what needs no member
  --origin        an origin that CORS_ORIGINS allows (default https://app.example)
  --email         your address with %s, for example me+%s@example.com, for a service that mails verification codes
  --code-command  prints the code mailed to $EMAIL; without it, you are asked to type the codes in`
/** Members signed up with mailed codes: an address gets five mails an hour, a network thirty. */
const MAILED_MEMBERS = 3

const fail = (message: string): never => {
  console.error(message)
  process.exit(2)
}
const text = { type: 'string' } as const
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    public: { type: 'boolean' },
    origin: { ...text, default: 'https://app.example' },
    email: text,
    'code-command': text,
  },
})
if (!URL.canParse(positionals[0] ?? '')) fail(USAGE)
const url = String(positionals[0]).replace(/\/+$/, '')
const health = await fetch(`${url}/health`).catch((error: Error) =>
  fail(`Cannot reach ${url}: ${error.cause ?? error}`),
)
if (health.status !== 200 || !health.headers.has('X-Request-Id')) fail(`${url}/health answers ${health.status}`)

const journal = join(mkdtempSync(join(tmpdir(), 'smoke-')), 'members')
writeFileSync(journal, '')
if (!flags.public && !flags.email && (await requiresCode(url, journal))) {
  fail(`${url} mails verification codes: pass --email, or --public to run only what needs no member`)
}

// Ctrl+C ends the tests, and the members are still withdrawn.
process.on('SIGINT', () => {})
let exitCode = 1
try {
  const members: Awaited<ReturnType<typeof signUpByMail>>[] = []
  for (let n = 0; flags.email && n < MAILED_MEMBERS; n++) {
    members.push(await signUpByMail(url, journal, flags.email, flags['code-command']))
  }
  const isLimited = flags.public || flags.email
  const SMOKE = JSON.stringify({ url, origin: flags.origin, journal, ...(isLimited && { members }) })
  const tests = spawn('vitest', ['run', '--config', 'vitest.smoke.config.ts'], {
    stdio: 'inherit',
    env: { ...process.env, SMOKE },
  })
  exitCode = await new Promise<number>((resolve) => tests.on('exit', (code) => resolve(code ?? 1)))
} finally {
  const left = await withdrawAll(url, journal)
  for (const email of left) console.error(`Could not withdraw ${email}`)
  process.exitCode = left.length > 0 ? 1 : exitCode
}
