// @module-tag slow
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localPath } from '../../scripts/data/stores.ts'
import { isWorkerd } from '../../scripts/serve/processes.ts'
import { readSettings } from '../../scripts/serve/settings.ts'
import { createFolder, runMembersScript } from './databases.ts'
import { open } from './opened.ts'
import { buildWorkers, runInstruction, startServe, startSmtpServer, until } from './serve.ts'

const MEMBER = { email: 'mina@example.com', password: 'read-more-1' }
const NEW_MEMBER = { ...MEMBER, name: 'Mina' }

type Serve = Awaited<ReturnType<typeof startServe>>
type Session = { Authorization: string }

const logIn = async (serve: Serve, email = MEMBER.email): Promise<Session> => {
  const { headers } = await serve.post('/login', { ...MEMBER, email })
  return { Authorization: headers.get('Authorization') ?? '' }
}

const findMismatches = async (data: string) => {
  const { verify, dispose } = await open(data)
  const lines = await verify()
  await dispose()
  return lines
}

const workerdOf = (data: string) => Number(readFileSync(join(data, 'workerd.pid'), 'utf8'))

beforeAll(buildWorkers)

describe('a service', () => {
  const data = mkdtempSync(join(tmpdir(), 'reading-library-'))
  let serve: Serve
  let invitation: { code: string; link: string }
  let session: Session
  beforeAll(async () => {
    serve = await startServe(data)
    const env = { PUBLIC_URL: 'http://library.home' }
    const { stdout } = await runMembersScript(env, 'invite', MEMBER.email, '--local', '--persist-to', data)
    const [, code = '', link = ''] = /the code (\d+)\n(.+)/.exec(stdout) ?? []
    invitation = { code, link }
    expect(await serve.post('/join', { ...NEW_MEMBER, authenticationCode: '000000' })).toMatchObject({ status: 400 })
    expect(await serve.post('/join', { ...NEW_MEMBER, authenticationCode: code })).toMatchObject({ status: 201 })
    session = await logIn(serve)
  })
  afterAll(async () => {
    await serve?.end()
    rmSync(data, { recursive: true })
  })

  it('starts from nothing, and takes invited members only', async () => {
    const health = await runInstruction('HEALTHCHECK', data, { PORT: new URL(serve.base).port })
    expect(await once(health, 'exit')).toEqual([0, null])
    expect(statSync(join(data, 'secrets.env')).mode & 0o777).toBe(0o600)

    const requested = await serve.post('/email/join', { joinAuthCodeEmail: 'jun@example.com' })
    expect(requested).toMatchObject({ status: 400, text: expect.stringContaining('invitation') })
    const { code, link } = invitation
    expect(link).toBe(`http://library.home/docs#invitation?code=${code}&email=mina%40example.com`)
    const file = new Blob([new Uint8Array(11 * 2 ** 20)], { type: 'image/png' })
    const form = new FormData()
    form.append('file', file, 'large.png')
    const upload = await fetch(`${serve.base}/imports`, { method: 'POST', body: form, headers: session })
    expect([upload.status, upload.headers.get('X-Error-Code')]).toEqual([413, 'FILE_TOO_LARGE'])

    // A mail without SMTP_URL.
    expect((await serve.post('/email/password-reset', { email: MEMBER.email })).status).toBe(202)
    await until(
      () => serve.find(/^Mail to mina@example\.com: /m) && serve.find(/^\w{5}-\w{5}$/m),
      'a code to be printed',
    )
  })

  it('goes on after workerd was killed', async () => {
    const killed = workerdOf(data)
    process.kill(killed, 'SIGKILL')
    const isHealthy = () => fetch(`${serve.base}/health`).then(({ ok }) => ok)
    await until(() => workerdOf(data) !== killed && isHealthy(), 'another workerd')
    expect(await serve.post('/books', { title: 'Demian' }, session)).toMatchObject({ status: 201 })
  })

  it('answers writes with 503 while another process locks the database for long', async () => {
    using other = new DatabaseSync(localPath(data, 'DB'))
    other.exec('begin immediate')
    expect(await serve.post('/books', { title: 'Locked' }, session)).toMatchObject({ status: 503 })
    expect(serve.find(/UNAVAILABLE: Error: D1_ERROR: database is locked: SQLITE_BUSY/)).not.toBeNull()
    other.exec('rollback')
  })

  it('does not start twice with the same data', async () => {
    await using second = await startServe(data)
    expect(second.lines).toEqual([
      `Another process serves ${data}: stop it first, or choose another folder with --data`,
    ])
  })

  const failLogins = async (toHeaders: (n: number) => Record<string, string>) => {
    const statuses: number[] = []
    for (let n = 0; n < 11; n++)
      statuses.push((await serve.post('/login', { ...MEMBER, password: 'wrong-1' }, toHeaders(n))).status)
    return statuses.at(-1)
  }
  const spoofed = (n: number) => ({ 'CF-Connecting-IP': `203.0.113.${n}`, 'X-Forwarded-For': `203.0.113.${n}` })

  it('limits clients by the address of the connection', async () => {
    expect(await failLogins(spoofed)).toBe(429)
  })

  it('finishes requests in progress when it is ended, and keeps all data', async () => {
    const { port } = new URL(serve.base)
    const socket = connect(Number(port), '127.0.0.1')
    let received = ''
    socket.on('data', (text) => {
      received += text
    })
    const body = JSON.stringify({ title: 'Low Tide' })
    const headers = { Host: 'a', 'Content-Type': 'application/json', 'Content-Length': body.length, ...session }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST /books HTTP/1.1\r\n${lines.join('')}\r\n{`)
    // A request of another connection is answered after the first has begun.
    await fetch(`${serve.base}/health`)
    const workerd = workerdOf(data)
    expect(isWorkerd(workerd)).toBe(true)
    serve.child.kill()
    const isRefused = () =>
      fetch(`${serve.base}/health`).then(
        () => false,
        () => true,
      )
    await until(isRefused, 'no further connections')
    socket.write(body.slice(1))
    expect(await serve.end()).toBe(0)
    expect(received).toMatch(/^HTTP\/1\.1 201/)
    expect([isWorkerd(workerd), existsSync(join(data, 'workerd.pid'))]).toEqual([false, false])
    expect(await findMismatches(data)).toEqual([])
  })

  it('has its data at the next start, sends mails over SMTP, and believes the proxy', async () => {
    const smtp = await startSmtpServer()
    const open = { SIGN_UP: 'open', MAIL_FROM: 'library@example.net', TRUSTED_PROXY: '127.0.0.1' }
    serve = await startServe(data, { ...open, SMTP_URL: smtp.url })
    const books = await fetch(`${serve.base}/books/library?page=1&size=10&bookStatus=YET`, { headers: session })
    expect(await books.json()).toMatchObject({ item: [{ title: 'Low Tide' }, { title: 'Demian' }] })

    const email = 'jun@example.com'
    expect(await serve.post('/email/join', { joinAuthCodeEmail: email })).toMatchObject({ status: 201 })
    expect(smtp.mails).toMatchObject([{ from: 'library@example.net', to: email }])
    const [, authenticationCode] = /^(\d{6})$/m.exec(smtp.mails[0]?.text ?? '') ?? []
    expect(await serve.post('/join', { ...NEW_MEMBER, email, authenticationCode })).toMatchObject({ status: 201 })
    smtp.refuse()
    // None counts that could not be sent.
    for (let times = 0; times < 6; times++)
      expect(await serve.post('/email/join', { joinAuthCodeEmail: 'sora@example.com' })).toMatchObject({ status: 503 })
    expect(serve.find(/UNAVAILABLE: mail: .*550 no mailbox \(address\)/)).not.toBeNull()
    expect(serve.lines.join('\n')).not.toContain('sora@example.com')

    expect(await failLogins(spoofed)).toBe(401)
    expect(await failLogins(() => ({ 'X-Forwarded-For': '203.0.113.99' }))).toBe(429)
  })
})

it('says which setting is wrong', async () => {
  const data = createFolder()
  const read = (env: Record<string, string>) => () => readSettings(data, { JWT_SECRET: 'a secret', ...env })
  expect(read({ HOST: '0.0.0.0' })).toThrow(/^Set PUBLIC_URL/)
  expect(read({ SMTP_URL: 'smtps://mail.example.com' })).toThrow(/^Set MAIL_FROM/)
  expect(read({ TRUSTED_PROXY: 'caddy' })).toThrow(/^TRUSTED_PROXY is not an IP address: caddy/)
  const { child, lines } = await startServe(data, { TIME_ZONE: 'Mars/Olympus' })
  expect(child.exitCode).toBe(1)
  expect(lines.join('\n')).toMatch(/TIME_ZONE is not an IANA time zone/)
})

/** Each start begins with a sweep: `SWEEPS=48` for those of two days. */
const SWEEPS = Number(process.env.SWEEPS ?? 2)
/** Who sign up after each. */
const MEMBERS = Number(process.env.MEMBERS ?? 3)

/** Of a process and its workerd, in MB. */
const readMemory = (data: string, pid = 0) =>
  [pid, workerdOf(data)].map((each) => {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes) / 1024)
  })

it('keeps all that was answered, and completes withdrawals, when it is killed', {
  timeout: SWEEPS * (300_000 + MEMBERS * 10_000),
}, async () => {
  const data = createFolder()
  const settings = { SIGN_UP: 'open', EMAIL_VERIFICATION: 'off' }
  const kept = new Map<string, number>()
  let memory: number[] = []
  const join = async (serve: Serve, email: string) => {
    await serve.post('/join', { ...NEW_MEMBER, email, authenticationCode: '0' })
    kept.set(email, 0)
    return { email, session: await logIn(serve, email) }
  }
  const write = async (serve: Serve, { email, session }: Awaited<ReturnType<typeof join>>) => {
    for (let books = 0; books < 10; books++) {
      const { status } = await serve.post('/books', { title: 'Demian' }, session)
      if (status === 201) kept.set(email, (kept.get(email) ?? 0) + 1)
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    await using serve = await startServe(data, settings)
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
  await using last = await startServe(data, settings)
  const [ofNode, ofWorkerd] = memory
  console.log(`${SWEEPS} sweeps, ${SWEEPS * MEMBERS} members: node ${ofNode} MB, workerd ${ofWorkerd} MB`)
  expect(last.find(/"message":"sweep".*"failures":0/)).not.toBeNull()
  expect(await last.end('SIGINT')).toBe(0)
  expect(await findMismatches(data)).toEqual([])

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
