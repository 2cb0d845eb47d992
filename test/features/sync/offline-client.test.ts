import { describe, expect, it } from 'vitest'
import { createClient, type Shown, TryLater } from '../../../docs/offline-client'
import { BASE, handle } from '../../support/api'
import { select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { getBook } from '../../support/library'
import { UNLIMITED } from '../../support/rate-limits'
import {
  createDevice,
  type Device,
  loseAnswers,
  online,
  only,
  reader,
  syncedDevice,
  useReader,
} from '../../support/sync/app'

useReader()

const textOf = async (device: Device) => (await only(device, 'memo')).value.memoContent
const edit = async (device: Device, memoContent: string) =>
  device.app.update(await only(device, 'memo'), { memoContent })
const MEMO = { memoBookPage: 1, memoContent: 'A thought' }

/** Two devices that have the same memo. */
const twoDevices = async () => {
  const { bookId } = await reader().createBook()
  const { memoId } = await reader().createMemo(bookId)
  return { bookId, memoId, here: await syncedDevice(), there: await syncedDevice() }
}

describe('the offline client', () => {
  it('sends the day on which a book was finished, unless the user names one', async () => {
    const device = createDevice()
    device.now = Date.UTC(2026, 2, 14, 21)
    for (const title of ['One', 'Two', 'Three']) await device.app.create('book', { title, bookStatus: 'ING' })
    await device.app.create('book', { title: 'Four', bookStatus: 'DONE' })
    await device.app.sync()
    const [one, two, three, four] = (await device.app.list('book')) as [Shown, Shown, Shown, Shown]
    await device.app.update(one, { bookStatus: 'DONE' })
    await device.app.update(two, { bookStatus: 'DONE', readEndDate: '2025-01-01T00:00:00' })
    await device.app.update(three, { bookStatus: 'DONE', readEndDate: null })
    await device.app.update(four, { bookStatus: 'DONE' })
    const day = '2026-03-14T21:00:00'
    expect((await device.app.get('book', one.id))?.value.readEndDate).toBe(day)
    await device.app.sync()
    const ends = await Promise.all(
      [one, two, three, four].map(async ({ id }) => (await getBook(reader(), Number(id))).readEndDate),
    )
    expect(ends).toEqual([day, '2025-01-01T00:00:00', null, null])
  })

  it('makes a copy, page by page, and follows what others change', async () => {
    const { bookId } = await reader().createBook({ bookStatus: 'ING' })
    const { memoId } = await reader().createMemo(bookId)
    await reader().send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Sea'] } })
    const device = createDevice()
    device.size = 1
    device.app = device.start()
    await device.app.sync()
    expect(await only(device, 'book')).toMatchObject({ id: bookId, value: { title: 'Demian', tags: ['Sea'] } })
    expect(await only(device, 'reading')).toMatchObject({ value: { bookId, outcome: null } })
    expect(await only(device, 'tag')).toMatchObject({ value: { tag: 'Sea' } })
    await reader().patch(`/memos/${memoId}`, { memoContent: 'edited' })
    await device.app.sync()
    expect(await textOf(device)).toBe('edited')
    await reader().delete(`/books/${bookId}`)
    await device.app.sync()
    for (const kind of ['book', 'memo', 'reading', 'tag'] as const) expect(await device.app.list(kind)).toEqual([])
  })

  it('shows what was written offline, and sends it later, parents first', async () => {
    const device = await syncedDevice()
    device.network = async () => {
      throw new Error('offline')
    }
    const bookId = await device.app.create('book', { title: 'Demian' })
    await device.app.create('memo', MEMO, bookId)
    await device.app.create('reading', { startedAt: '2026-01' }, bookId)
    await edit(device, 'edited')
    await edit(device, 'edited twice')
    await device.app.addProgress(await only(device, 'book'), { page: 30 })
    await device.app.setTags(await only(device, 'book'), ['Sea'])
    await expect(device.app.sync()).rejects.toThrow('offline')
    expect(await device.app.get('book', bookId)).toMatchObject({
      id: bookId,
      value: { currentPage: 30, tags: ['Sea'] },
    })
    expect(await textOf(device)).toBe('edited twice')

    device.network = online
    await device.app.sync()
    const [book] = (await reader().get('/books')).body.item
    expect(book).toMatchObject({ title: 'Demian', currentPage: 30, bookStatus: 'ING', memoCount: 1 })
    expect(await device.app.get('book', bookId)).toMatchObject({ id: book.bookId, value: { tags: ['Sea'] } })
    expect(await only(device, 'memo')).toMatchObject({ value: { bookId: book.bookId, memoContent: 'edited twice' } })
    expect(await device.app.kept()).toEqual([])
    const { memoId } = (await only(device, 'memo')).value
    await device.app.remove(await only(device, 'memo'))
    await device.app.remove((await device.app.get('book', bookId)) as Shown)
    expect(await device.app.list('reading')).toEqual([])
    await device.app.sync()
    expect(await reader().get(`/memos/${memoId}`)).toMatchObject({ status: 404 })
    expect((await reader().get('/books')).body.item).toEqual([])
  })

  it('shows and sends minutes, and seconds of an audiobook', async () => {
    const device = await syncedDevice()
    await device.app.create('book', { title: 'Demian' })
    await device.app.updateEdition(await only(device, 'book'), { seconds: 36_000 })
    const read = async (reached: { seconds?: number; minutes?: number }) =>
      device.app.addProgress(await only(device, 'book'), reached)
    const shown = async () => (await only(device, 'book')).value
    await read({ minutes: 5 })
    expect(await shown()).toMatchObject({ bookStatus: 'ING', currentPage: 0, progress: { count: 1, percent: null } })
    await read({ seconds: 3600, minutes: 20 })
    const reached = { bookStatus: 'ING', currentPage: 0, progress: { count: 2, seconds: 3600, percent: 10 } }
    expect(await shown()).toMatchObject(reached)
    await device.app.updateEdition(await only(device, 'book'), { seconds: 7200 })
    await device.app.update(await only(device, 'book'), { itemPage: 300 })
    await read({ seconds: 3600 })
    expect(await shown()).toMatchObject({ currentPage: 150, progress: { count: 3, seconds: 3600, percent: 50 } })
    await device.app.sync()
    const { bookId } = await shown()
    expect(await shown()).toMatchObject({ currentPage: 150, progress: { count: 3, seconds: 3600, percent: 50 } })
    const { item } = (await reader().get(`/books/${bookId}/progress`)).body
    expect(item.map(({ seconds, minutes }: Record<string, unknown>) => [seconds, minutes])).toEqual([
      [3600, null],
      [3600, 20],
      [null, 5],
    ])
    expect(await device.app.kept()).toEqual([])
  })

  it('shows and sends a new title', async () => {
    await reader().createBook()
    const device = await syncedDevice()
    await device.app.updateEdition(await only(device, 'book'), { title: 'Damian', language: 'de' })
    const edited = { value: { title: 'Damian', bookStatus: 'YET', edition: { language: 'de', isbn: null } } }
    expect(await only(device, 'book')).toMatchObject(edited)
    await device.app.sync()
    expect(await only(device, 'book')).toMatchObject(edited)
    expect(await device.app.kept()).toEqual([])
  })

  it('repeats writes whose answers were lost, without duplicates or conflicts', async () => {
    const device = await syncedDevice()
    const bookId = await device.app.create('book', { title: 'Demian' })
    await device.app.create('memo', MEMO, bookId)
    await edit(device, 'edited')
    await edit(device, 'edited twice')
    await device.app.remove((await device.app.get('memo', await device.app.create('memo', MEMO, bookId))) as Shown)
    device.network = loseAnswers
    for (let write = 0; write < 6; write++) {
      await expect(device.app.sync()).rejects.toThrow('lost')
      // This time, the answer to the repeated request arrives, and that to the next one is lost.
      let posts = 0
      device.network = (path, method, send) => (posts++ === 0 ? send() : loseAnswers(path, method, send))
    }
    device.network = online
    await device.app.sync()
    expect((await reader().get('/books')).body.item).toMatchObject([{ title: 'Demian', memoCount: 1 }])
    expect(await textOf(device)).toBe('edited twice')
    expect(await device.app.kept()).toEqual([])
  })

  it('keeps an edit of a memo that another device has changed, with both texts', async () => {
    const { memoId, here, there } = await twoDevices()
    await edit(here, 'edited here')
    await edit(here, 'edited here twice')
    await edit(there, 'edited there')
    await there.app.sync()
    await here.app.sync()
    expect((await reader().get(`/memos/${memoId}`)).body.memoContent).toBe('edited there')
    expect(await textOf(here)).toBe('edited there')
    expect(await here.app.kept()).toMatchObject([
      {
        body: { memoContent: 'edited here' },
        answer: { status: 412, body: { memo: { memoContent: 'edited there' } } },
      },
      { body: { memoContent: 'edited here twice' } },
    ])
    const [first] = await here.app.kept()
    if (first) await here.app.discard(first)
    expect(await here.app.kept()).toHaveLength(1)
  })

  it('sends an edit with the version that the user saw, even if a pull came between', async () => {
    const { memoId, here, there } = await twoDevices()
    const open = await only(here, 'memo')
    await edit(there, 'edited there')
    await there.app.sync()
    await here.app.sync()
    await here.app.update(open, { memoContent: 'edited here' })
    await here.app.sync()
    expect((await reader().get(`/memos/${memoId}`)).body.memoContent).toBe('edited there')
    expect(await here.app.kept()).toHaveLength(1)
  })

  it('keeps edits behind a memo that was edited elsewhere before its answer arrived', async () => {
    const { bookId } = await reader().createBook()
    const device = await syncedDevice()
    await device.app.create('memo', MEMO, bookId)
    device.network = loseAnswers
    await expect(device.app.sync()).rejects.toThrow('lost')
    const [{ memoId }] = (await getBook(reader(), bookId)).memosList
    await reader().patch(`/memos/${memoId}`, { memoContent: 'edited there' })
    const open = await only(device, 'memo')
    await edit(device, 'edited here')
    device.network = online
    await device.app.sync()
    await device.app.update(open, { memoContent: 'edited here, too' })
    await device.app.sync()
    expect(await textOf(device)).toBe('edited there')
    expect((await device.app.kept()).map(({ body }) => body?.memoContent)).toEqual(['edited here', 'edited here, too'])
  })

  it('keeps writes to what was deleted, and takes a deletion of it as done', async () => {
    const { bookId, memoId, here } = await twoDevices()
    const memo = await only(here, 'memo')
    await edit(here, 'edited here')
    await here.app.create('reading', { startedAt: '2026-01' }, bookId)
    await here.app.update(await only(here, 'book'), { author: 'Mina Oh' })
    await reader().delete(`/memos/${memoId}`)
    await reader().delete(`/books/${bookId}`)
    await here.app.sync()
    expect((await here.app.kept()).map(({ kind, answer }) => [kind, answer?.status])).toEqual([
      ['memo', 404],
      ['reading', 404],
      ['book', 404],
    ])
    await here.app.remove(memo)
    await here.app.sync()
    expect(await here.app.kept()).toHaveLength(3)
    expect(await here.app.list('book')).toEqual([])
  })

  it('follows a merge, sends edits of what was moved, and keeps writes to the book that is gone', async () => {
    const { bookId: from, here } = await twoDevices()
    const { bookId } = await reader().createBook()
    await edit(here, 'edited here')
    await here.app.update(await only(here, 'book'), { author: 'Mina Oh' })
    expect((await reader().post(`/books/${bookId}/merge`, { from })).status).toBe(200)
    await here.app.sync()
    expect((await here.app.kept()).map(({ kind, answer }) => [kind, answer?.status])).toEqual([['book', 404]])
    expect(await only(here, 'memo')).toMatchObject({ value: { bookId, memoContent: 'edited here' } })
    expect(await only(here, 'book')).toMatchObject({ id: bookId })
  })

  it('keeps what was refused with what depends on it, and sends the rest', async () => {
    const device = await syncedDevice()
    const refused = await device.app.create('book', { title: '' })
    const memo = await device.app.create('memo', MEMO, refused)
    await device.app.update((await device.app.get('memo', memo)) as Shown, { memoContent: 'edited' })
    await device.app.create('book', { title: 'Demian' })
    await device.app.sync()
    expect((await device.app.kept()).map(({ kind, answer }) => [kind, answer?.status])).toEqual([
      ['book', 400],
      ['memo', undefined],
      ['memo', undefined],
    ])
    expect(await only(device, 'book')).toMatchObject({ value: { title: 'Demian' } })
  })

  it('keeps no write to another object of the same number behind a refused one', async () => {
    const { here } = await twoDevices()
    const [book, memo] = [await only(here, 'book'), await only(here, 'memo')]
    await here.app.update({ ...book, id: memo.id }, { author: 'x'.repeat(501) })
    await here.app.update(memo, { memoContent: 'edited' })
    await here.app.sync()
    expect(await here.app.kept()).toMatchObject([{ kind: 'book' }])
    expect(await textOf(here)).toBe('edited')
  })

  it('makes a new copy when its cursor is refused, and still sends what it wrote', async () => {
    const { here } = await twoDevices()
    const { bookId } = await reader().createBook({ title: 'deleted' })
    await here.app.sync()
    await edit(here, 'edited here')
    await select('delete from changes where memberId = ?', await memberIdOf(reader()))
    await reader().delete(`/books/${bookId}`)
    await here.app.sync()
    expect(await only(here, 'book')).toMatchObject({ value: { title: 'Demian' } })
    expect(here.sent.filter((sent) => sent === 'GET /changes').length).toBeGreaterThan(2)
    expect(await textOf(here)).toBe('edited here')
    expect(await here.app.kept()).toEqual([])
  })

  it('takes a creation as done that was deleted before its answer arrived, and keeps edits behind it', async () => {
    const { bookId } = await reader().createBook()
    const device = await syncedDevice()
    await device.app.create('memo', MEMO, bookId)
    await edit(device, 'edited here')
    device.network = loseAnswers
    await expect(device.app.sync()).rejects.toThrow('lost')
    const [{ memoId }] = (await getBook(reader(), bookId)).memosList
    await reader().delete(`/memos/${memoId}`)
    device.network = online
    await device.app.sync()
    expect(await device.app.list('memo')).toEqual([])
    expect(await device.app.kept()).toMatchObject([{ method: 'PATCH', body: { memoContent: 'edited here' } }])
  })

  it('does not repeat a creation after 300 days', async () => {
    const device = await syncedDevice()
    await device.app.create('book', { title: 'Demian' })
    device.network = loseAnswers
    await expect(device.app.sync()).rejects.toThrow('lost')
    device.network = online
    device.now += 301 * 86_400_000
    await device.app.sync()
    expect(device.sent.filter((sent) => sent === 'POST /books')).toHaveLength(1)
    expect(await device.app.kept()).toMatchObject([{ body: { title: 'Demian' } }])
  })

  it.each([
    ['', []],
    [', and without its version', ['ETag']],
  ])('shows an answered write until a pull has ended, even over an older page%s', async (_, dropped) => {
    const { here, there } = await twoDevices()
    await edit(here, 'edited here')
    // The pull fails after the push. A proxy may drop headers.
    here.network = async (_, method, send) => {
      if (method === 'GET') throw new Error('offline')
      const response = await send()
      const headers = [...response.headers].filter(([name]) => !dropped.some((each) => each.toLowerCase() === name))
      return new Response(response.body, { status: response.status, headers })
    }
    await expect(here.app.sync()).rejects.toThrow('offline')
    expect(await textOf(here)).toBe('edited here')
    await there.app.sync()
    await edit(there, 'edited there')
    await there.app.sync()
    // It is an edit of its own answer, which is no longer the newest text.
    await edit(here, 'edited here twice')
    here.network = online
    await here.app.sync()
    expect(await textOf(here)).toBe('edited there')
    expect(await here.app.kept()).toMatchObject([{ body: { memoContent: 'edited here twice' } }])
  })

  it.each([400, 401, 408, 429, 500, 503])('stops at %i, and goes on later', async (status) => {
    const device = await syncedDevice()
    await device.app.create('book', { title: 'Demian' })
    const headers = { 'Retry-After': '7', ...(status === 400 && { 'X-Error-Code': 'BODY_INCOMPLETE' }) }
    device.network = async () => new Response('{}', { status, headers })
    const stopped = await device.app.sync().catch((error) => error)
    expect(stopped).toBeInstanceOf(TryLater)
    expect(stopped).toMatchObject({ status, seconds: 7 })
    device.network = online
    await device.app.sync()
    expect((await reader().get('/books')).body.item).toHaveLength(1)
  })

  it('goes on after it was killed anywhere', async () => {
    await reader().createBook({ title: 'before' })
    let calls = 0
    for (let isDone = false; !isDone; calls++) {
      const device = createDevice()
      const key = await device.app.create('book', { title: `killed ${calls}` })
      await device.app.create('memo', MEMO, key)
      const { store, isKilled } = device.disk.open(calls)
      const dying = createClient({
        url: BASE,
        token: () => reader().token,
        store,
        fetch: (url, init) => handle(new Request(url, init), UNLIMITED),
      })
      await dying.sync().catch(() => {})
      isDone = !isKilled()
      const app = device.start()
      await app.sync()
      expect(await app.list('book')).toHaveLength(calls + 2)
      expect(await app.list('memo')).toHaveLength(calls + 1)
      expect(await app.kept()).toEqual([])
    }
    expect(calls).toBeGreaterThan(10)
    expect((await reader().get('/books?size=100')).body.item).toHaveLength(calls + 1)
  })

  it('never sends two requests at once', async () => {
    const device = await syncedDevice()
    let running = 0
    device.network = async (_, __, send) => {
      expect(++running).toBe(1)
      const response = await send()
      running -= 1
      return response
    }
    device.sent.length = 0
    await device.app.create('book', { title: 'one' })
    const first = device.app.sync()
    await device.app.create('book', { title: 'two' })
    await Promise.all([first, device.app.sync(), device.app.sync()])
    expect(device.sent.filter((sent) => sent === 'POST /books')).toHaveLength(2)
    expect(device.sent.filter((sent) => sent === 'GET /changes')).toHaveLength(3)
  })
})
