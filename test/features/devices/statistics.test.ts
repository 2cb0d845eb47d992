import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { findOrphans } from '../../../scripts/data/objects'
import { BASE, handle, type Reader, signUp } from '../../support/api'
import { measure, memberDatabase, select } from '../../support/database'
import { addRawDevice } from '../../support/devices/raw-device'
import { RECORDED } from '../../support/devices/recorded'
import { createTags } from '../../support/devices/recorded-tags'
import { md5Of, type ReadBook, statisticsFile } from '../../support/devices/statistics-file'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'

type Device = Awaited<ReturnType<typeof addRawDevice>>

let reader: Reader
let memberId: number
let device: Device
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  device = await addRawDevice(reader)
})

const FILE = '/dav/statistics.sqlite3'
const DEMIAN = { title: 'Demian', authors: 'Hermann Hesse' }
const ROW = { start: '2026-03-01T10:00:00Z', seconds: 90 }
const LATER = { start: '2026-03-02T10:00:00Z', seconds: 600 }

const put = (body: BodyInit, headers: Record<string, string> = {}, by = device, changed?: object) =>
  by.send('PUT', FILE, { body, headers }, changed)
const upload = async (...books: ReadBook[]) => {
  const answer = await put(statisticsFile(...books))
  expect(answer).toMatchObject({ status: 204, body: '' })
  return answer.headers.get('ETag') ?? ''
}
/** Counted time by document and day. */
const counted = async (of = memberId) =>
  (
    await select(
      'select document, day, sum(seconds) as seconds from sittings where memberId = ? group by 1, 2 order by 1, 2',
      of,
    )
  ).map(({ document, day, seconds }) => [Number.parseInt(String(document), 16), day, seconds])
const stored = async () =>
  (await select('select * from statisticsFiles where memberId = ?', memberId))[0] as Record<string, unknown> | undefined
const listed = async () => (await reader.get('/documents')).body.item
const objects = async () => (await env.IMAGES.list({ prefix: `statistics/${memberId}/` })).objects.map(({ key }) => key)
const expectIntact = async () => {
  expect(await findMismatches(memberDatabase())).toEqual([])
  const row = await stored()
  const named = [row?.file, row?.missing].filter(Boolean).map((name) => `statistics/${memberId}/${name}`)
  await eventually(async () => expect(await objects()).toEqual(named.toSorted()))
}

describe('the requests of KOReader', () => {
  it('get the recorded answers', async () => {
    const requests = RECORDED.filter(({ url }) => url === FILE)
    const { answered, replaceIn } = createTags()
    const answers = []
    for (const request of requests) {
      const answer = await device.repeat(replaceIn(request))
      answers.push(answer.status)
      answered(answer.headers.get('ETag'))
    }
    expect(answers).toEqual(requests.map(({ acceptedAnswer }) => acceptedAnswer.status))
    expect((await counted()).length).toBeGreaterThan(0)
    await expectIntact()
  })
})

