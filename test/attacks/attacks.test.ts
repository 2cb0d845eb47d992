import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index'
import { type Answer, BASE, newEmail, type Reader, send, signUp } from '../support/api'
import { join, toText } from '../support/bytes'
import { claimsTheSame, mutatedTokens, namedForgeries } from '../support/forgeries'
import { BAD_MARKS } from '../support/hostile'
import { hostileForms } from '../support/hostile-forms'
import { oddRequests } from '../support/odd-requests'
import { addressOf, attemptsOn, idOperations, isPage } from '../support/operations'
import { chunk, PNG_SIGNATURE, pngHeader } from '../support/pictures'
import { readStores } from '../support/stores'

// The short form of `npm run attack`: the same cases, fewer of them, and without a socket between.

let attacker: Reader
let victim: Reader
let things: Record<string, string>
beforeAll(async () => {
  attacker = await signUp()
  victim = await signUp()
  const { bookId } = await victim.registers()
  const { memoId } = await victim.writes(bookId)
  things = namesOf(bookId, memoId)
})

const namesOf = (bookId: number, memoId: number) => ({
  'book-id': String(bookId),
  bookId: String(bookId),
  'memo-id': String(memoId),
})
// Without limits in the way: they are tested on their own.
const unlimited = { limit: async () => ({ success: true }) } as RateLimit
const changed = { MEMBER_LIMIT: unlimited, NETWORK_LIMIT: unlimited }

const stored = async () => {
  const tables = ['members', 'books', 'memos', 'retiredIds'].map((table) => env.DB.prepare(`select * from ${table}`))
  return (await env.DB.batch(tables)).map(({ results }) => results)
}

/** Whether a `Request` can be made of it at all: not of every address and header that a socket takes. */
const isSendable = (path: string, headers: [string, string][]) =>
  URL.canParse(BASE + path) &&
  new URL(BASE + path).origin === BASE &&
  !isPage(new URL(BASE + path).pathname) &&
  headers.every(([, value]) => /^[ -~]*$/.test(value))

describe('bad input', () => {
  it('is always answered as the document says, and what is refused changes nothing', async () => {
    const own = await attacker.registers()
    const known = {
      'book-id': [String(own.bookId), things['book-id'] ?? ''],
      'memo-id': [things['memo-id'] ?? '', '999999'],
    }
    const requests = oddRequests(known, 500, 5).filter(
      // A preflight is no operation, and a withdrawal would end the rest.
      ({ method, path, headers }) => method !== 'OPTIONS' && !path.startsWith('/members') && isSendable(path, headers),
    )
    expect(requests.length).toBeGreaterThan(350)
    for (const { method, path, headers, type, body, hasToken } of requests) {
      const all = new Headers(headers)
      if (type !== undefined) all.set('Content-Type', type)
      if (hasToken && !all.has('Authorization')) all.set('Authorization', `Bearer ${attacker.token}`)
      const raw = method === 'GET' || method === 'HEAD' ? undefined : body
      const before = await stored()
      const { status } = await send(method, path, { raw, headers: Object.fromEntries(all), changed })
      expect(status, `${method} ${path}`).toBeLessThan(500)
      if (status >= 400) expect(await stored(), `${method} ${path}`).toEqual(before)
    }
  })
})

describe('another member’s things', () => {
  const bytesOf = ({ status, headers, body }: Answer) => [
    status,
    [...headers].filter(([name]) => name !== 'x-request-id'),
    body,
  ]

  it.each(idOperations.map((operation) => ({ ...operation, name: `${operation.method} ${operation.template}` })))(
    '$name answers as if they were not there, whatever is sent',
    async (operation) => {
      const before = await stored()
      for (const { method, body } of attemptsOn(operation).filter(({ method }) => method !== 'OPTIONS')) {
        for (const token of [attacker.token, undefined]) {
          const headers = {
            'Content-Type': 'application/json',
            ...(token !== undefined && { Authorization: `Bearer ${token}` }),
          }
          const theirs = await send(method, addressOf(operation, things), { raw: body, headers })
          const nobodys = await send(method, addressOf(operation, namesOf(999_999, 999_999)), { raw: body, headers })
          expect(bytesOf(theirs), `${method} ${body}`).toEqual(bytesOf(nobodys))
          expect(theirs.status).toBeGreaterThanOrEqual(400)
        }
      }
      expect(await stored()).toEqual(before)
    },
  )
})

