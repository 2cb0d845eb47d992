import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import worker from '../../src/index'
import { type Answer, type Reader, send, signUp } from '../support/api'
import { toText } from '../support/bytes'
import { measure, select } from '../support/database'
import { BAD_MARKS, hostileFiles } from '../support/hostile'
import { avif, EVERYTHING, gif, jpeg, png, webp } from '../support/pictures'

let reader: Reader
let memberId: number
beforeAll(async () => {
  reader = await signUp()
  memberId = Number((await select('select memberId from members where email = ?', reader.email))[0]?.memberId)
})

const PNG = png()
const keysOf = async (member: number) => {
  const { objects } = await env.IMAGES.list({ prefix: `images/${member}/` })
  return objects.map(({ key }) => key)
}
const pathOf = (url: string) => new URL(url).pathname
const load = (path: string, headers?: Record<string, string>, method = 'GET') => send(method, path, { headers })
const sweep = async () => {
  const context = createExecutionContext()
  await worker.scheduled(createScheduledController() as ScheduledController, env)
  await waitOnExecutionContext(context)
}

describe('POST /memos/image-memo', () => {
  it('answers the URL, by configuration, of an image that needs no token', async () => {
    const answer = await reader.uploads(PNG)
    expect(answer.status).toBe(201)
    expect(answer.body).toMatch(new RegExp(`^https://library\\.test/images/${memberId}/[\\w-]{22}\\.png$`))
    expect(answer.headers.get('Location')).toBe(answer.body)
    const image = await load(pathOf(answer.body))
    expect(image.status).toBe(200)
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'content-length': String(image.body.length),
      etag: expect.stringMatching(/^"[^"]+"$/),
    })
  })

  it('answers bare text when that is preferred', async () => {
    const asText = await reader.uploads(PNG, { headers: { Accept: 'text/plain' } })
    expect(asText.headers.get('Content-Type')).toContain('text/plain')
    expect(asText.body).toMatch(/^https:/)
    const axios = await reader.uploads(PNG, { headers: { Accept: 'application/json, text/plain, */*' } })
    expect(axios.headers.get('Content-Type')).toContain('application/json')
  })

  it('is built on IMAGE_BASE_URL where images have a domain of their own, and never on a header', async () => {
    const changed = { IMAGE_BASE_URL: 'https://images.example/' }
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
    expect((await reader.uploads(PNG, { changed, headers })).body).toMatch(/^https:\/\/images\.example\/images\/\d+\//)
  })

  it('fails closed without a public address, away from one’s own machine', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const before = await keysOf(memberId)
    expect((await reader.uploads(PNG, { changed: { PUBLIC_URL: undefined } })).status).toBe(500)
    expect(error.mock.calls.join()).toContain('PUBLIC_URL is missing')
    expect(await keysOf(memberId)).toEqual(before)
    error.mockRestore()
  })

  it.each([
    ['png', png(EVERYTHING), 'image/png'],
    ['jpg', jpeg(EVERYTHING), 'image/jpeg'],
    ['gif', gif(EVERYTHING), 'image/gif'],
    ['webp', webp(EVERYTHING), 'image/webp'],
    ['avif', avif(EVERYTHING), 'image/avif'],
  ])(
    'tells %s by its content, whatever it is called, and serves it without what it told of places',
    async (extension, bytes, type) => {
      expect(toText(bytes)).toContain('GPSMARK')
      const answer = await reader.uploads(bytes, { type: 'text/html', name: '../../evil.html' })
      expect(answer.body.endsWith(`.${extension}`)).toBe(true)
      const image = await load(pathOf(answer.body))
      expect(image.headers.get('Content-Type')).toBe(type)
      expect(toText(image.body)).not.toContain('GPSMARK')
    },
  )

  // Without a limit in the way.
  const MEMBER_LIMIT = { limit: async () => ({ success: true }) } as RateLimit
  const hostile = hostileFiles()

  it.each(hostile.filter(({ isPicture }) => !isPicture))('$name is refused', async ({ bytes }) => {
    const answer = await reader.uploads(bytes, { changed: { MEMBER_LIMIT } })
    expect(answer).toMatchObject({ status: 415, body: { status: 415, fieldErrors: null } })
  })

  it.each(hostile.filter(({ isPicture }) => isPicture))(
    '$name is served with nothing in it that runs',
    async ({ bytes }) => {
      const answer = await reader.uploads(bytes, { changed: { MEMBER_LIMIT } })
      const image = await load(pathOf(answer.body))
      expect(image.headers.get('Content-Type')).toMatch(/^image\/(png|jpeg|gif|webp|avif)$/)
      for (const mark of BAD_MARKS) expect(toText(image.body)).not.toContain(mark)
    },
  )

  it('refuses what has no file in it', async () => {
    const form = (fill: (form: FormData) => void) => {
      const raw = new FormData()
      fill(raw)
      return reader.send('POST', '/memos/image-memo', { raw })
    }
    const noFile = { status: 400, body: { status: 0, fieldErrors: [{ field: 'file' }] } }
    expect(await form((each) => each.append('image', new Blob([PNG]), 'a.png'))).toMatchObject(noFile)
    expect(await form((each) => each.append('file', 'text'))).toMatchObject(noFile)
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
    expect(await reader.send('POST', '/memos/image-memo', { raw: 'nonsense', headers })).toMatchObject(noFile)
    expect(await form((each) => each.append('file', new Blob([]), 'a.png'))).toMatchObject({ status: 415 })
    expect(await reader.send('POST', '/memos/image-memo', { raw: '', headers })).toMatchObject({
      status: 400,
      body: { message: 'Required request body is missing' },
    })
    expect(await reader.post('/memos/image-memo', {})).toMatchObject({ status: 415 })
  })

  it('takes 10 MiB and not a byte more, cut off while reading', async () => {
    const padded = (size: number) => {
      const bytes = new Uint8Array(size)
      bytes.set(PNG)
      return bytes
    }
    const MiB = 1_048_576
    expect((await reader.uploads(padded(10 * MiB))).status).toBe(201)
    expect(await reader.uploads(padded(10 * MiB + 1))).toMatchObject({ status: 413, body: { status: 413 } })
    let sent = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    })
    const headers = { 'Content-Type': 'multipart/form-data; boundary=x' }
    expect((await reader.send('POST', '/memos/image-memo', { raw: endless, headers })).status).toBe(413)
    expect(sent).toBeLessThan(12 * MiB)
  })

  it('stores nothing when the bucket fails', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const IMAGES = { put: () => Promise.reject(new Error('internal error (10001)')) } as unknown as R2Bucket
    const before = await keysOf(memberId)
    expect(await reader.uploads(PNG, { changed: { IMAGES } })).toMatchObject({ status: 503, body: { status: 503 } })
    expect(await keysOf(memberId)).toEqual(before)
    expect(error.mock.calls.join()).toContain('10001')
    error.mockRestore()
  })

  it('makes one call to the database, and lets nobody in whose token is dead', async () => {
    expect((await measure(() => reader.uploads(PNG))).calls).toBe(1)
    const gone = await signUp()
    const [member] = await select('select memberId from members where email = ?', gone.email)
    await gone.delete('/members/me')
    expect((await gone.uploads(PNG)).status).toBe(401)
    expect(await keysOf(Number(member?.memberId))).toEqual([])
    expect((await send('POST', '/memos/image-memo')).status).toBe(401)
    expect((await send('GET', '/memos/image-memo')).status).toBe(405)
  })

  it('takes thirty uploads a minute of a member', async () => {
    const eager = await signUp()
    let answered = 0
    let refused: Answer | undefined
    // A minute may end meanwhile, and the count begins anew.
    while (answered < 65 && !refused) {
      const answer = await eager.uploads('not a picture')
      if (answer.status === 415) answered++
      else refused = answer
    }
    expect(refused).toMatchObject({ status: 429, body: { status: 429 } })
    expect(refused?.headers.get('Retry-After')).toBe('60')
    expect(answered).toBeGreaterThanOrEqual(30)
  })
})

