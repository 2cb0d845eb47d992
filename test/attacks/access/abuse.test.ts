// @module-tag one-slot
import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import worker from '../../../src/index'
import { tryForgeries, tryMutations } from '../../support/access/forgeries'
import { BASE, newEmail, type Reader, send, signUp } from '../../support/api'
import { toText } from '../../support/bytes'
import { memberDatabase } from '../../support/database'
import { isPage } from '../../support/document/operations'
import { pngWithData } from '../../support/images/pictures'
import { toExport, toFileForm } from '../../support/inputs/file-form'
import { fuzzRequests } from '../../support/inputs/fuzz-requests'
import { BAD_MARKS } from '../../support/inputs/hostile'
import { hostileForms } from '../../support/inputs/hostile-forms'
import { UNLIMITED } from '../../support/rate-limits'
import { eventually } from '../../support/runtime/clock'
import { readStores, takeSnapshot } from '../../support/stores'

const { SEED } = env as typeof env & { SEED: number }
let reader: Reader
let other: Reader
beforeAll(async () => {
  reader = await signUp()
  other = await signUp()
})

const sendHeaders = (headers: [string, string][], path = '/members/me') => {
  const all = new Headers()
  for (const [name, value] of headers) all.append(name, value)
  return send('GET', path, { headers: Object.fromEntries(all) })
}

it('rejects every known forgery of a token', async () => {
  const { count, failures } = await tryForgeries(sendHeaders, reader, other.token, env.JWT_SECRET ?? '')
  expect(failures).toEqual([])
  expect(count).toBeGreaterThanOrEqual(100)
})

it(`rejects a valid token after any change to it (SEED=${SEED})`, async () => {
  expect((await tryMutations(sendHeaders, reader, 400, SEED)).failures).toEqual([])
})

/** Whether the `Request` constructor accepts it. `npm run attack -- input` sends the others over a socket. */
const isSendable = (path: string, headers: [string, string][]) =>
  URL.canParse(BASE + path) &&
  new URL(BASE + path).origin === BASE &&
  !isPage(new URL(BASE + path).pathname) &&
  headers.every(([, value]) => /^[ -~]*$/.test(value))

/** Withdrawal, logout and the like would invalidate the token of the requests that follow. */
const ENDS_SESSION = /^\/(?:members|logout|sessions)/

const tryBadInput = async (count: number) => {
  const { bookId } = await other.createBook()
  const { memoId } = await other.createMemo(bookId)
  const books = [(await reader.createBook()).bookId, bookId].map(String)
  const ids = { 'book-id': books, bookId: books, 'reading-id': books, 'memo-id': [String(memoId), '999999'] }
  // A preflight is not an operation.
  const requests = fuzzRequests(ids, count, SEED).filter(
    ({ method, path, headers }) => method !== 'OPTIONS' && !ENDS_SESSION.test(path) && isSendable(path, headers),
  )
  expect(requests.length).toBeGreaterThan(count * 0.7)
  let snapshot = await takeSnapshot([memberDatabase()])
  for (const { method, path, headers, type, body, hasToken } of requests) {
    const all = new Headers(headers)
    if (type !== undefined) all.set('Content-Type', type)
    if (hasToken && !all.has('Authorization')) all.set('Authorization', `Bearer ${reader.token}`)
    const raw = method === 'GET' || method === 'HEAD' ? undefined : body
    const { status } = await send(method, path, { raw, headers: Object.fromEntries(all), changed: UNLIMITED })
    expect(status, `${method} ${path}`).toBeLessThan(500)
    const before = snapshot
    snapshot = await takeSnapshot([memberDatabase()])
    if (status >= 400) expect(snapshot, `${method} ${path}`).toBe(before)
  }
}

// `npm run attack -- input` sends 100,000, and CI 300 of them.
it(`responds to 50 bad requests as documented, and rejected ones change nothing (SEED=${SEED})`, () => tryBadInput(50))

it.each(hostileForms())('responds $status to a form with $name', async ({ type, body, status }) => {
  const headers = { 'Content-Type': type }
  const answer = await reader.send('POST', '/memos/image-memo', { raw: body, headers, changed: UNLIMITED })
  expect(answer.status).toBe(status)
  if (status !== 201) return
  expect(answer.body).toMatch(/^https:\/\/library\.test\/images\/[1-9]\d*\/[\w-]{22}\.png$/)
  const image = await send('GET', new URL(answer.body).pathname)
  expect(image.headers.get('Content-Type')).toBe('image/png')
  for (const mark of BAD_MARKS) expect(toText(image.body)).not.toContain(mark)
})

it('responds identically to failed logins, headers included, whether or not the account exists', async () => {
  const { email } = await signUp()
  const failLogin = async (account: string, network: string) => {
    const headers = { 'CF-Connecting-IP': network }
    const answer = await send('POST', '/login', { body: { email: account, password: 'wrong-password' }, headers })
    return [answer.status, [...answer.headers].filter(([name]) => name !== 'x-request-id'), answer.body]
  }
  expect(await failLogin(email, '192.0.2.77')).toEqual(await failLogin(newEmail(), '192.0.2.78'))
})

it('leaves no trace of a withdrawn member in any row, object or key', async () => {
  const traces = [
    'zanzibar@withdrawal.test',
    'Wolkenkuckucksheim',
    'Mnemosyne Hapax',
    'PIXELS-OF-ATLANTIS',
    'Shangri-La',
    'Library of Babel',
  ]
  const [email = '', title = '', memoContent = '', pixels = '', detail = '', imported = ''] = traces
  const member = await signUp(email)
  const { bookId } = await member.createBook({ title, author: title, publisher: title })
  await member.createMemo(bookId, { memoContent })
  await member.patch(`/books/${bookId}/edition`, { series: detail })
  await member.post(`/books/${bookId}/readings`, { note: detail })
  await member.send('PUT', `/books/${bookId}/tags`, { body: { tags: [detail] } })
  await member.upload(pngWithData(pixels))
  const { type, body } = toFileForm(toExport(imported, 1, imported))
  await member.send('POST', '/imports', { raw: body, headers: { 'Content-Type': type }, changed: UNLIMITED })
  const findTraces = async () => {
    const contents = await readStores({
      databases: [env.DB, memberDatabase()],
      bucket: env.IMAGES,
      lists: env.CATALOGUE,
    })
    return traces.filter((trace) => contents.some(([, bytes]) => toText(bytes).includes(trace)))
  }
  expect(await findTraces()).toEqual(traces)
  await member.delete('/members/me')
  await worker.scheduled(createScheduledController() as ScheduledController, env)
  await eventually(async () => expect(await findTraces()).toEqual([]))
})
