// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import { DEVICE_FILES } from '../../../src/db/limits/attempts'
import type { Bindings } from '../../../src/env'
import { BASE, handle, type Reader, signUp } from '../../support/api'
import { measure, select } from '../../support/database'
import { addDevice } from '../../support/devices/device'
import { RECORDED } from '../../support/devices/recorded'
import { memberIdOf } from '../../support/images/images'
import { booksOf, importFile, readingWith } from '../../support/transfer/imports'

const API = '/readwise/api/v2'

type Sent = { method?: string; headers?: Record<string, string>; body?: unknown; changed?: Partial<Bindings> }
/** Sends a request to Readwise's API. A body that is no text is sent as JSON. */
const send = async (token: string, path: string, { method = 'GET', headers, body, changed }: Sent = {}) => {
  const request = new Request(BASE + path, {
    method,
    headers: { Authorization: `Token ${token}`, ...headers },
    body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
  })
  const response = await handle(request, changed)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}

/** A member with a device. */
const createDevice = async (reader?: Reader) => {
  const member = reader ?? (await signUp())
  const { token } = await addDevice(member, { scopes: ['intake:write'] })
  const post = (highlights: unknown, path = '/highlights/', changed?: Partial<Bindings>) =>
    send(token, API + path, { method: 'POST', body: { highlights }, ...(changed && { changed }) })
  return { member, token, post }
}

const reports = async (member: Reader) => (await member.get('/imports?from=devices')).body
const lossesOf = async (member: Reader) => {
  const [{ importId }] = await reports(member)
  const { body } = await member.get(`/imports/${importId}/rows?page=1&size=100`)
  return body.item.map(({ outcome, code, losses }: Record<string, unknown>) => ({ outcome, code, losses }))
}
const textsOf = async (member: Reader) => {
  const books: { bookId: number }[] = await booksOf(member)
  const memos = await Promise.all(
    books.map(async ({ bookId }) => (await member.get(`/books/${bookId}?memoAuthority=ALL`)).body.memosList),
  )
  return memos
    .flat()
    .map(({ memoContent }) => memoContent)
    .sort()
}

const item = (changes: object = {}) => ({
  ...{ text: 'Salt.', title: 'Low Tide', author: 'Ana Ruiz', category: 'books', source_type: 'readest' },
  ...{ highlighted_at: '2026-03-14T10:15:30Z', highlight_url: 'https://web.readest.com/o/book/1/annotation/n1?cfi=1' },
  ...changes,
})

const recorded = RECORDED.filter(({ url }) => url.startsWith('/readwise'))

describe('the recorded requests of Readest and KOReader', () => {
  it('are answered as the apps accept, and sending them again changes nothing', async () => {
    const { member, token } = await createDevice()
    expect(recorded.length).toBeGreaterThan(7)
    for (const { method, url, headers, body, acceptedAnswer } of recorded) {
      const used = acceptedAnswer.status === 401 ? `${token.slice(0, -4)}0000` : token
      const sent = Object.fromEntries(headers.map(([name, value]) => [name, value.replace('TOKEN', used)]))
      const answer = await send(used, url, { method, headers: sent, ...(body && { body }) })
      expect(answer.status).toBe(acceptedAnswer.status)
      if (answer.status === 401) expect(answer.body).toEqual({ detail: 'Invalid token.' })
    }
    expect(await booksOf(member)).toMatchObject([{ author: '한강', memoCount: 5 }])
    expect(await reports(member)).toHaveLength(2)
  })
})