describe('GET /images/…', () => {
  let path: string
  let etag: string
  let bytes: Uint8Array
  beforeAll(async () => {
    path = pathOf((await (await signUp()).uploads(jpeg())).body)
    const image = await load(path)
    etag = image.headers.get('ETag') ?? ''
    bytes = image.body
  })

  it('answers what is known already with 304', async () => {
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await load(path, { 'If-None-Match': known })
      expect(answer, known).toMatchObject({ status: 304, body: null })
      expect(answer.headers.get('ETag')).toBe(etag)
    }
    expect((await load(path, { 'If-None-Match': '"other"' })).status).toBe(200)
    expect(await load(path, { 'If-Match': '"other"' })).toMatchObject({ status: 412, body: { status: 412 } })
    expect((await load(path, { 'If-Match': etag })).status).toBe(200)
    expect((await load(path, { 'If-None-Match': 'no etag at all' })).status).toBe(200)
    expect((await load(path, { 'If-None-Match': etag }, 'HEAD')).status).toBe(304)
    expect((await load(path, { 'If-Unmodified-Since': new Date(0).toUTCString() })).status).toBe(412)
    expect((await load(path, { 'If-Modified-Since': 'no date at all' })).status).toBe(200)
    const later = new Date(Date.now() + 60_000).toUTCString()
    expect((await load(path, { 'If-Modified-Since': later })).status).toBe(304)
  })

  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=5-', 5, undefined],
    ['bytes=-7', -7, undefined],
    ['bytes=10-999999', 10, undefined],
  ])('answers the range %s', async (range, first, end) => {
    const part = bytes.slice(first, end)
    const answer = await load(path, { Range: range })
    expect(answer.status).toBe(206)
    expect(answer.body).toEqual(part)
    const start = first < 0 ? bytes.length + first : first
    expect(answer.headers.get('Content-Range')).toBe(`bytes ${start}-${start + part.length - 1}/${bytes.length}`)
    expect(answer.headers.get('Content-Length')).toBe(String(part.length))
  })

  it('answers a range that is outside with 416, and one that makes no sense with the whole', async () => {
    const outside = await load(path, { Range: 'bytes=999999-' })
    expect(outside).toMatchObject({ status: 416, body: { status: 416, fieldErrors: null } })
    expect(outside.headers.get('Cache-Control')).toBe('no-store')
    expect((await load(path, { Range: 'bytes=0-3', 'If-Range': '"other"' })).body).toEqual(bytes)
    expect((await load(path, { Range: 'bytes=0-3', 'If-Range': etag })).status).toBe(206)
    expect((await load(path, { Range: 'bytes=-0' })).status).toBe(416)
    expect(outside.headers.get('Content-Range')).toBe(`bytes */${bytes.length}`)
    for (const odd of ['pages=1-2', 'bytes=x-y', 'bytes=9-1']) {
      expect((await load(path, { Range: odd })).body, odd).toEqual(bytes)
    }
  })

  it('answers HEAD with the headers alone', async () => {
    const answer = await load(path, {}, 'HEAD')
    expect(answer).toMatchObject({ status: 200, body: null })
    expect(answer.headers.get('ETag')).toBe(etag)
    expect(answer.headers.get('Content-Type')).toBe('image/jpeg')
  })

  it('may be read by pages of any origin', async () => {
    const answer = await load(path, { Origin: 'https://app.example' })
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://app.example')
  })

  it.each([
    '/images/1/AAAAAAAAAAAAAAAAAAAAAA.png',
    '/images/0/AAAAAAAAAAAAAAAAAAAAAA.png',
    '/images/1/..%2F..%2Fsecret.png',
    '/images/1/x.svg',
    '/images/1/',
    '/images/1',
    '/images/a/b/c',
  ])('%s is not there', async (absent) => {
    expect(await load(absent)).toMatchObject({ status: 404, body: { status: 404 } })
  })
})

