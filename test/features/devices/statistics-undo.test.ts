import { beforeEach, describe, expect, it } from 'vitest'
import { listChanges, measure, select } from '../../support/database'
import { addRawDevice } from '../../support/devices/raw-device'
import { md5Of, type ReadBook, statisticsFile } from '../../support/devices/statistics-file'
import { book, createUndoer, LONG_AGO, NOTHING, type Undoer } from '../../support/devices/undoer'

type Device = Awaited<ReturnType<typeof addRawDevice>>

let undoer: Undoer
let device: Device
beforeEach(async () => {
  undoer = await createUndoer()
  device = await addRawDevice(undoer.reader)
})

const [ONE, TWO, THREE] = ['2026-03-01', '2026-03-02', '2026-03-03'].map((day) => ({
  start: `${day}T10:00:00Z`,
  seconds: 90,
}))
const rows = (...given: (typeof ONE)[]) => given.flatMap((row) => row ?? [])
const DEMIAN = { title: 'Demian', authors: 'Hermann Hesse' }
const put = async (by: Device, ...books: ReadBook[]) =>
  expect((await by.send('PUT', '/dav/statistics.sqlite3', { body: statisticsFile(...books) })).status).toBe(204)
const documents = async () =>
  (await undoer.reader.get('/documents')).body.item.map(({ documentId, minutes }: Record<string, unknown>) => [
    Number.parseInt(String(documentId), 16),
    minutes,
  ])
const days = async () =>
  (await select('select day, seconds from sittings where memberId = ? order by day', undoer.memberId)).map(
    ({ day, seconds }) => `${day} ${seconds}`,
  )
/** Moves what was uploaded so far to an earlier time. */
const age = (at: number) =>
  Promise.all([
    select('update sittings set at = ? where memberId = ?', at, undoer.memberId),
    select(
      'update documents set createdAt = ?, linkedAt = iif(linkedAt is null, null, ?) where memberId = ?',
      at,
      at,
      undoer.memberId,
    ),
  ])