describe('sending highlights', () => {
  it('adds their books and memos, and answers with the books', async () => {
    const { member, post } = await createDevice()
    const second = item({ title: 'Demian', text: 'Bird.', note: 'Egg.', location: 12, location_type: 'page' })
    const answer = await post([item(), second])
    const [one, other] = await booksOf(member)
    expect(answer).toMatchObject({
      status: 200,
      body: [
        { id: one.bookId, title: 'Low Tide', author: 'Ana Ruiz', category: 'books', num_highlights: 1 },
        { id: other.bookId, title: 'Demian', num_highlights: 1 },
      ],
    })
    expect(await textsOf(member)).toEqual(['Bird.\n\nEgg.', 'Salt.'])
    expect(await reports(member)).toMatchObject([{ format: 'readwise-api', status: 'DONE', fileName: 'highlights' }])
  })

  it.each(['/highlights', '/', ''])('works at %j', async (path) => {
    const { post, member } = await createDevice()
    // As Moon+ Reader sends it.
    const moon = { title: 'Low Tide', author: 'Ana Ruiz', chapter: 'One', text: 'Salt.', note: '' }
    expect((await post([moon], path)).status).toBe(200)
    expect(await textsOf(member)).toEqual(['Salt.'])
  })

  it.each([
    ['a list without highlights', { highlights: [] }],
    ['no highlights', {}],
    ['an empty list', []],
  ])('with %s tests the connection', async (_, body) => {
    const { member, token } = await createDevice()
    expect(await send(token, `${API}/highlights`, { method: 'POST', body })).toMatchObject({ status: 200, body: [] })
    expect(await reports(member)).toEqual([])
  })

  it('again costs one lookup', async () => {
    const { member, post } = await createDevice()
    await post([item()])
    const again = await measure(async () => expect(await post([item()])).toMatchObject({ status: 200, body: [] }))
    expect(again).toMatchObject({ calls: 1, written: 0 })
    expect(await reports(member)).toHaveLength(1)
  })

  it('with a changed note changes the memo, and with an edited range, too', async () => {
    const { member, post } = await createDevice()
    await post([item(), item({ text: 'Tide.', highlight_url: 'https://example.com/2' })])
    await post([item({ note: 'Why?' }), item({ text: 'Tide.', highlight_url: 'https://example.com/2' })])
    expect(await textsOf(member)).toEqual(['Salt.\n\nWhy?', 'Tide.'])
    await post([
      item({ text: 'Salt and tide.', highlight_url: 'https://web.readest.com/o/book/1/annotation/n1?cfi=2' }),
    ])
    expect(await textsOf(member)).toEqual(['Salt and tide.', 'Tide.'])
  })

  it('as they were before an edit brings the earlier text back', async () => {
    const { member, post } = await createDevice()
    const versions = [[item()], [item({ note: 'Why?' })], [item()]]
    for (const highlights of versions) await post(highlights)
    expect(await textsOf(member)).toEqual(['Salt.'])
  })

  it('keeps a memo that the member has edited, and reports it', async () => {
    const { member, post } = await createDevice()
    await post([item()])
    const [{ bookId }] = await booksOf(member)
    const [{ memoId }] = (await member.get(`/books/${bookId}?memoAuthority=ALL`)).body.memosList
    await member.patch(`/memos/${memoId}`, { memoContent: 'Mine.' })
    await post([item({ note: 'Why?' })])
    expect(await textsOf(member)).toEqual(['Mine.'])
    expect(await lossesOf(member)).toMatchObject([{ losses: [{ code: 'text-kept', field: 'highlights' }] }])
  })

  it('does not add a highlight that KOReader’s JSON had', { tags: ['slow'] }, async () => {
    const { member, post } = await createDevice()
    const entry = { text: 'Salt.', note: 'Why?', page: 3, time: 1_760_000_000, drawer: 'lighten', sort: 'highlight' }
    await importFile(member, JSON.stringify({ title: 'Low Tide', author: 'Ana Ruiz', created_on: 1, entries: [entry] }))
    const sent = item({ source_type: 'koreader', note: 'Why?', highlighted_at: '2025-10-09T08:53:20Z', location: 3 })
    await post([sent])
    expect(await textsOf(member)).toEqual(['Salt.\n\nWhy?'])
    await post([{ ...sent, note: 'Because.', location: 5 }])
    expect(await textsOf(member)).toEqual(['Salt.\n\nBecause.'])
  })

  it('reports what belongs to no book, and keeps the rest', async () => {
    const { member, post } = await createDevice()
    expect((await post([item({ category: 'tweets' }), item({ title: '' }), 7, item()])).status).toBe(200)
    expect(await lossesOf(member)).toMatchObject([
      { outcome: 'failed', code: 'not-supported', losses: [{ field: 'category' }] },
      { outcome: 'failed', code: 'no-title' },
      { outcome: 'created' },
      { outcome: 'failed', code: 'bad-row' },
    ])
  })

  it.each([
    ['another type instead of the list', { highlights: 7 }],
    ['a list of others', { highlights: [[[]], null] }],
    ['a list instead of the object', [item()]],
    ['no JSON', '{"highlights": ['],
    ['nothing', ''],
    ['deep JSON', `{"highlights": ${'['.repeat(5000)}`],
    ['deep JSON that is large', `{"highlights": ${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
  ])('refuses %s', async (_, body) => {
    const { member, token } = await createDevice()
    const answer = await send(token, `${API}/highlights/`, { method: 'POST', body })
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.any(String) } })
    expect(Object.keys(answer.body)).toEqual(['detail'])
    expect(await reports(member)).toEqual([])
  })

  it('refuses more than 10 MiB', { tags: ['slow'] }, async () => {
    const { post } = await createDevice()
    const answer = await post([item({ text: 'a'.repeat(10 * 1024 * 1024) })])
    expect(answer).toMatchObject({ status: 413, body: { detail: 'File too large: at most 10 MiB' } })
  })
})

describe('highlights of a member', () => {
  it('that arrive at once are all added', async () => {
    const [one, other] = [await createDevice(), await createDevice()]
    const second = await createDevice(one.member)
    const texts = ['A', 'B', 'C', 'D']
    const answers = await Promise.all(
      texts.map((text, at) =>
        [one, second, other][at % 3]?.post([item({ text, highlight_url: `https://a.example/${text}` })]),
      ),
    )
    expect(answers.map((answer) => answer?.status)).toEqual([200, 200, 200, 200])
    expect(await textsOf(one.member)).toEqual(['A', 'B', 'D'])
    expect(await booksOf(one.member)).toHaveLength(1)
  })

  it('cost what their import costs, and a call for the response', async () => {
    const [{ post }, other] = [await createDevice(), await signUp()]
    // The first request of each credential also confirms it.
    await post([item()])
    await importFile(other, JSON.stringify({ highlights: [item()] }))
    const added = [item(), item({ text: 'Tide.', highlight_url: 'https://a.example/2' })]
    const raw = JSON.stringify({ highlights: added })
    const sent = await measure(() => post(added, '/highlights/', {}))
    const own = await measure(() => other.send('POST', '/imports', { raw, changed: {} }))
    expect(sent).toMatchObject({ calls: own.calls + 1, written: own.written })
    expect(sent.read - own.read).toBeLessThan(25)
  })

  it('that met a failure can be sent again', async () => {
    const { member, post } = await createDevice()
    const failed = await post(
      [item()],
      '/highlights/',
      readingWith(() => Promise.reject(new Error('down'))),
    )
    expect(failed).toMatchObject({ status: 503, body: { detail: 'Service unavailable: try again later' } })
    expect(failed.headers.get('Retry-After')).toBe('5')
    expect((await post([item()])).status).toBe(200)
    expect(await textsOf(member)).toEqual(['Salt.'])
  })

  it('are limited to a number of posts a day of each device', async () => {
    const { member, post } = await createDevice()
    const [limit] = DEVICE_FILES.readwise
    Object.assign(limit as object, { max: 2 })
    try {
      for (const text of ['A', 'B']) await post([item({ text })])
      const refused = await post([item({ text: 'C' })])
      expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringMatching(/^Too many requests/) } })
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(86_000)
      expect((await post([item({ text: 'B' })])).status).toBe(200)
      const other = await createDevice(member)
      expect((await other.post([item({ text: 'D' })])).status).toBe(200)
    } finally {
      Object.assign(limit as object, { max: 2000 })
    }
    expect(await textsOf(member)).toEqual(['D'])
  })
})

