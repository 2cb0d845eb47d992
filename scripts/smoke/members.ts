// Signs up the members that the tests share, where a mailed code is required, and withdraws everyone at the end.
import { execSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'

const PASSWORD = 'correct-horse-1'

const post = (url: string, body: unknown) =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

const expectStatus = async (response: Response, status: number) => {
  if (response.status !== status) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return response
}

const logIn = async (url: string, email: string, password: string) =>
  (await post(`${url}/login`, { email, password })).headers.get('Authorization')

/** The code mailed to an address: printed by the command, which finds the address in $EMAIL, or typed in. */
const readCode = async (email: string, command?: string) => {
  if (command) return execSync(command, { env: { ...process.env, EMAIL: email }, encoding: 'utf8' }).trim()
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const code = await terminal.question(`The code mailed to ${email}: `)
  terminal.close()
  return code.trim()
}

const signUp = async (url: string, journal: string, email: string, authenticationCode: string) => {
  const member = { email, name: 'Reader', password: PASSWORD }
  const response = await post(`${url}/join`, { ...member, authenticationCode })
  if (response.status === 201) appendFileSync(journal, `${JSON.stringify({ joined: member })}\n`)
  return response
}

/** Whether sign-up takes only codes that were mailed. */
export const requiresCode = async (url: string, journal: string) => {
  const response = await signUp(url, journal, `${randomUUID()}@library.test`, '000000')
  return response.status === 400 && (await response.text()).includes('authenticationCode')
}

/** Signs up a member with a mailed code. `template` is an address with %s. */
export const signUpByMail = async (url: string, journal: string, template: string, command?: string) => {
  const email = template.replace('%s', randomUUID().slice(0, 8))
  await expectStatus(await post(`${url}/email/join`, { joinAuthCodeEmail: email }), 201)
  await expectStatus(await signUp(url, journal, email, await readCode(email, command)), 201)
  const token = (await logIn(url, email, PASSWORD))?.replace('Bearer ', '') ?? ''
  return { email, token }
}

type Event = {
  joined?: { email: string; password: string }
  email?: string
  token?: string
  password?: string
  isWithdrawn?: true
}
type Known = { email: string; passwords: string[]; tokens: string[] }

/** The members in the journal of test/support/remote.ts that have not withdrawn. */
const readJournal = (journal: string) => {
  const members = new Map<string, Known>()
  for (const line of readFileSync(journal, 'utf8').split('\n').filter(Boolean)) {
    const { joined, email, token, password, isWithdrawn }: Event = JSON.parse(line)
    const key = (joined?.email ?? email)?.toLowerCase()
    if (joined && key) members.set(key, { email: joined.email, passwords: [joined.password], tokens: [] })
    const member = key ? members.get(key) : [...members.values()].find(({ tokens }) => token && tokens.includes(token))
    if (member && token) member.tokens.unshift(token)
    if (member && password) member.passwords.unshift(password)
    if (member && isWithdrawn) members.delete(member.email.toLowerCase())
  }
  return [...members.values()]
}

/** Withdraws everyone in the journal. Returns the addresses of those who are left. */
export const withdrawAll = async (url: string, journal: string) => {
  const withdraw = async (Authorization: string | null) =>
    Authorization !== null &&
    (await fetch(`${url}/members/me`, { method: 'DELETE', headers: { Authorization } })).status === 204
  const left: string[] = []
  for (const { email, passwords, tokens } of readJournal(journal)) {
    let isGone = false
    for (const token of tokens) isGone ||= await withdraw(token)
    for (const password of passwords) isGone ||= await withdraw(await logIn(url, email, password))
    if (!isGone) left.push(email)
  }
  return left
}
