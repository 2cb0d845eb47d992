// @module-tag slow
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { localPath } from '../../scripts/data/stores.ts'
import { isWorkerd } from '../../scripts/serve/processes.ts'
import { createFolder, runCommand, runMembersScript } from './databases.ts'
import { runInstruction, startServe, startSmtpServer, until } from './serve.ts'

const MEMBER = { email: 'mina@example.com', password: 'read-more-1' }
const NEW_MEMBER = { ...MEMBER, name: 'Mina' }

/** Invites an address to the service that runs. */
const invite = async (data: string, email: string, PUBLIC_URL = 'http://library.home') => {
  const { stdout } = await runMembersScript({ PUBLIC_URL }, 'invite', email, '--local', '--persist-to', data)
  return /the code (\d+)\n(.+)/.exec(stdout)?.slice(1) ?? []
}

type Serve = Awaited<ReturnType<typeof startServe>>

/** Signs a member up with an invitation. Returns the headers of a session. */
const signUp = async (serve: Serve, data: string, { email }: { email: string } = MEMBER) => {
  const [authenticationCode] = await invite(data, email)
  expect(await serve.post('/join', { ...NEW_MEMBER, email, authenticationCode })).toMatchObject({ status: 201 })
  const { headers } = await serve.post('/login', { ...MEMBER, email })
  return { Authorization: headers.get('Authorization') ?? '' }
}

const verify = async (data: string) => (await runCommand('verify', '--local', '--persist-to', data)).stdout.trim()
const SOUND = /: no mismatches$/

const workerdOf = (data: string) => Number(readFileSync(join(data, 'workerd.pid'), 'utf8'))

it('starts from nothing, takes invited members only, and ends with all data', async () => {
  const data = createFolder()
  const serve = await startServe(data)
  const health = await runInstruction('HEALTHCHECK', data, { PORT: new URL(serve.base).port })
  expect(await once(health, 'exit')).toEqual([0, null])
  expect(statSync(join(data, 'secrets.env')).mode & 0o777).toBe(0o600)

  const requested = await serve.post('/email/join', { joinAuthCodeEmail: MEMBER.email })
  expect(requested).toMatchObject({ status: 400, text: expect.stringContaining('invitation') })
  expect(await serve.post('/join', { ...NEW_MEMBER, authenticationCode: '000000' })).toMatchObject({ status: 400 })
  const [authenticationCode = '', link] = await invite(data, MEMBER.email)
  expect(link).toBe(`http://library.home/docs#invitation?code=${authenticationCode}&email=mina%40example.com`)
  expect(await serve.post('/join', { ...NEW_MEMBER, authenticationCode })).toMatchObject({ status: 201 })
  const { headers } = await serve.post('/login', MEMBER)
  const session = { Authorization: headers.get('Authorization') ?? '' }
  expect(await serve.post('/books', { title: 'Demian' }, session)).toMatchObject({ status: 201 })
  const file = new Blob([new Uint8Array(11 * 2 ** 20)], { type: 'image/png' })
  const form = new FormData()
  form.append('file', file, 'large.png')
  const upload = await fetch(`${serve.base}/imports`, { method: 'POST', body: form, headers: session })
  expect([upload.status, upload.headers.get('X-Error-Code')]).toEqual([413, 'FILE_TOO_LARGE'])

  // A mail without SMTP_URL.
  expect((await serve.post('/email/password-reset', { email: MEMBER.email })).status).toBe(202)
  await until(() => serve.find(/^Mail to mina@example\.com: /m) && serve.find(/^\w{5}-\w{5}$/m), 'a code to be printed')

  const workerd = workerdOf(data)
  expect(isWorkerd(workerd)).toBe(true)
  expect(await serve.end()).toBe(0)
  expect(isWorkerd(workerd)).toBe(false)
  expect(await verify(data)).toMatch(SOUND)

  const again = await startServe(data)
  const books = await fetch(`${again.base}/books/library?page=1&size=10&bookStatus=YET`, { headers: session })
  expect(await books.json()).toMatchObject({ item: [{ title: 'Demian' }] })
})

