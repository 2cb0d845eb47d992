// @module-tag slow
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { restoreBackup } from '../../scripts/backup/restore.ts'
import { writeBackup } from '../../scripts/backup/write.ts'
import { digestTables } from '../../scripts/data/rows-as-sql.ts'
import { localPath, openStores } from '../../scripts/data/stores.ts'
import { readCommand, runCommand } from '../../scripts/members/run.ts'
import { drawCover } from '../../scripts/seed/pictures.ts'
import { startService as start } from '../../scripts/serve/service.ts'
import { JWT_SECRET, runHere } from './databases.ts'
import { buildWorkers, startSmtpServer } from './serve.ts'

const ADDRESS_KEY = 'a key of the tests only, for the hashes of addresses'
const [PASSWORD, NEW_PASSWORD] = ['read-more-1', 'read-more-2']
const SETTINGS = {
  JWT_SECRET,
  ADDRESS_KEY,
  NEW_MEMBERS: 'EU:1 *:0',
  EMAIL_VERIFICATION: 'off',
  MAIL_FROM: 'library@example.com',
  PUBLIC_URL: 'https://library.example',
  LOG_SAMPLE_RATE: '0',
}

beforeAll(buildWorkers)
const folder = mkdtempSync(join(tmpdir(), 'reading-library-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Sent = { token?: string; body?: unknown; continent?: 'EU' | undefined }

/** The service over local data. */
const startService = async (data: string) => {
  const { url: smtpUrl } = await startSmtpServer()
  const { result } = await runHere({}, () => start({ data, service: SETTINGS, smtpUrl }))
  const { target, stop } = result
  const send = async (method: string, path: string, { token, body, continent }: Sent = {}) => {
    const response = await fetch(new URL(path, target()), {
      method,
      headers: {
        ...(token && { Authorization: token }),
        ...(body !== undefined && !(body instanceof FormData) && { 'Content-Type': 'application/json' }),
        ...(continent && { 'MF-CF-Blob': JSON.stringify({ continent }) }),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('Content-Type')?.includes('json')
    const json = isJson ? JSON.parse(bytes.toString()) : undefined
    return { status: response.status, token: response.headers.get('Authorization') ?? '', bytes, json }
  }
  const logIn = (email: string, password = PASSWORD) => send('POST', '/login', { body: { email, password } })
  return {
    send,
    logIn,
    signUp: async (email: string, continent?: 'EU') => {
      const body = { email, name: 'Reader', password: PASSWORD, authenticationCode: '000000' }
      expect(await send('POST', '/join', { body, continent })).toMatchObject({ status: 201 })
      return (await logIn(email)).token
    },
    stop,
  }
}
type Service = Awaited<ReturnType<typeof startService>>

/** Fills the library of a member. Returns where an image and a link are, and the cursor of a client that syncs. */
const fill = async ({ send }: Service, token: string) => {
  const form = new FormData()
  form.append('file', new Blob([drawCover(1)], { type: 'image/png' }), 'cover.png')
  const { json: url } = await send('POST', '/memos/image-memo', { token, body: form })
  const book = { title: 'Low Tide', author: 'Ana Ruiz', bookStatus: 'ING' }
  const { json: kept } = await send('POST', '/books', { token, body: book })
  const memo = { memoBookPage: 1, memoContent: `Read again. <img src="${url}">`, memoType: 'THOUGHT' }
  await send('POST', `/memos?bookId=${kept.bookId}`, { token, body: memo })
  const { json: deleted } = await send('POST', '/books', { token, body: book })
  await send('DELETE', `/books/${deleted.bookId}`, { token })
  await send('PUT', '/goals/2026', { token, body: { metric: 'BOOKS', target: 12 } })
  const { json: link } = await send('POST', '/links', { token, body: { name: 'All', kind: 'SHELF', showName: true } })
  return { image: new URL(url).pathname, link: new URL(link.url).pathname, cursor: await sync({ send }, token) }
}
const sync = async ({ send }: Pick<Service, 'send'>, token: string) => {
  let path = '/changes'
  for (;;) {
    const { json } = await send('GET', path, { token })
    path = `/changes?cursor=${encodeURIComponent(json.next)}`
    if (!json.hasMore) return path
  }
}

const BINDINGS = ['DB', 'DB_1']
/** A code to reset a password, which was mailed a moment ago. */
const insertCode = (data: string) => {
  using database = new DatabaseSync(localPath(data, 'DB'))
  database
    .prepare(`insert into accountCodes select 'hash', 'subject', memberId, 0, credentialsVersion, ? from members`)
    .run(Date.now() + 600_000)
}
/** All tables, but for those of identifiers that a restore skips. */
const readTables = (data: string) =>
  BINDINGS.map((binding) => {
    using database = new DatabaseSync(localPath(data, binding), { readOnly: true })
    const { retiredIds, sqlite_sequence, slotCounters, d1_migrations, ...tables } = digestTables(database)
    return tables
  })
const readObjects = async (data: string) => {
  const { bucket, dispose } = await openStores({ persistTo: data })
  const { objects } = await bucket.list({ include: ['httpMetadata'] })
  const found = objects.map(({ key, size, httpEtag, httpMetadata }) => ({ key, size, httpEtag, httpMetadata }))
  await dispose()
  return found
}

const ENV = { ADDRESS_KEY, TIME_ZONE: 'UTC' }
const restore = (backup: string, persistTo: string) => runHere(ENV, () => restoreBackup(backup, { persistTo }, {}))
/** Runs commands of `npm run members`. Returns the lines that each prints. */
const operate = (data: string, ...commands: string[]) =>
  runHere(ENV, async () => {
    const { dispose, ...stores } = await openStores({ persistTo: data })
    const printed: string[][] = []
    for (const command of commands)
      printed.push(await runCommand(readCommand([...command.split(' '), '--local', '--persist-to', data]), stores))
    await dispose()
    return printed
  })

it('a service that was lost comes back from its backup alone', async () => {
  const [data, backup] = [join(folder, 'data'), join(folder, 'backup')]
  mkdirSync(data)
  writeFileSync(join(data, 'slots.json'), '[{"slot":1}]')
  const first = await startService(data)
  const [mina, jun] = [await first.signUp('mina@example.com'), await first.signUp('jun@example.com', 'EU')]
  const hana = await first.signUp('hana@example.com', 'EU')
  for (const name of ['sora', 'nari', 'dana']) await first.signUp(`${name}@example.com`, 'EU')
  const libraries = [await fill(first, mina), await fill(first, jun)]
  await fill(first, hana)
  expect(await first.send('DELETE', '/members/me', { token: hana })).toMatchObject({ status: 204 })
  await first.stop()
  insertCode(data)
  await operate(data, 'block sora@example.com')
  await runHere(ENV, () => writeBackup(backup, { persistTo: data }))
  const [tables, objects] = [readTables(data), await readObjects(data)]
  expect(tables[0]?.accountCodes?.rows).toBe(1)

  const whole = join(folder, 'whole')
  expect(await restore(backup, whole)).toEqual({ result: true, stdout: expect.stringContaining('no mismatches') })
  expect(readTables(whole)).toEqual(tables)
  expect(await readObjects(whole)).toEqual(objects)
  const second = await startService(whole)
  for (const [at, token] of [mina, jun].entries()) {
    const { image, link, cursor } = libraries[at] ?? { image: '', link: '', cursor: '' }
    expect((await second.send('GET', image)).bytes.equals(drawCover(1))).toBe(true)
    expect(String((await second.send('GET', link)).bytes)).toContain('Low Tide')
    expect(await second.send('GET', cursor, { token })).toMatchObject({ status: 200, json: { item: [] } })
  }
  expect(await second.logIn('hana@example.com')).toMatchObject({ status: 401 })
  expect(await second.logIn('sora@example.com')).toMatchObject({ status: 403 })
  expect(await second.logIn('nari@example.com')).toMatchObject({ status: 200 })
  await second.stop()

  // What happens after the backup, of which only the bucket remains.
  const third = await startService(data)
  const { token: nari } = await third.logIn('nari@example.com')
  const changed = { token: nari, body: { password: NEW_PASSWORD } }
  expect(await third.send('PATCH', '/members/me', changed)).toMatchObject({ status: 200 })
  const { token: dana } = await third.logIn('dana@example.com')
  await third.send('DELETE', '/members/me', { token: dana })
  await third.send('POST', '/books', { token: jun, body: { title: 'High Tide' } })
  const cursor = await sync(third, jun)
  await third.stop()
  await operate(
    data,
    ...['unblock sora@example.com', 'block jun@example.com', 'unblock jun@example.com', 'block mina@example.com'],
  )

  const older = join(folder, 'older')
  cpSync(join(data, 'v3', 'r2'), join(older, 'v3', 'r2'), { recursive: true })
  const { result, stdout } = await restore(backup, older)
  expect(result).toBe(true)
  for (const line of [
    'DB_1: withdrawals repeated: 1',
    'DB_1: passwords to be reset: 1',
    'DB: actions of operators repeated: 1',
  ])
    expect(stdout).toContain(line)
  const [log = []] = (await operate(older, 'log')).result
  expect(log.map((line) => line.split(' ')[1])).toEqual(['block', 'unblock', 'block', 'unblock', 'block'])
  const fourth = await startService(older)
  const statusOf = async (name: string, password?: string) =>
    (await fourth.logIn(`${name}@example.com`, password)).status
  expect([await statusOf('nari'), await statusOf('nari', NEW_PASSWORD), await statusOf('dana')]).toEqual([
    401, 401, 401,
  ])
  expect([await statusOf('sora'), await statusOf('jun'), await statusOf('mina')]).toEqual([200, 200, 403])
  expect(await fourth.send('GET', cursor, { token: jun })).toMatchObject({ status: 410 })
  await fourth.stop()
})
