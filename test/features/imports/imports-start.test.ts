import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { createAccessToken } from '../../../src/auth/access-token'
import worker from '../../../src/index'
import { READER_PROTOCOL } from '../../../src/transfer/entries/reader-protocol'
import { weigh } from '../../../src/transfer/imports/receive/start'
import { BASE, type Reader, send, signUp } from '../../support/api'
import { insertImport, memberDatabase, memberSlot } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { unlimited } from '../../support/rate-limits'
import { eventually } from '../../support/runtime/clock'
import { settle } from '../../support/runtime/concurrent'
import { readingWith } from '../../support/transfer/imports'

const FILE = 'Title,Author\nThe Salt Archive,Mina Oh\n'

/** A reader of files that counts what it is asked to read. */
const watchReader = (answer?: object) => {
  const read = vi.fn(async (...values: Parameters<typeof env.READER.read>) => answer ?? env.READER.read(...values))
  return { read, changed: readingWith(read) }
}
const start = (token: string, changed: object) =>
  send('POST', '/imports', {
    raw: FILE,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' },
    changed,
  })
const codeOf = ({ status, headers }: Awaited<ReturnType<typeof send>>) => [status, headers.get('X-Error-Code')]

it('reads no file for an access token that was made up', async () => {
  const { read, changed } = watchReader({ protocol: READER_PROTOCOL, reason: 'It is no list of books.' })
  expect(codeOf(await start(createAccessToken(memberSlot()), changed))).toEqual([401, 'UNAUTHORIZED'])
  expect(read).not.toHaveBeenCalled()
})

it('reads no file while another import runs', async () => {
  const reader = await signUp()
  await insertImport(await memberIdOf(reader), 'RUNNING', 0)
  const { read, changed } = watchReader()
  expect(codeOf(await start(reader.token, changed))).toEqual([409, 'IMPORT_RUNNING'])
  expect(read).not.toHaveBeenCalled()
})

const insertEnded = async (reader: Reader, count: number, isDryRun = 0) =>
  memberDatabase()
    .prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
      insert into imports (memberId, importId, status, isDryRun, merge, format, encoding, options, total)
      select ?1, ?2 - i, iif(i % 2, 'DONE', 'FAILED'), ?4, 'fill', 'csv', 'utf-8', '{}', 1 from n`,
    )
    .bind(await memberIdOf(reader), Date.now() - 60_000, count, isDryRun)
    .run()

it('reads a file after twenty dry runs', async () => {
  const reader = await signUp()
  await insertEnded(reader, 20, 1)
  const { read, changed } = watchReader({ protocol: READER_PROTOCOL, reason: 'It is no list of books.' })
  expect((await start(reader.token, changed)).status).toBe(422)
  expect(read).toHaveBeenCalledTimes(1)
})

it('reads no file after twenty imports', async () => {
  const reader = await signUp()
  await insertEnded(reader, 20)
  const { read, changed } = watchReader()
  const refused = await start(reader.token, changed)
  expect(codeOf(refused)).toEqual([429, 'TOO_MANY_REQUESTS'])
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(86_000)
  expect(read).not.toHaveBeenCalled()
})

it('reads at most sixty files a day of a member, however many come at once', async () => {
  const reader = await signUp()
  const { read, changed } = watchReader({ protocol: READER_PROTOCOL, reason: 'It is no list of books.' })
  const answers = await Promise.all(
    Array.from({ length: 62 }, () => start(reader.token, { ...changed, MEMBER_LIMIT: unlimited })),
  )
  const counted = Map.groupBy(answers, ({ status }) => status)
  expect([counted.get(422)?.length, counted.get(429)?.length]).toEqual([60, 2])
  expect(read).toHaveBeenCalledTimes(60)
  expect(Number(counted.get(429)?.[0]?.headers.get('Retry-After'))).toBeGreaterThan(86_000)
})

it('keeps what it began if the client disconnects', async () => {
  const reader = await signUp()
  const { read, changed } = watchReader()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  read.mockImplementation(async (...values) => {
    await held
    return env.READER.read(...values)
  })
  const kept: Promise<unknown>[] = []
  const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work), passThroughOnException: () => {} }
  const headers = { Authorization: `Bearer ${reader.token}`, 'Content-Type': 'text/csv' }
  const request = new Request(`${BASE}/imports`, { method: 'POST', headers, body: FILE })
  const answer = worker.fetch(
    request as Request<unknown, IncomingRequestCfProperties>,
    { ...env, ...changed },
    context as unknown as ExecutionContext,
  )
  await eventually(() => expect(read).toHaveBeenCalled())
  // After a disconnect, Cloudflare waits only for these.
  let hasEnded = false
  const ended = Promise.all(kept).then(() => {
    hasEnded = true
  })
  await settle()
  expect(hasEnded).toBe(false)
  release()
  await ended
  expect((await reader.get('/imports')).body).toHaveLength(1)
  expect((await answer).status).toBe(202)
  for (let at = 0; at < kept.length; at++) await kept[at]
})

it('weighs a file by its bytes, but short rows as if they were longer', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  expect(weigh(bytes(`Title\n${'x'.repeat(10_000)}`))).toBe(10_006)
  for (const row of ['x\n', 'x\r\n', 'x\r', '{}']) expect(weigh(bytes(row.repeat(1000)))).toBe(256_000)
  expect(weigh(bytes('\n'.repeat(100_000)))).toBe(10_000 * 256)
})