describe('many highlights', () => {
  /** Sends the highlights of up to twenty books in batches, as often as is said. */
  const sendAll = async ({ post }: Awaited<ReturnType<typeof createDevice>>, total: number, size: number) => {
    const all = Array.from({ length: total }, (_, at) =>
      item({ text: `Text ${at}`, title: `Book ${at % 20}`, highlight_url: `https://example.com/${at}` }),
    )
    for (let at = 0; at < total; at += size) expect((await post(all.slice(at, at + size))).status).toBe(200)
    return all
  }
  const countOf = async ({ member }: { member: Reader }) => {
    const memberId = await memberIdOf(member)
    return (
      await select('select count(*) as memos, count(distinct bookId) as books from memos where memberId = ?', memberId)
    )[0]
  }

  it.each([[200, 50]])('%i in batches of %i, sent twice, are added once', async (total, size) => {
    const device = await createDevice()
    await sendAll(device, total, size)
    const again = await measure(() => sendAll(device, total, size))
    expect(again).toMatchObject({ calls: total / size, written: 0 })
    expect(await countOf(device)).toEqual({ memos: total, books: 20 })
  })

  it('of which one is new add this one', { tags: ['slow'] }, async () => {
    const device = await createDevice()
    const all = await sendAll(device, 500, 500)
    const { body } = await device.post([
      ...all.slice(1),
      item({ text: 'New.', title: 'Book 7', highlight_url: 'https://a.example' }),
    ])
    expect(body).toHaveLength(20)
    expect(await countOf(device)).toEqual({ memos: 501, books: 20 })
    expect((await reports(device.member))[0].counts).toMatchObject({ updated: 1, unchanged: 19 })
  })

  it('20,000 in batches of 500, sent twice, are added once', { tags: ['slow'], timeout: 300_000 }, async () => {
    const device = await createDevice()
    await sendAll(device, 20_000, 500)
    const again = await measure(() => sendAll(device, 20_000, 500))
    expect(again).toMatchObject({ calls: 40, written: 0 })
    expect(await countOf(device)).toEqual({ memos: 20_000, books: 20 })
  })
})