describe('the file', () => {
  it('is missing until a device uploads one', async () => {
    for (const method of ['GET', 'HEAD']) expect((await device.send(method, FILE)).status).toBe(404)
    expect((await put('x', { 'If-Match': '*' })).status).toBe(412)
    expect(await device.send('GET', FILE)).toMatchObject({ body: 'No device has uploaded reading statistics\n' })
  })

  it('is returned as it was sent, to all devices, in any folder', async () => {
    const file = statisticsFile({ ...DEMIAN, rows: [ROW] })
    const etag = (await put(file)).headers.get('ETag') ?? ''
    expect(etag).toMatch(/^"[0-9a-f]{64}"$/)
    const other = await addRawDevice(reader, { name: 'Phone' })
    const request = new Request(`${BASE}/dav/KOReader/statistics.sqlite3`, {
      headers: { Authorization: other.basic },
    })
    const answer = await handle(request)
    expect([answer.status, answer.headers.get('ETag'), answer.headers.get('Content-Type')]).toEqual([
      ...[200, etag],
      'application/vnd.sqlite3',
    ])
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(file)
    const head = await device.send('HEAD', FILE)
    expect([head.status, head.headers.get('Content-Length'), head.body]).toEqual([200, String(file.length), ''])
    const known = await device.send('GET', FILE, { headers: { 'If-None-Match': `W/${etag}` } })
    expect([known.status, known.headers.get('ETag'), known.body]).toEqual([304, etag, ''])
  })

  it('is replaced only if the tag matches', async () => {
    const first = await upload({ ...DEMIAN, rows: [ROW] })
    const file = statisticsFile({ ...DEMIAN, rows: [ROW, LATER] })
    for (const [name, tag] of [
      ['If-Match', '"other"'],
      ['If-None-Match', '*'],
      ['If-None-Match', first],
    ] as const) {
      expect(await put(file, { [name]: tag })).toMatchObject({ status: 412 })
    }
    expect(await counted()).toEqual([[1, '2026-03-01', 90]])
    expect((await put(file, { 'If-Match': `"other", ${first}` })).status).toBe(204)
    expect(await counted()).toHaveLength(2)
    expect((await put(file, { 'If-Match': first })).status).toBe(412)
    await expectIntact()
  })

  it('writes nothing if it is sent again', async () => {
    const file = statisticsFile({ ...DEMIAN, rows: [ROW] })
    const { headers } = await put(file)
    await device.send('GET', FILE)
    const cost = await measure(async () => {
      const again = await put(file)
      expect([again.status, again.headers.get('ETag')]).toEqual([204, headers.get('ETag')])
    })
    expect(cost.written).toBe(0)
    expect(await counted()).toEqual([[1, '2026-03-01', 90]])
  })

  it.each([
    ['no SQLite file', 'x', /^The reading statistics cannot be read: It is no SQLite file\.\n$/],
    ['nothing', '', /no SQLite file/],
    ['cut off', statisticsFile({ rows: [ROW] }).slice(0, 70_000), /is cut off/],
  ])('is refused with a sentence if it is %s, which changes nothing', async (_, body, message) => {
    await upload({ ...DEMIAN, rows: [ROW] })
    const before = await stored()
    expect(await put(body)).toMatchObject({ status: 422, body: expect.stringMatching(message) })
    expect(await stored()).toEqual(before)
    await expectIntact()
  })

  it('must have its name', async () => {
    const answer = await device.send('PUT', '/dav/other.sqlite3', { body: statisticsFile() })
    expect(answer).toMatchObject({ status: 422, body: expect.stringContaining('must be called statistics.sqlite3') })
  })

  it('of over 10 MiB is refused', { tags: ['slow'] }, async () => {
    const answer = await put(new Uint8Array(10 * 1024 * 1024 + 1))
    expect(answer).toMatchObject({ status: 413, body: 'File too large: at most 10 MiB\n' })
  })

  it('needs the scopes of devices: to send, and for what other devices have sent, to read', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    const [reading, sending] = [
      await addRawDevice(reader, { scopes: ['intake:read'] }),
      await addRawDevice(reader, { scopes: ['intake:write'] }),
    ]
    for (const method of ['GET', 'HEAD', 'PUT']) {
      const answer = await reading.send(method, FILE, method === 'PUT' ? { body: 'x' } : {})
      expect([method, answer.status]).toEqual([method, 403])
    }
    for (const method of ['GET', 'HEAD'])
      expect([method, (await sending.send(method, FILE)).status]).toEqual([method, 403])
    expect(await put(statisticsFile({ ...DEMIAN, rows: [ROW, LATER] }), {}, sending)).toMatchObject({ status: 204 })
  })
})

