import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { listChanges, memberDatabase, select } from '../../support/database'
import { withDatabase } from '../../support/devices/failing-calls'
import { addRawDevice } from '../../support/devices/raw-device'
import { md5Of, type ReadBook, statisticsFile } from '../../support/devices/statistics-file'
import { book, createUndoer, LONG_AGO, type Undoer } from '../../support/devices/undoer'
import { UNLIMITED } from '../../support/rate-limits'
import { eventually } from '../../support/runtime/clock'

type Device = Awaited<ReturnType<typeof addRawDevice>>

let undoer: Undoer
let device: Device
beforeEach(async () => {
  undoer = await createUndoer()
  device = await addRawDevice(undoer.reader)
})

const [ONE, TWO] = ['2026-03-01', '2026-03-02'].map((day) => [{ start: `${day}T10:00:00Z`, seconds: 90 }]) as [
  ReadBook['rows'],
  ReadBook['rows'],
]
const put = (by: Device, books: ReadBook[], changed?: object) =>
  by.send('PUT', '/dav/statistics.sqlite3', { body: statisticsFile(...books) }, changed)
const upload = async (by: Device, ...books: ReadBook[]) => expect((await put(by, books)).status).toBe(204)
const reset = async (changed: object = {}) =>
  (await undoer.reader.send('DELETE', '/documents/statistics', { changed: { ...UNLIMITED, ...changed } })).status
const documents = async () =>
  (await undoer.reader.get('/documents?size=100')).body.item.map(({ documentId, minutes }: Record<string, unknown>) => [
    documentId,
    minutes,
  ])
const objects = async () =>
  (await env.IMAGES.list({ prefix: `statistics/${undoer.memberId}/` })).objects.map(({ key }) => key)
const used = async () =>
  (await select('select imageBytes, textBytes from members where memberId = ?', undoer.memberId))[0]
const rowsOf = async (table: string) =>
  (await select(`select count(*) as n from ${table} where memberId = ?`, undoer.memberId))[0]?.n
const expectIntact = async () => expect(await findMismatches(memberDatabase())).toEqual([])

describe('deleting the reading statistics', () => {
  it('forgets what was counted, until a device sends it again', async () => {
    const { bookId } = await undoer.reader.createBook(book('Low Tide'))
    const before = await used()
    await upload(device, { title: 'Read', rows: ONE }, { title: 'Set', rows: ONE })
    // The first file lacks nothing, the second one a row.
    await upload(device, { title: 'Read', rows: TWO }, { title: 'Set', rows: ONE })
    await undoer.reader.send('PUT', `/documents/${md5Of(2)}/book`, { body: { bookId } })
    const { next } = (await undoer.reader.get('/changes')).body
    expect(await reset()).toBe(204)
    await expectIntact()
    expect(await documents()).toEqual([[md5Of(2), 0]])
    expect(await used()).toEqual(before)
    await eventually(async () => expect(await objects()).toEqual([]))
    expect((await device.send('GET', '/dav/statistics.sqlite3')).status).toBe(404)
    const { item } = (await undoer.reader.get(`/changes?cursor=${next}`)).body
    expect(item).toMatchObject([{ id: bookId, value: { progress: { deviceMinutes: 0 } } }])

    await upload(device, { title: 'Read', rows: TWO }, { title: 'Set', rows: ONE })
    expect((await undoer.reader.get(`/books/${bookId}/sittings`)).body.item).toMatchObject([
      { date: '2026-03-01', minutes: 2 },
    ])
    expect(await documents()).toEqual([
      [md5Of(1), 2],
      [md5Of(2), 2],
    ])
    await expectIntact()
  })

  it('leaves the minutes of events, pushed positions, and other members', async () => {
    const { reader } = undoer
    const { bookId } = await reader.createBook(book('Low Tide'))
    await reader.post(`/books/${bookId}/progress`, { minutes: 5, date: '2026-03-01' })
    await device.send('PUT', '/koreader/syncs/progress', {
      body: JSON.stringify({ document: md5Of(1), progress: 'x', percentage: 0.5 }),
      headers: { 'Content-Type': 'application/json' },
    })
    await upload(device, { title: 'Pushed', rows: ONE })
    const other = await createUndoer()
    await upload(await addRawDevice(other.reader), { title: 'Read', rows: ONE })
    expect(await reset()).toBe(204)
    expect(await documents()).toEqual([[md5Of(1), 0]])
    expect((await reader.get(`/books/${bookId}/sittings`)).body.item).toMatchObject([{ minutes: 5 }])
    expect((await other.reader.get('/documents')).body.item).toMatchObject([{ minutes: 2 }])
    await expectIntact()
  })

  it('changes nothing if there are none', async () => {
    expect([await reset(), await reset()]).toEqual([204, 204])
  })

  it('makes an upload that runs meanwhile begin again', async () => {
    await upload(device, { title: 'Read', rows: ONE })
    let calls = 0
    const readStatistics = async (...values: Parameters<typeof env.READER.readStatistics>) => {
      if (calls++ === 0) expect(await reset()).toBe(204)
      return env.READER.readStatistics(...values)
    }
    const file = [{ title: 'Read', rows: [...ONE, ...TWO] }]
    expect((await put(device, file, { READER: { readStatistics } })).status).toBe(204)
    expect(calls).toBe(2)
    expect(await documents()).toEqual([[md5Of(1), 3]])
    await expectIntact()
  })

  it('ends the refusals that a stolen token has caused', { tags: ['slow'] }, async () => {
    const thief = await addRawDevice(undoer.reader, { name: 'Stolen' })
    const own = { title: 'Own', md5: md5Of(5000), rows: ONE }
    await upload(device, own)
    const made = (first: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({ md5: md5Of(first + at), rows: ONE }))
    await upload(thief, ...made(1, 1000))
    await upload(thief, ...made(1001, 999))
    const next = [own, { title: 'New', md5: md5Of(6000), rows: ONE }]
    await undoer.reader.delete(`/tokens/${thief.tokenId}`)
    expect(await undoer.undo(LONG_AGO, thief.tokenId)).toMatchObject({ minutes: 2999, hasMore: false })
    expect(await put(device, next)).toMatchObject({
      status: 422,
      body: expect.stringContaining('more than 2,000 books in all. DELETE /documents/statistics forgets'),
    })
    expect(await reset()).toBe(204)
    await upload(device, ...next)
    expect((await documents()).toSorted()).toEqual([
      [md5Of(5000), 2],
      [md5Of(6000), 2],
    ])
    await expectIntact()
  })
})