describe('undoing a device', () => {
  it('takes back its reading time, and leaves that of others', async () => {
    const phone = await addRawDevice(undoer.reader, { name: 'Phone' })
    await put(phone, { ...DEMIAN, rows: rows(ONE) })
    await put(device, { ...DEMIAN, rows: rows(ONE, TWO) }, { title: 'Other', rows: rows(THREE) })
    expect(await undoer.undo(LONG_AGO, device.tokenId)).toEqual({ ...NOTHING, minutes: 3 })
    expect(await days()).toEqual(['2026-03-01 90'])
    expect(await documents()).toEqual([[1, 2]])
    // The file stays: its rows do not count again, but new ones do.
    await put(
      device,
      { ...DEMIAN, rows: rows(ONE, TWO) },
      { title: 'Other', rows: [...rows(THREE), { start: '2026-03-04T10:00:00Z', seconds: 60 }] },
    )
    expect(await days()).toEqual(['2026-03-01 90', '2026-03-04 60'])
    expect(await documents()).toEqual([
      [2, 1],
      [1, 2],
    ])
  })

  it('leaves what it sent before, and the books that the member has set', async () => {
    const { bookId } = await undoer.reader.createBook(book('Low Tide'))
    await put(device, { ...DEMIAN, rows: rows(ONE) })
    await age(1000)
    await put(device, { ...DEMIAN, rows: rows(ONE, TWO) }, { title: 'Set', rows: rows(THREE) })
    await undoer.reader.send('PUT', `/documents/${md5Of(2)}/book`, { body: { bookId } })
    const { next } = (await undoer.reader.get('/changes')).body
    expect(await undoer.undo('2026-01-01T00:00:00Z', device.tokenId)).toEqual({ ...NOTHING, minutes: 3 })
    expect(await days()).toEqual(['2026-03-01 90'])
    expect(await documents()).toEqual([
      [2, 0],
      [1, 2],
    ])
    const { item } = (await undoer.reader.get(`/changes?cursor=${next}`)).body
    expect(item).toMatchObject([{ id: bookId, value: { progress: { deviceMinutes: 0 } } }])
  })

  it('unlinks the documents that it linked', async () => {
    const { bookId } = await undoer.reader.createBook({ title: 'Demian', author: 'Hermann Hesse' })
    await put(device, { ...DEMIAN, rows: rows(ONE) })
    expect((await undoer.reader.get('/documents')).body.item).toMatchObject([{ book: { bookId } }])
    expect(await undoer.undo(LONG_AGO, device.tokenId)).toEqual({ ...NOTHING, documents: 1, minutes: 2 })
    expect(await documents()).toEqual([])
  })

  it('works after its token was deleted, and is listed by uploads', async () => {
    await put(device, { ...DEMIAN, rows: rows(ONE, TWO) })
    await age(1_700_000_000_000)
    await put(device, { ...DEMIAN, rows: rows(ONE, TWO, THREE) })
    await undoer.reader.delete(`/tokens/${device.tokenId}`)
    const statistics = { kind: 'statistics', import: null, book: null, page: null, documentId: null }
    const all = (await undoer.changes('', device.tokenId)).item
    expect(all).toMatchObject([
      { ...statistics, minutes: 2 },
      { ...statistics, minutes: 3, at: '2023-11-14T22:13:20Z' },
    ])
    const { item, next } = await undoer.changes('?size=1', device.tokenId)
    expect([...item, ...(await undoer.changes(`?cursor=${next}`, device.tokenId)).item]).toEqual(all)
    expect(await undoer.undo(LONG_AGO, device.tokenId)).toMatchObject({ minutes: 5, hasMore: false })
    expect(await days()).toEqual([])
  })

  it('is listed by uploads, of which a page reads a limited number of rows', { tags: ['slow'] }, async () => {
    await put(device, { ...DEMIAN, rows: rows(ONE) })
    await select('delete from sittings where memberId = ?', undoer.memberId)
    await select(
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < 35999)
       insert into sittings (memberId, tokenId, at, document, day, seconds)
       select ?, ?, 1700000000000 + i / 3000 * 1000, 'd' || i, '2026-03-01', 60 from n`,
      undoer.memberId,
      device.tokenId,
    )
    let page = { item: [] as unknown[], next: null as string | null }
    const cost = await measure(async () => {
      page = await undoer.changes('?size=100', device.tokenId)
    })
    expect(cost.read).toBeLessThan(31_000)
    const { item } = await undoer.changes(`?size=100&cursor=${page.next}`, device.tokenId)
    const all = [...page.item, ...item] as { at: string; minutes: number }[]
    const newest = Array.from({ length: 12 }, (_, n) => new Date(1700000011000 - n * 1000).toISOString().slice(0, 19))
    expect(all.filter(({ minutes }) => minutes).map(({ at, minutes }) => [at.slice(0, 19), minutes])).toEqual(
      newest.map((at) => [at, 3000]),
    )
    for (const table of ['sittings', 'documents', 'statisticsFiles'])
      await select(`delete from ${table} where memberId = ?`, undoer.memberId)
  })

  it('of much reading changes at most 10,000 rows in a batch', { tags: ['slow'] }, async () => {
    const { memberId, reader } = undoer
    const { bookId } = await reader.createBook(book('Low Tide'))
    const fill = (statement: string, ...values: unknown[]) =>
      select(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000) ${statement}`,
        memberId,
        ...values,
      )
    // A full log, so that each entry also trims one.
    await fill('insert into changes (memberId, seq, kind, id, proof) select ?, 20000 + i, 0, 0, 0 from n')
    await fill(
      `insert into documents (memberId, document, createdAt, seconds, bookId, tokenId, linkedAt)
      select ?1, 'd' || i, 2e12, 60, ?2, ?3, 2e12 from n where i <= 2000`,
      ...[bookId, device.tokenId],
    )
    await fill(
      `insert into sittings (memberId, tokenId, at, document, day, seconds)
      select ?1, ?2, 2e12, 'd' || (1 + (i - 1) % 2000), date(i / 2000 * 86400, 'unixepoch'), 30 from n`,
      device.tokenId,
    )
    await select('insert into statisticsFiles (memberId, sittings, uploadedAt) values (?, 4000, 5000)', memberId)
    const batches = await listChanges(async () =>
      expect(await undoer.undo(LONG_AGO, device.tokenId)).toEqual({ ...NOTHING, documents: 2000, minutes: 2000 }),
    )
    expect(Math.max(...batches)).toBeGreaterThan(4000)
    expect(Math.max(...batches)).toBeLessThanOrEqual(10_000)
    expect(await documents()).toEqual([])
  })
})