describe('a request', () => {
  it('may have a token as Bearer or as the password of HTTP Basic', async () => {
    const { token } = await createDevice()
    for (const credentials of [`Bearer ${token}`, `Token ${token}`, `Basic ${btoa(`me:${token}`)}`]) {
      const answer = await send(token, `${API}/auth`, { headers: { Authorization: credentials } })
      expect(answer).toMatchObject({ status: 204, body: '' })
    }
  })

  it('is refused with a session, a token of another scope, or a deleted one', async () => {
    const { member, token } = await createDevice()
    const { body: reading } = await member.post('/tokens', { name: 'KOReader', scopes: ['intake:read'] })
    const session = member.token.replace('Bearer ', '')
    expect(await send(token, `${API}/auth`, { headers: { Authorization: `Bearer ${session}` } })).toMatchObject({
      status: 403,
    })
    for (const path of ['auth', 'highlights']) {
      const method = path === 'auth' ? 'GET' : 'POST'
      expect(
        await send(reading.token, `${API}/${path}`, {
          method,
          ...(method === 'POST' && { body: { highlights: [item()] } }),
        }),
      ).toMatchObject({ status: 403 })
    }
    const { body: tokens } = await member.get('/tokens')
    for (const { tokenId } of tokens) await member.delete(`/tokens/${tokenId}`)
    expect(await send(token, `${API}/auth/`)).toMatchObject({ status: 401, body: { detail: 'Invalid token.' } })
  })

  it('is told what is here', async () => {
    const { token } = await createDevice()
    for (const path of ['/books/', '/highlights/']) {
      const answer = await send(token, API + path)
      expect(answer).toMatchObject({ status: 404, body: { detail: expect.stringMatching(/POST .+highlights/) } })
    }
  })

  it('may come from a page of another origin', async () => {
    const { token } = await createDevice()
    const preflight = await send(token, `${API}/highlights/`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://web.readest.com', 'Access-Control-Request-Headers': 'authorization,content-type' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toMatch(/Authorization,Content-Type/)
    const refused = await send('rld', `${API}/auth/`, { headers: { Origin: 'https://web.readest.com' } })
    expect(refused.headers.get('Access-Control-Allow-Origin')).toBe('https://web.readest.com')
  })
})
