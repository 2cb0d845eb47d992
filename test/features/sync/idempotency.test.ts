import { env } from 'cloudflare:workers'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { connect } from '../../../src/db/client'
import { hashText } from '../../../src/input/request-key'
import { deleteExpired } from '../../../src/sweep'
import { DAY_MS, HOUR_MS } from '../../../src/values/time'
import { type Answer, type Reader, readerWith, signUp } from '../../support/api'
import { changeDatabase, memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { PIXEL } from '../../support/inputs/file-form'
import { violation } from '../../support/inputs/invalid-values'
import { wrapDatabase } from '../../support/wrap-database'

let reader: Reader
let bookId: number
let key: string
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.createBook()).bookId
})
beforeEach(() => {
  key = crypto.randomUUID()
})

type Options = Parameters<Reader['send']>[2]
const withKey = (options: Options = {}, value = key) => ({
  ...options,
  headers: { ...options.headers, 'Idempotency-Key': value },
})
const sendTo =
  (toPath: () => string, body: object) =>
  (options: Options, changes: object = {}) =>
    reader.send('POST', toPath(), { body: { ...body, ...changes }, ...options })

const postBook = sendTo(() => '/books', { title: 'Demian' })
const CREATIONS = {
  'POST /books': {
    send: postBook,
    changes: { title: 'Siddhartha' },
    toPath: ({ body }: Answer) => `/books/${body.bookId}`,
    table: 'books',
  },
  'POST /memos': {
    send: sendTo(() => `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'A thought' }),
    changes: { memoContent: 'Another thought' },
    toPath: ({ body }: Answer) => `/memos/${body.memoId}`,
    table: 'memos',
  },
  'POST /books/{book-id}/readings': {
    send: sendTo(() => `/books/${bookId}/readings`, { finishedAt: '2020-01-02' }),
    changes: { note: 'Again' },
    toPath: ({ body }: Answer) => `/readings/${body.readingId}`,
    table: 'allReadings',
  },
  'POST /memos/image-memo': {
    send: (options: Options, changes?: object) => reader.upload(changes ? PIXEL.slice(0, -1) : PIXEL.slice(), options),
    changes: {},
    toPath: ({ body }: Answer) => new URL(body).pathname,
    table: 'images',
  },
}

const count = async (table: string) => {
  const memberId = await memberIdOf(reader)
  const [row] = await select(`select count(*) as count from ${table} where memberId = ?`, memberId)
  return Number(row?.count)
}
const keyCount = async (of = reader) => {
  const [row] = await select(
    `select keyCount, (select count(*) from idempotencyKeys where idempotencyKeys.memberId = members.memberId) as count
    from members where memberId = ?`,
    await memberIdOf(of),
  )
  expect(row?.keyCount).toBe(row?.count)
  return row?.keyCount
}
const isReplayed = ({ headers }: Answer) => headers.get('Idempotency-Replayed')

describe.each(Object.entries(CREATIONS))('%s with a key', (_, { send, changes, toPath, table }) => {
  it('creates one row, however often it is repeated', async () => {
    const before = await count(table)
    const first = await send(withKey())
    expect(first.status).toBe(201)
    expect(isReplayed(first)).toBeNull()
    for (const value of [key, `"${key}"`]) {
      const again = await send(withKey({}, value))
      expect(again).toMatchObject({ status: 201, body: first.body })
      expect(again.headers.get('Location')).toBe(first.headers.get('Location'))
      expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'))
      expect(isReplayed(again)).toBe('true')
    }
    expect(await count(table)).toBe(before + 1)
  })

  it('creates one row for concurrent requests', async () => {
    const before = await count(table)
    const answers = await Promise.all([1, 2, 3].map(() => send(withKey())))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers.filter((answer) => isReplayed(answer) === null).length).toBe(1)
    expect(await count(table)).toBe(before + 1)
  })

  it('is retried by the service if it is unknown whether it took effect', async () => {
    const before = await count(table)
    let calls = 0
    const lossy = wrapDatabase(memberDatabase(), async (call, queries) => {
      const results = await call()
      // Not the call that only confirms the caller.
      if (queries > 2 && calls++ === 0) throw new Error('Network connection lost')
      return results
    })
    expect((await send(withKey({ changed: changeDatabase(lossy) }))).status).toBe(201)
    expect(calls).toBe(2)
    expect(await count(table)).toBe(before + 1)
  })

  it('refuses the key with another request', async () => {
    await send(withKey())
    const before = await count(table)
    const other = await send(withKey(), changes)
    // A damaged image is refused first.
    expect([422, 415]).toContain(other.status)
    if (other.status === 422) expect(other.headers.get('X-Error-Code')).toBe('IDEMPOTENCY_KEY_REUSED')
    const elsewhere = await postBook(withKey({}, key), { title: 'Another' })
    expect(elsewhere.headers.get('X-Error-Code')).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await count(table)).toBe(before)
  })

  it('answers 410 once what it created is deleted', async () => {
    const first = await send(withKey())
    expect((await reader.delete(toPath(first))).status).toBe(204)
    const before = await count(table)
    const again = await send(withKey())
    expect(again).toMatchObject({ status: 410, body: { status: 410 } })
    expect(again.headers.get('X-Error-Code')).toBe('CREATED_AND_DELETED')
    expect(isReplayed(again)).toBeNull()
    expect(await count(table)).toBe(before)
  })

  it('is refused if the member has too many keys, unless it is repeated', async () => {
    const first = await send(withKey())
    const [before, changed] = [await count(table), { MAX_IDEMPOTENCY_KEYS: String(await keyCount()) }]
    const refused = await send(withKey({ changed }, crypto.randomUUID()))
    expect(refused.headers.get('X-Error-Code')).toBe('MAX_IDEMPOTENCY_KEYS')
    expect(await count(table)).toBe(before)
    expect(await send(withKey({ changed }))).toMatchObject({ status: 201, body: first.body })
    expect((await send({ changed })).status).toBe(201)
  })

  it('does not use up the key if it fails', async () => {
    const before = await keyCount()
    const changed = { MAX_BOOKS: '0', MAX_MEMOS_PER_BOOK: '0', MAX_MEMBER_TEXT_BYTES: '0', MAX_MEMBER_IMAGE_BYTES: '0' }
    const text = table === 'readings' ? { note: 'counts towards the quota' } : undefined
    expect((await send(withKey({ changed }), text)).status).toBe(409)
    expect(await keyCount()).toBe(before)
    const answer = await send(withKey(), text)
    expect([answer.status, isReplayed(answer)]).toEqual([201, null])
  })

  it('does not share keys between members', async () => {
    const first = await send(withKey())
    const stranger = await signUp()
    const book = await stranger.send('POST', '/books', withKey({ body: { title: 'Demian' } }))
    expect(book.status).toBe(201)
    expect(isReplayed(book)).toBeNull()
    expect(await keyCount(stranger)).toBe(1)
    expect((await send(withKey())).body).toEqual(first.body)
  })
})

it('shows the row as it is now', async () => {
  const { send, toPath } = CREATIONS['POST /memos']
  const first = await send(withKey())
  const edited = await reader.patch(toPath(first), { memoContent: 'edited' })
  const again = await send(withKey())
  expect(again).toMatchObject({ status: 201, body: edited.body })
  expect(again.headers.get('ETag')).toBe(edited.headers.get('ETag'))
  const book = await reader.createBook()
  const memo = () =>
    reader.send(
      'POST',
      `/memos?bookId=${book.bookId}`,
      withKey({ body: { memoBookPage: 1, memoContent: 'x' } }, `${key}2`),
    )
  expect((await memo()).status).toBe(201)
  await reader.delete(`/books/${book.bookId}`)
  expect((await memo()).status).toBe(410)
})

it.each([
  ['/books', '{"title":"데미안","author":"H. H."}', '{ "author": "H. H.", "title": "\\ub370\\ubbf8\\uc548" }'],
  ['/memos', '{"memoBookPage":1,"memoContent":"a/b"}', '{"memoContent":"a\\/b","memoBookPage":1.0}'],
])('recognizes a request to %s that was encoded again', async (path, first, again) => {
  const post = (raw: string) => {
    const headers = { 'Content-Type': 'application/json' }
    return reader.send('POST', path === '/memos' ? `${path}?bookId=${bookId}` : path, withKey({ raw, headers }))
  }
  const created = await post(first)
  expect(created.status).toBe(201)
  expect(await post(again)).toMatchObject({ status: 201, body: created.body })
})

it.each(['POST /books', 'POST /memos', 'POST /books/{book-id}/readings'] as const)(
  '%s with a key needs an access token that can read, since a replay shows later changes',
  async (operation) => {
    const { send } = CREATIONS[operation]
    const { body } = await reader.post('/tokens', { name: 'writes', scopes: ['library:write', 'memos:write'] })
    const headers = { Authorization: `Bearer ${body.token}` }
    expect((await send({ headers })).status).toBe(201)
    const refused = await send(withKey({ headers }))
    expect([refused.status, refused.headers.get('X-Error-Code')]).toEqual([403, 'INSUFFICIENT_SCOPE'])
    expect((await send(withKey())).status).toBe(201)
  },
)

it('leaves half of the keys to sessions: access tokens could use up all of them for 400 days', async () => {
  const owner = await signUp()
  const { body } = await owner.post('/tokens', { name: 'script', scopes: ['library:read', 'library:write'] })
  const script = readerWith(owner.email, body.token)
  const post = (who: Reader, value: string) =>
    who.send('POST', '/books', withKey({ body: { title: 'Demian' }, changed: { MAX_IDEMPOTENCY_KEYS: '5' } }, value))
  const statuses = []
  for (const value of ['1', '2', '3', '1']) statuses.push((await post(script, value)).status)
  expect(statuses).toEqual([201, 201, 409, 201])
  expect((await post(script, '3')).body.message).toBe('Limit reached: 2 idempotency keys per member')
  for (const value of ['3', '4', '5', '6']) statuses.push((await post(owner, value)).status)
  expect(statuses.slice(4)).toEqual([201, 201, 201, 409])
})

it('does not take another image for a deleted one', async () => {
  const { send, toPath } = CREATIONS['POST /memos/image-memo']
  await reader.delete(toPath(await send(withKey())))
  // It gets the identifier of the deleted one.
  await send(withKey({}, crypto.randomUUID()))
  expect((await send(withKey())).status).toBe(410)
})

describe('an upload', () => {
  const { send, toPath } = CREATIONS['POST /memos/image-memo']

  it('stores the object that an interrupted request left out', async () => {
    const first = await send(withKey())
    await env.IMAGES.delete(toPath(first).slice(1))
    expect((await send(withKey())).body).toBe(first.body)
    expect((await reader.get(toPath(first))).status).toBe(200)
  })

  it('stays if a repetition cannot reach the bucket', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const first = await send(withKey())
    // The repetition looks for the object before the first request has stored it.
    const IMAGES = {
      put: () => Promise.reject(new Error('unreachable')),
      head: async () => null,
    } as unknown as R2Bucket
    expect((await send(withKey({ changed: { IMAGES } }))).status).toBe(503)
    expect((await reader.get(toPath(first))).status).toBe(200)
    expect(
      (await reader.get('/images?page=1&size=10')).body.item.some(({ url }: { url: string }) => url === first.body),
    ).toBe(true)
  })

  it.each([
    ['first request', 201],
    ['repetition', 503],
  ])('stays if one of two requests stores it and the bucket then fails the %s', async (_, status) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const owner = await signUp()
    const gate = () => Promise.withResolvers<void>()
    const [begun, repeated, stored] = [gate(), gate(), gate()]
    const failing = {
      put: async () => {
        if (status === 201) {
          begun.resolve()
          await repeated.promise
        } else {
          repeated.resolve()
          await stored.promise
        }
        throw new Error('unreachable')
      },
      head: (name: string) => env.IMAGES.head(name),
      delete: (name: string) => env.IMAGES.delete(name),
    } as unknown as R2Bucket
    const slow = {
      put: async (...content: Parameters<R2Bucket['put']>) => {
        begun.resolve()
        await repeated.promise
        return env.IMAGES.put(...content).finally(stored.resolve)
      },
    } as unknown as R2Bucket
    const upload = (IMAGES: R2Bucket) => owner.upload(PIXEL.slice(), withKey({ changed: { IMAGES } }))
    const [one, other] = status === 201 ? [failing, env.IMAGES] : [slow, failing]
    const sent = upload(one)
    await begun.promise
    const again = await upload(other).finally(repeated.resolve)
    const first = await sent
    expect([first.status, again.status]).toEqual([201, status])
    expect((await owner.get(toPath(first))).status).toBe(200)
    expect((await owner.get('/images?page=1&size=10')).body.pageInfo.totalElements).toBe(1)
  })

  it('leaves neither row nor key if the bucket fails', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const [images, keys] = [await count('images'), await keyCount()]
    const fail = () => Promise.reject(new Error('unreachable'))
    const IMAGES = { put: fail, head: fail, delete: fail } as unknown as R2Bucket
    expect((await send(withKey({ changed: { IMAGES } }))).status).toBe(503)
    expect([await count('images'), await keyCount()]).toEqual([images, keys])
    const answer = await send(withKey())
    expect([answer.status, isReplayed(answer)]).toEqual([201, null])
  })
})

describe('a key', () => {
  it.each(['two words', 'a'.repeat(65), `"${'a'.repeat(65)}"`, '""', '"a', 'a"', '"a\\"b"', '"a";b=1'])(
    'is refused if it is %j',
    async (value) => {
      expect(await postBook(withKey({}, value))).toMatchObject(violation('Idempotency-Key', value))
    },
  )

  it.each(['a', 'a'.repeat(64), `"${'a'.repeat(64)}"`, "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"])(
    'may be %j',
    async (value) => {
      expect((await postBook(withKey({}, value))).status).toBe(201)
    },
  )

  it('is ignored by other operations', async () => {
    expect((await reader.send('PATCH', `/books/${bookId}`, withKey({ body: { star: 1 } }, 'two words'))).status).toBe(
      200,
    )
  })

  it('is kept for 400 days, then deleted by one of the sweeps of a week', { tags: ['slow'] }, async () => {
    const first = await postBook(withKey())
    const hash = await hashText(key)
    const now = Date.now()
    const exists = async () =>
      (await select('select 1 from idempotencyKeys where keyHash = unhex(?)', hash)).length === 1
    const sweepWeek = async () => {
      for (let hour = 0; hour < 168; hour++) {
        await deleteExpired(connect(memberDatabase(), { slot: memberSlot() }), now + hour * HOUR_MS)
      }
    }
    const setDay = (ago: number) =>
      select('update idempotencyKeys set day = ? where keyHash = unhex(?)', Math.floor(now / DAY_MS) - ago, hash)
    const before = await keyCount()
    // The sweeps of a week end seven days later.
    await setDay(393)
    await sweepWeek()
    expect(await exists()).toBe(true)
    expect((await postBook(withKey())).body).toEqual(first.body)
    await setDay(401)
    await sweepWeek()
    expect(await exists()).toBe(false)
    expect(await keyCount()).toBe(Number(before) - 1)
    expect((await postBook(withKey())).body.bookId).not.toBe(first.body.bookId)
  })
})

it('repeats an open reading, and one that has become a past one since', async () => {
  const { bookId } = await reader.createBook()
  const send = (value: string, body: object = {}) =>
    reader.send('POST', `/books/${bookId}/readings`, withKey({ body: { startedAt: '2024', ...body } }, value))
  const first = await send(key)
  expect(first).toMatchObject({ status: 201, body: { readingId: bookId, outcome: null } })
  expect((await send(key)).body).toEqual(first.body)
  await reader.patch(`/books/${bookId}`, { bookStatus: 'DONE', readEndDate: '2024-05-05T00:00:00' })
  const next = await send('next')
  expect(next.body.readingId).not.toBe(bookId)
  expect((await send('next')).body).toEqual(next.body)
  expect((await send(key)).body).toMatchObject({ readingId: bookId, finishedAt: '2024-05-05' })
  await reader.delete(`/readings/${next.body.readingId}`)
  expect(await send('next')).toMatchObject({ status: 410 })
  expect((await send(key)).body).toMatchObject({ readingId: bookId, finishedAt: '2024-05-05' })
})