describe('what it adds', () => {
  it('counts once, whoever sends it, by the day on which it began', async () => {
    await upload({ ...DEMIAN, rows: [ROW, { ...ROW, page: 2 }, { start: '2026-03-01T23:59:30Z', seconds: 120 }] })
    const phone = await addRawDevice(reader, { name: 'Phone' })
    const rows = [ROW, LATER]
    expect((await put(statisticsFile({ ...DEMIAN, rows }), {}, phone)).status).toBe(204)
    expect(await counted()).toEqual([
      [1, '2026-03-01', 300],
      [1, '2026-03-02', 600],
    ])
    const byToken = await select(
      'select tokenId, sum(seconds) as n from sittings where memberId = ? group by 1',
      memberId,
    )
    expect(Object.fromEntries(byToken.map(({ tokenId, n }) => [tokenId, n]))).toEqual({
      [device.tokenId]: 300,
      [phone.tokenId]: 600,
    })
    // The phone lacked rows of the first device, which its next file has again.
    expect((await stored())?.missing).not.toBeNull()
    await upload({
      ...DEMIAN,
      rows: [ROW, { ...ROW, page: 2 }, { start: '2026-03-01T23:59:30Z', seconds: 120 }, LATER],
    })
    expect(await counted()).toHaveLength(2)
    expect((await stored())?.missing).toBeNull()
    await expectIntact()
  })

  it('counts in the time zone of the member at that time', async () => {
    await reader.patch('/members/me', { timeZone: 'Pacific/Kiritimati' })
    await upload({ ...DEMIAN, rows: [ROW] })
    await reader.patch('/members/me', { timeZone: 'Pacific/Pago_Pago' })
    await upload({ ...DEMIAN, rows: [ROW, { ...ROW, page: 3 }] })
    expect(await counted()).toEqual([
      [1, '2026-02-28', 90],
      [1, '2026-03-02', 90],
    ])
  })

  it.each([
    // Set back at three in the night, from UTC+2 to UTC+1.
    [
      'Europe/Berlin',
      '2026-10-24T21:59',
      '2026-10-24T22:00',
      '2026-10-25T00:30',
      '2026-10-25T01:30',
      '2026-10-25T23:00',
    ],
    // Set forward at two in the night.
    [
      'Europe/Berlin',
      '2026-03-28T22:59',
      '2026-03-28T23:00',
      '2026-03-29T00:59',
      '2026-03-29T01:00',
      '2026-03-29T22:00',
    ],
    // Set back at midnight, from UTC-3 to UTC-4: both hours are of the day before.
    [
      'America/Santiago',
      '2026-04-04T02:59',
      '2026-04-04T03:00',
      '2026-04-05T02:30',
      '2026-04-05T03:30',
      '2026-04-05T04:00',
    ],
  ])('counts by days of %s around a change of clocks: %s', async (timeZone, before, first, ...others) => {
    await reader.patch('/members/me', { timeZone })
    const rows = [before, first, ...others].map((start) => ({ start: `${start}:00Z`, seconds: 60 }))
    await upload({ ...DEMIAN, rows })
    expect((await counted()).map(([, , seconds]) => seconds)).toEqual([60, 180, 60])
    const days = (await counted()).map(([, day]) => Date.parse(String(day)) / 86_400_000)
    expect(days).toEqual([0, 1, 2].map((n) => (days[0] ?? 0) + n))
    await expectIntact()
  })

  it('counts a longer time of the same page only for the difference', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    await upload({ ...DEMIAN, rows: [{ ...ROW, seconds: 100 }] })
    await upload({ ...DEMIAN, rows: [{ ...ROW, seconds: 20 }] })
    expect(await counted()).toEqual([[1, '2026-03-01', 100]])
    await expectIntact()
  })

  it('is shown with its document, which is linked to its book by title and authors', async () => {
    const { bookId } = await reader.createBook({ title: 'Demian', author: 'Hermann Hesse' })
    await upload({ ...DEMIAN, rows: [ROW] }, { title: 'Other', authors: 'A B\nC D', rows: [LATER] })
    const [one, two] = (await listed()).toSorted((a: { title: string }, b: { title: string }) =>
      a.title < b.title ? -1 : 1,
    )
    expect(one).toMatchObject({
      ...{ documentId: md5Of(1), state: 'LINKED', title: 'Demian', book: { bookId }, minutes: 2 },
      ...{ percentage: null, pushedAt: null, device: null, tokenId: null },
    })
    expect(two).toMatchObject({ documentId: md5Of(2), state: 'WAITING', authors: ['A B', 'C D'], minutes: 10 })
  })

  it('is linked by a later upload, also of the same file, once its book is in the library', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    expect(await listed()).toMatchObject([{ state: 'WAITING', minutes: 2 }])
    const { bookId } = await reader.createBook({ title: 'Demian', author: 'Hermann Hesse' })
    await upload({ ...DEMIAN, rows: [ROW] })
    expect(await listed()).toMatchObject([{ state: 'LINKED', book: { bookId }, minutes: 2 }])
  })

  it('is in the feed of the book, also once a document is linked or unlinked later', async () => {
    const { bookId } = await reader.createBook({ title: 'Damian', author: 'H. Hesse' })
    let cursor = (await reader.get('/changes')).body.next
    const pull = async () => {
      const { item, next } = (await reader.get(`/changes?cursor=${cursor}`)).body
      cursor = next
      return item.map(({ id, value }: { id: number; value: { progress: object } }) => [id, value.progress])
    }
    const progress = (deviceMinutes: number) => [
      [bookId, { count: 0, latestAt: null, seconds: null, percent: null, deviceMinutes }],
    ]
    await upload({ ...DEMIAN, rows: [ROW] })
    expect(await pull()).toEqual([])
    const link = (id: number | null) => reader.send('PUT', `/documents/${md5Of(1)}/book`, { body: { bookId: id } })
    expect((await link(bookId)).body).toMatchObject({ minutes: 2 })
    expect(await pull()).toEqual(progress(2))
    await upload({ ...DEMIAN, rows: [ROW, LATER] })
    expect(await pull()).toEqual(progress(12))
    await upload({ ...DEMIAN, rows: [LATER] })
    expect(await pull()).toEqual([])
    await link(null)
    expect(await pull()).toEqual(progress(0))
    await upload({ ...DEMIAN, rows: [LATER, { ...LATER, page: 7 }] })
    expect((await listed())[0]).toMatchObject({ state: 'NONE', minutes: 22 })
  })

  it('does not change titles that a device has pushed', async () => {
    await device.send('PUT', '/koreader/syncs/progress', {
      body: JSON.stringify({
        document: md5Of(1),
        progress: 'x',
        percentage: 0.5,
        metadata: { title: 'Pushed', authors: 'A' },
      }),
      headers: { 'Content-Type': 'application/json' },
    })
    await upload({ ...DEMIAN, rows: [ROW] })
    expect(await listed()).toMatchObject([{ title: 'Pushed', authors: ['A'], minutes: 2, percentage: 0.5 }])
  })

  it('is never lost to a flood of pushes', { tags: ['slow'] }, async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 2100)
      insert into documents (memberId, document, createdAt) select ?, 'flood ' || i, 9e12 + i from n`,
      memberId,
    )
    const [{ n = 0 } = {}] = await select('select count(*) as n from documents where memberId = ?', memberId)
    expect(n).toBe(2001)
    expect(
      await select('select seconds from documents where memberId = ? and document = ?', memberId, md5Of(1)),
    ).toEqual([{ seconds: 90 }])
  })
})

describe('an upload', () => {
  const withReader = (change: (answer: object, call: number) => object) => {
    let calls = 0
    const readStatistics = async (...values: Parameters<typeof env.READER.readStatistics>) =>
      change((await env.READER.readStatistics(...values)) as object, ++calls)
    return { READER: { readStatistics } }
  }
  /** Answers in parts of this size. */
  const inParts = (size: number) => ({
    READER: {
      readStatistics: (
        file: Uint8Array,
        before: { file: Uint8Array | null; missing: Uint8Array | null },
        options: { timeZone: string },
      ) => env.READER.readStatistics(file, before, { ...options, maxSittings: size }),
    },
  })
  const days = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      start: Date.parse('2026-01-01T12:00:00Z') / 1000 + n * 86_400,
      seconds: 60,
    }))

  it('of much is counted in parts, and goes on with the next request', async () => {
    const file = statisticsFile({ ...DEMIAN, rows: days(8) })
    const first = await put(file, {}, device, inParts(2))
    expect(first).toMatchObject({ status: 503, body: 'Only a part is counted yet: sync again\n' })
    expect(await counted()).toHaveLength(6)
    expect(await stored()).toMatchObject({ file: null, hash: null, sittings: 6 })
    await expectIntact()
    expect((await device.send('GET', FILE)).status).toBe(404)
    expect(await put(file, { 'If-None-Match': '*' }, device, inParts(2))).toMatchObject({ status: 204 })
    expect(await counted()).toHaveLength(8)
    expect(await stored()).toMatchObject({ missing: null, missingBytes: 0, sittings: 8, bytes: file.length })
    await expectIntact()
  })

  it('begins again if another device was faster', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    const phone = await addRawDevice(reader, { name: 'Phone' })
    const mine = statisticsFile({ ...DEMIAN, rows: [ROW, LATER] })
    const theirs = statisticsFile({ ...DEMIAN, rows: [ROW, { ...LATER, page: 9 }] })
    const racing = () => {
      let isFirst = true
      const readStatistics = async (...values: Parameters<typeof env.READER.readStatistics>) => {
        if (isFirst) expect((await put(theirs, {}, phone)).status).toBe(204)
        isFirst = false
        return env.READER.readStatistics(...values)
      }
      return { READER: { readStatistics } }
    }
    expect((await put(mine, {}, device, racing())).status).toBe(204)
    expect(await counted()).toEqual([
      [1, '2026-03-01', 90],
      [1, '2026-03-02', 1200],
    ])
    await expectIntact()
    // With If-Match, the device has to merge first.
    const etag = (await device.send('HEAD', FILE)).headers.get('ETag') ?? ''
    expect(await put(statisticsFile({ ...DEMIAN, rows: [ROW] }), { 'If-Match': etag }, device, racing())).toMatchObject(
      {
        status: 412,
      },
    )
    await expectIntact()
  })

  it('is refused if the images of the member leave no room, and changes nothing', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    const bytes = statisticsFile().length
    expect(await select('select imageBytes from members where memberId = ?', memberId)).toEqual([{ imageBytes: bytes }])
    await select('update members set maxImageBytes = ? where memberId = ?', bytes + 4, memberId)
    const before = await stored()
    // The rows of the first file are missing in this one.
    const answer = await put(statisticsFile({ ...DEMIAN, rows: [LATER] }))
    expect(answer).toMatchObject({
      status: 409,
      body: expect.stringMatching(/^Limit reached: 196,612 bytes of images/),
    })
    expect(await stored()).toEqual(before)
    expect((await put(statisticsFile({ ...DEMIAN, rows: [ROW, LATER] }))).status).toBe(204)
    await expectIntact()
  })

  it('is refused if there is no room for its rows, and changes nothing', async () => {
    await upload({ ...DEMIAN, rows: days(19) })
    await select('update members set maxTextBytes = textBytes where memberId = ?', memberId)
    const answer = await put(statisticsFile({ ...DEMIAN, rows: days(20) }))
    expect(answer).toMatchObject({ status: 409, body: expect.stringMatching(/^Limit reached: .* of text and rows/) })
    expect(await counted()).toHaveLength(19)
    await select('update members set maxTextBytes = textBytes + 4000 where memberId = ?', memberId)
    expect((await put(statisticsFile({ ...DEMIAN, rows: days(20) }))).status).toBe(204)
    const [row] = await select('select textBytes - maxTextBytes as left from members where memberId = ?', memberId)
    expect(row).toEqual({ left: 0 })
    await expectIntact()
  })

  it('is refused after 200 others of the device in a day, unlike one of another device', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    await memberDatabase()
      .prepare(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < 199)
        insert into attempts (subject, at) select subject, at from attempts cross join n where attemptId = (select max(attemptId) from attempts)`,
      )
      .run()
    const answer = await put(statisticsFile({ ...DEMIAN, rows: [ROW, LATER] }))
    expect([answer.status, Number(answer.headers.get('Retry-After')) > 0]).toEqual([429, true])
    await upload({ ...DEMIAN, rows: [ROW] })
    const other = await addRawDevice(reader)
    expect((await put(statisticsFile({ ...DEMIAN, rows: [ROW, LATER] }), {}, other)).status).toBe(204)
  })

  it('fails if an object was lost, until the statistics are deleted', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await upload({ ...DEMIAN, rows: [ROW] })
    const [key = ''] = await objects()
    await env.IMAGES.delete(key)
    expect((await device.send('GET', FILE)).status).toBe(503)
    expect((await put(statisticsFile({ ...DEMIAN, rows: [ROW, LATER] }))).status).toBe(503)
    const { rows } = await findOrphans([memberDatabase()], env.IMAGES)
    expect(rows).toEqual([key])
    expect((await reader.delete('/documents/statistics')).status).toBe(204)
    await upload({ ...DEMIAN, rows: [ROW, LATER] })
    expect(await counted()).toHaveLength(2)
    await expectIntact()
    vi.restoreAllMocks()
  })

  it('is gone with the member', async () => {
    await upload({ ...DEMIAN, rows: [ROW] })
    await reader.delete('/members/me')
    await eventually(async () => expect(await objects()).toEqual([]))
    for (const table of ['sittings', 'statisticsFiles', 'documents']) {
      expect(await select(`select * from ${table} where memberId = ?`, memberId)).toEqual([])
    }
  })

  it('retries a reader of another version', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const other = withReader((answer, call) => (call === 1 ? { ...answer, protocol: 0 } : answer))
    expect((await put(statisticsFile({ ...DEMIAN, rows: [ROW] }), {}, device, other)).status).toBe(204)
    vi.restoreAllMocks()
  })
})