describe('a token that nobody was given', () => {
  const ask = (headers: [string, string][], path = '/members/me') => {
    const all = new Headers()
    for (const [name, value] of headers) all.append(name, value)
    return send('GET', path, { headers: Object.fromEntries(all) })
  }

  it('is refused by each name that it goes by', async () => {
    const named = await namedForgeries(attacker.token, victim.token, env.JWT_SECRET ?? '')
    expect(named.length).toBeGreaterThanOrEqual(100)
    for (const { name, headers, path, isSame } of named) {
      const { status, body } = await ask(headers, path)
      if (!(isSame && body.email === attacker.email)) expect(status, name).toBe(401)
    }
  })

  it('is refused however a good one is changed', async () => {
    for (const token of mutatedTokens(attacker.token, 400, 7)) {
      const { status, body } = await ask([['Authorization', `Bearer ${token}`]])
      if (!(body.email === attacker.email && claimsTheSame(token, attacker.token))) expect(status, token).toBe(401)
    }
  })
})

describe('a form that no browser sends', () => {
  it.each(hostileForms())('$name does no harm', async ({ type, body }) => {
    const answer = await attacker.send('POST', '/memos/image-memo', {
      raw: body,
      headers: { 'Content-Type': type },
      changed,
    })
    expect([201, 400, 415]).toContain(answer.status)
    if (answer.status !== 201) return
    expect(answer.body).toMatch(/^https:\/\/library\.test\/images\/[1-9]\d*\/[\w-]{22}\.png$/)
    const image = await send('GET', new URL(answer.body).pathname)
    expect(image.headers.get('Content-Type')).toBe('image/png')
    for (const mark of BAD_MARKS) expect(toText(image.body)).not.toContain(mark)
  })
})

describe('a login that fails', () => {
  it('is told alike, headers and all, whoever is asked for', async () => {
    const { email } = await signUp()
    const fail = async (who: string, network: string) => {
      const headers = { 'CF-Connecting-IP': network }
      const answer = await send('POST', '/login', { body: { email: who, password: 'wrong-password' }, headers })
      return [answer.status, [...answer.headers].filter(([name]) => name !== 'x-request-id'), answer.body]
    }
    expect(await fail(email, '192.0.2.77')).toEqual(await fail(newEmail(), '192.0.2.78'))
  })
})

describe('a withdrawal', () => {
  it('leaves no trace in any row, object or key', async () => {
    const traces = ['zanzibar@withdrawal.test', 'Wolkenkuckucksheim', 'Mnemosyne Hapax', 'PIXELS-OF-ATLANTIS']
    const [email = '', title = '', memoContent = '', pixels = ''] = traces
    const leaver = await signUp(email)
    const { bookId } = await leaver.registers({ title, author: title, publisher: title })
    await leaver.writes(bookId, { memoContent })
    await leaver.uploads(join(PNG_SIGNATURE, pngHeader(4, 1), chunk('IDAT', pixels), chunk('IEND')))
    const find = async () => {
      const places = await readStores({ database: env.DB, bucket: env.IMAGES, lists: env.CATALOGUE })
      return traces.filter((trace) => places.some(([, bytes]) => toText(bytes).includes(trace)))
    }
    expect(await find()).toEqual(traces)
    await leaver.delete('/members/me')
    await worker.scheduled(createScheduledController() as ScheduledController, env)
    await vi.waitFor(async () => expect(await find()).toEqual([]), 5_000)
  })
})