describe('deleting many reading statistics', { tags: ['slow'] }, () => {
  const fill = (statement: string, ...values: unknown[]) =>
    select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000) ${statement}`,
      undoer.memberId,
      ...values,
    )
  /** As much as one batch can change: documents of a book, sittings, and a full log, so that each entry also trims one. */
  const fillAll = async (byHand = 0) => {
    const { bookId } = await undoer.reader.createBook(book('Low Tide'))
    await fill('insert into changes (memberId, seq, kind, id, proof) select ?, 20000 + i, 0, 0, 0 from n')
    await fill(
      `insert into documents (memberId, document, createdAt, seconds, bookId, isByHand)
      select ?1, 'd' || i, 2e12, 60, ?2, ?3 from n where i <= 2000`,
      ...[bookId, byHand],
    )
    await fill(
      `insert into sittings (memberId, tokenId, at, document, day, seconds)
      select ?1, 'token', 2e12, 'd' || (1 + (i - 1) % 2000), date(i / 2000 * 86400, 'unixepoch'), 30 from n`,
    )
    await select('insert into statisticsFiles (memberId, sittings, uploadedAt) values (?, 4000, 5000)', undoer.memberId)
  }

  it('changes at most 10,000 rows in a batch', async () => {
    await fillAll()
    const batches = await listChanges(async () => expect(await reset()).toBe(204))
    expect(Math.max(...batches)).toBeGreaterThan(6000)
    expect(Math.max(...batches)).toBeLessThanOrEqual(10_000)
    expect([await rowsOf('sittings'), await rowsOf('statisticsFiles')]).toEqual([0, 0])
    await expectIntact()
  })

  it('goes on after a failure', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await fillAll()
    expect(await reset(withDatabase(2, 'fails'))).toBe(503)
    expect([await rowsOf('sittings'), await rowsOf('statisticsFiles')]).toEqual([500, 1])
    await expectIntact()
    expect(await reset()).toBe(204)
    expect([await rowsOf('sittings'), await rowsOf('statisticsFiles')]).toEqual([0, 0])
    await expectIntact()
    vi.restoreAllMocks()
  })

  it('leaves no more documents than pushes do', async () => {
    await fillAll(1)
    await fill(`insert into documents (memberId, document, createdAt) select ?, 'old ' || i, i from n where i <= 400`)
    expect(await reset()).toBe(204)
    expect(await rowsOf('documents')).toBe(2000)
    expect(await select(`select * from documents where memberId = ? and not isByHand`, undoer.memberId)).toEqual([])
  })
})