it('finishes requests in progress when it is ended', async () => {
  const data = createFolder()
  const serve = await startServe(data)
  const { port } = new URL(serve.base)
  const socket = connect(Number(port), '127.0.0.1')
  let received = ''
  socket.on('data', (text) => {
    received += text
  })
  const body = JSON.stringify(MEMBER)
  socket.write(
    `POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
  )
  // A request of another connection is answered after the first has begun.
  await fetch(`${serve.base}/health`)
  serve.child.kill()
  await until(
    () =>
      fetch(`${serve.base}/health`).then(
        () => false,
        () => true,
      ),
    'no further connections',
  )
  socket.write(body.slice(1))
  expect(await serve.end()).toBe(0)
  expect(received).toMatch(/^HTTP\/1\.1 401/)
})

it('refuses to start twice with the same data, and says which setting is wrong', async () => {
  const data = createFolder()
  const first = await startServe(data)
  const second = await startServe(data)
  expect(second.lines).toEqual([`Another process serves ${data}: stop it first, or choose another folder with --data`])
  expect(await first.end()).toBe(0)

  const linesWith = async (env: Record<string, string>) => {
    const { child, lines } = await startServe(data, env)
    expect(child.exitCode).toBe(1)
    return lines.join('\n')
  }
  expect(await linesWith({ HOST: '0.0.0.0' })).toMatch(/^Set PUBLIC_URL/)
  expect(await linesWith({ SMTP_URL: 'smtps://mail.example.com' })).toMatch(/^Set MAIL_FROM/)
  expect(await linesWith({ TRUSTED_PROXY: 'caddy' })).toMatch(/^TRUSTED_PROXY is not an IP address: caddy/)
  expect(await linesWith({ TIME_ZONE: 'Mars/Olympus' })).toMatch(/TIME_ZONE is not an IANA time zone/)
})

it('sends mails over SMTP, and none counts that could not be sent', async () => {
  const data = createFolder()
  const smtp = await startSmtpServer()
  const open = { SIGN_UP: 'open', MAIL_FROM: 'library@example.net' }
  const serve = await startServe(data, { ...open, SMTP_URL: smtp.url })
  expect(await serve.post('/email/join', { joinAuthCodeEmail: MEMBER.email })).toMatchObject({ status: 201 })
  expect(smtp.mails).toMatchObject([{ from: 'library@example.net', to: MEMBER.email }])
  const [, authenticationCode] = /^(\d{6})$/m.exec(smtp.mails[0]?.text ?? '') ?? []
  expect(await serve.post('/join', { ...NEW_MEMBER, authenticationCode })).toMatchObject({ status: 201 })
  await serve.end()

  const refusing = await startSmtpServer({ refuses: true })
  const again = await startServe(data, { ...open, SMTP_URL: refusing.url })
  for (let times = 0; times < 6; times++)
    expect(await again.post('/email/join', { joinAuthCodeEmail: 'jun@example.com' })).toMatchObject({ status: 503 })
  expect(again.find(/UNAVAILABLE: mail: .*550 no mailbox \(address\)/)).not.toBeNull()
  expect(again.lines.join('\n')).not.toContain('jun@example.com')
})

it('limits clients by the address of the connection, or by the one that the proxy names', async () => {
  const failedLogins = async (serve: Serve, toHeaders: (n: number) => Record<string, string>) => {
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) statuses.push((await serve.post('/login', MEMBER, toHeaders(n))).status)
    return statuses.at(-1)
  }
  const spoofed = (n: number) => ({ 'CF-Connecting-IP': `203.0.113.${n}`, 'X-Forwarded-For': `203.0.113.${n}` })
  const direct = await startServe(createFolder())
  expect(await failedLogins(direct, spoofed)).toBe(429)
  const proxied = await startServe(createFolder(), { TRUSTED_PROXY: '127.0.0.1' })
  expect(await failedLogins(proxied, spoofed)).toBe(401)
  expect(await failedLogins(proxied, () => ({ 'X-Forwarded-For': '203.0.113.99' }))).toBe(429)
})

it('goes on after workerd was killed', async () => {
  const data = createFolder()
  const serve = await startServe(data)
  const session = await signUp(serve, data)
  const killed = workerdOf(data)
  process.kill(killed, 'SIGKILL')
  await until(() => workerdOf(data) !== killed && fetch(`${serve.base}/health`).then(({ ok }) => ok), 'another workerd')
  expect(await serve.post('/books', { title: 'Demian' }, session)).toMatchObject({ status: 201 })
})

/** Each start begins with a sweep: `SWEEPS=48` for those of two days. */
const SWEEPS = Number(process.env.SWEEPS ?? 3)
/** Who sign up after each. */
const MEMBERS = Number(process.env.MEMBERS ?? 4)

/** Of a process and its workerd, in MB. */
const readMemory = (data: string, pid = 0) =>
  [pid, workerdOf(data)].map((each) => {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes) / 1024)
  })

it('keeps all that was answered, and completes withdrawals, when it is killed', {
  timeout: SWEEPS * 300_000,
}, async () => {
  const data = createFolder()
  const open = { SIGN_UP: 'open', EMAIL_VERIFICATION: 'off' }
  const kept = new Map<string, number>()
  let memory: number[] = []
  const join = async (serve: Serve, email: string) => {
    await serve.post('/join', { ...NEW_MEMBER, email, authenticationCode: '0' })
    const { headers } = await serve.post('/login', { ...MEMBER, email })
    kept.set(email, 0)
    return { email, session: { Authorization: headers.get('Authorization') ?? '' } }
  }
  const write = async (serve: Serve, { email, session }: Awaited<ReturnType<typeof join>>) => {
    for (let books = 0; books < 10; books++) {
      const { status } = await serve.post('/books', { title: 'Demian' }, session)
      if (status === 201) kept.set(email, (kept.get(email) ?? 0) + 1)
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const serve = await startServe(data, open)
    const members: Awaited<ReturnType<typeof join>>[] = []
    for (let n = 0; n < MEMBERS; n++) members.push(await join(serve, `reader-${sweep}-${n}@example.com`))
    const [leaver, ...others] = members
    if (leaver) await write(serve, leaver)
    const writing = Promise.allSettled(others.map((member) => write(serve, member)))
    // The data of a withdrawn member is deleted after the response: the kill comes first.
    const left = await fetch(`${serve.base}/members/me`, { method: 'DELETE', headers: leaver?.session ?? {} })
    expect(left.status).toBe(204)
    kept.delete(leaver?.email ?? '')
    memory = readMemory(data, serve.child.pid)
    serve.child.kill('SIGKILL')
    await writing
  }
  const last = await startServe(data, open)
  const [ofNode, ofWorkerd] = memory
  console.log(`${SWEEPS} sweeps, ${SWEEPS * MEMBERS} members: node ${ofNode} MB, workerd ${ofWorkerd} MB`)
  expect(last.find(/"message":"sweep".*"failures":0/)).not.toBeNull()
  expect(await last.end()).toBe(0)
  expect(await verify(data)).toMatch(SOUND)

  const database = new DatabaseSync(localPath(data, 'DB'), { readOnly: true })
  const select = (query: string) => database.prepare(query).all() as Record<string, string | number>[]
  expect(select('select memberId from members where withdrawnAt is not null')).toEqual([])
  const stored = select(
    'select email, count(bookId) as books from members left join books using (memberId) group by email',
  )
  expect(stored.map(({ email }) => email).sort()).toEqual([...kept.keys()].sort())
  expect(stored.filter(({ email, books }) => Number(books) < (kept.get(String(email)) ?? 0))).toEqual([])
  database.close()
})