describe('a withdrawal', () => {
  const withdrawn = async (images: number) => {
    const leaver = await signUp()
    const member = Number((await select('select memberId from members where email = ?', leaver.email))[0]?.memberId)
    const url: string = (await leaver.uploads(PNG)).body
    for (let n = 1; n < images; n++) await env.IMAGES.put(`images/${member}/${n}`, 'x')
    return { leaver, member, url }
  }

  it('removes every image, once it is answered', async () => {
    const { leaver, member, url } = await withdrawn(3)
    for (const query of ['', '?x=1']) expect((await load(pathOf(url) + query)).status).toBe(200)
    expect((await leaver.delete('/members/me')).status).toBe(204)
    await vi.waitFor(async () => expect(await keysOf(member)).toEqual([]), 5000)
    for (const query of ['', '?x=1', '?x=2']) {
      await vi.waitFor(async () => expect((await load(pathOf(url) + query)).status, query).toBe(404), 5000)
    }
  })

  it('removes more than a thousand, and nobody else’s', async () => {
    const { leaver, member } = await withdrawn(1100)
    const neighbour = `images/${member}1/${'A'.repeat(22)}.png`
    await env.IMAGES.put(neighbour, 'x')
    await leaver.delete('/members/me')
    await vi.waitFor(async () => expect(await keysOf(member)).toEqual([]), 10_000)
    expect(await env.IMAGES.head(neighbour)).not.toBeNull()
  })

  it('leaves to the sweep what failed, and what an upload under way put there afterwards', async () => {
    const { leaver, member } = await withdrawn(2)
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const IMAGES = { list: () => Promise.reject(new Error('bucket is down')) } as unknown as R2Bucket
    expect((await leaver.send('DELETE', '/members/me', { changed: { IMAGES } })).status).toBe(204)
    expect(await keysOf(member)).toHaveLength(2)
    error.mockRestore()
    await sweep()
    expect(await keysOf(member)).toEqual([])

    await env.IMAGES.put(`images/${member}/late`, 'x')
    await sweep()
    expect(await keysOf(member)).toEqual([])
    const job = () => select('select * from purgeJobs where memberId = ?', member)
    expect(await job()).toHaveLength(1)
    await env.DB.prepare('update purgeJobs set createdAt = createdAt - 3600001').run()
    await sweep()
    expect(await job()).toEqual([])
  })

  it('is not held up by another whose images cannot be deleted', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const [stuck, free] = [await withdrawn(1), await withdrawn(1)]
    const down = { list: () => Promise.reject(new Error('bucket is down')) } as unknown as R2Bucket
    for (const { leaver } of [stuck, free]) await leaver.send('DELETE', '/members/me', { changed: { IMAGES: down } })
    const IMAGES = {
      list: (options: R2ListOptions) => {
        if (options.prefix === `images/${stuck.member}/`) return Promise.reject(new Error('bucket is down'))
        return env.IMAGES.list(options)
      },
      delete: (keys: string[]) => env.IMAGES.delete(keys),
    } as unknown as R2Bucket
    await worker.scheduled(createScheduledController() as ScheduledController, { ...env, IMAGES })
    expect(await keysOf(stuck.member)).toHaveLength(1)
    expect(await keysOf(free.member)).toEqual([])
    error.mockRestore()
  })

  it('that races an upload leaves nothing behind after the sweep', async () => {
    for (let round = 0; round < 5; round++) {
      const { leaver, member } = await withdrawn(1)
      const race = await Promise.all([leaver.uploads(PNG), leaver.delete('/members/me'), leaver.uploads(PNG)])
      expect(race.map(({ status }) => status).every((status) => [201, 204, 401].includes(status))).toBe(true)
      await sweep()
      expect(await keysOf(member)).toEqual([])
    }
  })
})

