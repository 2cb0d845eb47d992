// Runs the HTTP part of the feature tests against a running service, and withdraws every member it signed up.
import { execSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { failWithUsage, parseOptions } from './options.ts'
import { printError } from './print.ts'
import { fail } from './transfer/arguments.ts'

const USAGE = `npm run smoke -- --url URL [--public] [--origin ORIGIN] [--email TEMPLATE [--code-command COMMAND]]
  --url           where the service runs, for example http://localhost:8787
  --public        runs only the tests that need no member
  --origin        an origin that CORS_ORIGINS allows (default https://app.example)
  --email         your address with %s, for example me+%s@example.com; required if the service mails codes
  --code-command  a command that prints the code mailed to $EMAIL; without it, you are asked for each code`
/** Members signed up with mailed codes: few, because a person may have to type in each code. */
const MAILED_MEMBERS = 3
const PASSWORD = 'correct-horse-1'

const text = { type: 'string' } as const
const origin = { ...text, default: 'https://app.example' }
const options = { url: text, public: { type: 'boolean' }, origin, email: text, 'code-command': text } as const
const { values: flags, positionals } = parseOptions({ options, allowPositionals: true }, USAGE)
if (positionals.length > 0 || !URL.canParse(flags.url ?? '')) failWithUsage(USAGE)
const url = String(flags.url).replace(/\/+$/, '')
/** A record of sign-ups, tokens and withdrawals, to which test/support/runner/remote.ts also writes. */
const journal = join(mkdtempSync(join(tmpdir(), 'smoke-')), 'members')
writeFileSync(journal, '')

const post = (path: string, body: unknown) =>
  fetch(url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

const expectCreated = async (response: Response) => {
  if (response.status !== 201) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
}

const logIn = async (email: string, password: string) =>
  (await post('/login', { email, password })).headers.get('Authorization')

/** The code mailed to an address: printed by the command, which finds the address in $EMAIL, or typed in. */
const readCode = async (email: string) => {
  const command = flags['code-command']
  if (command) return execSync(command, { env: { ...process.env, EMAIL: email }, encoding: 'utf8' }).trim()
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const code = await terminal.question(`The code mailed to ${email}: `)
  terminal.close()
  return code.trim()
}

const signUp = async (email: string, authenticationCode: string) => {
  const member = { email, name: 'Reader', password: PASSWORD }
  const response = await post('/join', { ...member, authenticationCode })
  if (response.status === 201) appendFileSync(journal, `${JSON.stringify({ joined: member })}\n`)
  return response
}

/** Whether sign-up takes only codes that were mailed. */
const requiresCode = async () => {
  const response = await signUp(`${randomUUID()}@library.test`, '000000')
  return response.status === 400 && (await response.text()).includes('authenticationCode')
}

/** Signs up a member with a mailed code. `template` is an address with %s. */
const signUpByMail = async (template: string) => {
  const email = template.replace('%s', randomUUID().slice(0, 8))
  await expectCreated(await post('/email/join', { joinAuthCodeEmail: email }))
  await expectCreated(await signUp(email, await readCode(email)))
  return { email, token: (await logIn(email, PASSWORD))?.replace('Bearer ', '') ?? '' }
}

type Account = { email: string; passwords: string[]; tokens: string[] }

/** The members in the journal that have not withdrawn. */
const readJournal = () => {
  const members = new Map<string, Account>()
  for (const line of readFileSync(journal, 'utf8').split('\n').filter(Boolean)) {
    const { joined, email, token, password, isWithdrawn } = JSON.parse(line)
    const key = (joined?.email ?? email)?.toLowerCase()
    if (joined) members.set(key, { email: joined.email, passwords: [joined.password], tokens: [] })
    const member = key ? members.get(key) : [...members.values()].find(({ tokens }) => tokens.includes(token))
    if (token) member?.tokens.unshift(token)
    if (password) member?.passwords.unshift(password)
    if (member && isWithdrawn) members.delete(member.email.toLowerCase())
  }
  return [...members.values()]
}

const withdraw = async (Authorization: string | null) =>
  Authorization !== null &&
  (await fetch(`${url}/members/me`, { method: 'DELETE', headers: { Authorization } })).status === 204

/** Withdraws every member in the journal. Returns the addresses of the members that remain. */
const withdrawAll = async () => {
  const left: string[] = []
  for (const { email, passwords, tokens } of readJournal()) {
    let isGone = false
    for (const token of tokens) isGone ||= await withdraw(token)
    for (const password of passwords) isGone ||= await withdraw(await logIn(email, password))
    if (!isGone) left.push(email)
  }
  return left
}

const health = await fetch(`${url}/health`).catch((error: Error) =>
  fail(`Cannot reach ${url}: ${error.cause ?? error}`),
)
if (health.status !== 200 || !health.headers.has('X-Request-Id')) fail(`${url}/health answers ${health.status}`)
if (!flags.public && !flags.email && (await requiresCode())) {
  fail(`${url} mails verification codes: pass --email, or --public to run only the tests that need no member`)
}

// Ctrl+C ends the tests, and the members are still withdrawn.
process.on('SIGINT', () => {})
let exitCode = 1
try {
  const members: Awaited<ReturnType<typeof signUpByMail>>[] = []
  for (let n = 0; flags.email && n < MAILED_MEMBERS; n++) members.push(await signUpByMail(flags.email))
  const isLimited = flags.public || flags.email
  const SMOKE = JSON.stringify({ url, origin: flags.origin, journal, ...(isLimited && { members }) })
  const tests = spawn('vitest', ['run'], { stdio: 'inherit', env: { ...process.env, SMOKE } })
  exitCode = await new Promise<number>((resolve) => tests.on('exit', (code) => resolve(code ?? 1)))
} finally {
  const left = await withdrawAll()
  for (const email of left) printError(`Could not withdraw ${email}`)
  process.exitCode = left.length > 0 ? 1 : exitCode
}