describe('the sweep', () => {
  it('deletes codes and attempts that are over, and keeps the others', async () => {
    const now = Date.now()
    const day = 86_400_000
    await env.DB.batch([
      env.DB.prepare('insert into joinCodes values (?, ?, ?, ?)').bind('old', 'x', now - 700_000, now - 1),
      env.DB.prepare('insert into joinCodes values (?, ?, ?, ?)').bind('live', 'x', now, now + 60_000),
      env.DB.prepare('insert into attempts (subject, at) values (?, ?)').bind('old', now - day - 1000),
      env.DB.prepare('insert into attempts (subject, at) values (?, ?)').bind('live', now - day + 60_000),
    ])
    await sweep()
    expect(await select(`select subject from joinCodes where subject in ('old', 'live')`)).toEqual([
      { subject: 'live' },
    ])
    expect(await select(`select subject from attempts where subject in ('old', 'live')`)).toEqual([{ subject: 'live' }])
  })

  it('does the rest when one part fails', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    await env.DB.prepare('insert into joinCodes values (?, ?, ?, ?)').bind('stale', 'x', 0, 1).run()
    await env.DB.prepare('insert into purgeJobs values (?, ?)').bind(987_654, Date.now()).run()
    const IMAGES = { list: () => Promise.reject(new Error('bucket is down')) } as unknown as R2Bucket
    await worker.scheduled(createScheduledController() as ScheduledController, { ...env, IMAGES })
    expect(error.mock.calls.join()).toContain('bucket is down')
    expect(await select(`select subject from joinCodes where subject = 'stale'`)).toEqual([])
    error.mockRestore()
  })
})

it('has a scheduled handler that the runtime finds', () => {
  expect(exports.default).toHaveProperty('scheduled')
})
