// What the offline client does with deletions of books, tags, images, and the shape of what is still to be sent.
import { describe, expect, it } from 'vitest'
import type { Shown } from '../../../docs/offline-client'
import { select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { PIXEL } from '../../support/inputs/file-form'
import { getBook } from '../../support/library'
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

const MEMO = { memoBookPage: 1, memoContent: 'A thought' }
const removeOnly = async (device: Device) => device.app.remove(await only(device, 'book'))
const exists = async (bookId: number) => (await reader().get(`/books/${bookId}?memoAuthority=ALL`)).status === 200
const keptOf = async ({ app }: Device) =>
  (await app.kept()).map(({ method, kind, answer }) => [method, kind, answer?.status])
const offline = async () => {
  throw new Error('offline')
}

/** Two devices that have the same book with a memo. */
const twoDevices = async () => {
  const { bookId } = await reader().createBook({ bookStatus: 'ING' })
  const { memoId } = await reader().createMemo(bookId)
  return { bookId, memoId, here: await syncedDevice(), there: await syncedDevice() }
}

describe('the deletion of a book', () => {
  it.each<[string, (device: Device, book: Shown, memo: Shown) => Promise<unknown>]>([
    ['a memo', ({ app }, { id }) => app.create('memo', { memoBookPage: 1, memoContent: 'An hour of notes' }, id)],
    ['an edit of a memo', ({ app }, _, memo) => app.update(memo, { memoContent: 'edited' })],
    ['a reading', ({ app }, { id }) => app.create('reading', { finishedAt: '2020' }, id)],
    ['a tag', ({ app }, book) => app.setTags(book, ['Sea'])],
    ['progress', ({ app }, book) => app.addProgress(book, { page: 9 })],
    ['an edition', ({ app }, book) => app.updateEdition(book, { series: 'Cosmos' })],
  ])('is kept if another device has added %s, and shows the book again', async (_, change) => {
    const { bookId, here, there } = await twoDevices()
    await removeOnly(here)
    await change(there, await only(there, 'book'), await only(there, 'memo'))
    await there.app.sync()
    expect(await here.app.list('book')).toEqual([])
    await here.app.sync()
    expect(await keptOf(here)).toEqual([['DELETE', 'book', 412]])
    expect(await here.app.list('book')).toEqual(await there.app.list('book'))
    expect(await here.app.list('memo')).toEqual(await there.app.list('memo'))
    expect(await exists(bookId)).toBe(true)
    // The user, who has now seen it, can delete it.
    await removeOnly(here)
    await here.app.sync()
    expect(await exists(bookId)).toBe(false)
  })

  it('is kept if another device writes between its pull and its request', async () => {
    const { bookId, here } = await twoDevices()
    await removeOnly(here)
    let deletions = 0
    here.network = async (_, method, send) => {
      if (method === 'DELETE' && deletions++ === 0) await reader().createMemo(bookId)
      return send()
    }
    await here.app.sync()
    expect([deletions, await exists(bookId)]).toEqual([1, true])
    expect(await keptOf(here)).toEqual([['DELETE', 'book', 412]])
    expect(await here.app.list('memo')).toHaveLength(2)
  })

  it.each<[string, (device: Device) => Promise<unknown>]>([
    ['a new memo', async ({ app }) => app.create('memo', MEMO, (await app.list('book'))[0]?.id)],
    ['a memo', async (device) => device.app.update(await only(device, 'memo'), { memoContent: 'edited' })],
    ['fields', async (device) => device.app.update(await only(device, 'book'), { star: 3, bookStatus: 'DONE' })],
    ['progress', async (device) => device.app.addProgress(await only(device, 'book'), { page: 9 })],
    ['tags', async (device) => device.app.setTags(await only(device, 'book'), ['Sea', 'Lamp'])],
    ['an edition', async (device) => device.app.updateEdition(await only(device, 'book'), { isbn: '89-364-3412-8' })],
    ['a reading', async (device) => device.app.update(await only(device, 'reading'), { rating: 4.5, note: 'Again' })],
  ])('is sent if only this device has changed the book: %s', async (_, change) => {
    const { bookId, here } = await twoDevices()
    await change(here)
    // The writes took effect, but the device did not pull.
    here.network = (_, method, send) => (method === 'GET' ? offline() : send())
    await expect(here.app.sync()).rejects.toThrow('offline')
    await removeOnly(here)
    here.network = online
    await here.app.sync()
    expect(await keptOf(here)).toEqual([])
    expect(await exists(bookId)).toBe(false)
  })

  it('drops the edits of the book that have not been sent, and keeps them if it is refused', async () => {
    const { bookId, memoId, here, there } = await twoDevices()
    const add = async () => {
      await here.app.create('memo', { ...MEMO, memoContent: 'never sent' }, bookId)
      await here.app.update((await here.app.get('memo', memoId)) as Shown, { memoContent: 'nor this' })
      await here.app.update(await only(here, 'book'), { star: 2 })
      await removeOnly(here)
    }
    await add()
    await there.app.update(await only(there, 'memo'), { memoContent: 'edited there' })
    await there.app.sync()
    await here.app.sync()
    expect(here.sent.filter((sent) => /POST|PATCH|DELETE/.test(sent))).toEqual([])
    const kept = await here.app.kept()
    expect(kept.map(({ method, kind, body }) => [method, kind, body?.memoContent])).toEqual([
      ['POST', 'memo', 'never sent'],
      ['PATCH', 'memo', 'nor this'],
      ['PATCH', 'book', undefined],
      ['DELETE', 'book', undefined],
    ])
    for (const each of kept) await here.app.discard(each)
    await add()
    await here.app.sync()
    expect(here.sent.filter((sent) => /POST|PATCH|DELETE/.test(sent))).toEqual([`DELETE /books/${bookId}`])
    expect(await here.app.kept()).toEqual([])
  })

  it.each([
    ['before it was sent', false],
    ['after it was sent', true],
  ])('is kept if an edit hid the text of another device, deleted %s', async (_, isSent) => {
    const { bookId, memoId, here } = await twoDevices()
    await reader().patch(`/memos/${memoId}`, { memoContent: 'edited there' })
    // While the pull runs that brings the text.
    here.network = async (_, __, send) => {
      here.network = online
      await here.app.update(await only(here, 'memo'), { memoContent: 'edited here' })
      return send()
    }
    await here.app.sync()
    expect((await only(here, 'memo')).value.memoContent).toBe('edited here')
    here.network = loseAnswers
    if (isSent) await expect(here.app.sync()).rejects.toThrow('lost')
    here.network = online
    await removeOnly(here)
    await here.app.sync()
    expect(await exists(bookId)).toBe(true)
    expect((await only(here, 'memo')).value.memoContent).toBe('edited there')
    expect(await keptOf(here)).toEqual([
      ['PATCH', 'memo', isSent ? 412 : undefined],
      ['DELETE', 'book', 412],
    ])
  })

  it('is kept if its own memo hid the text of another device while a pull was interrupted', async () => {
    const { bookId } = await reader().createBook()
    const here = createDevice()
    here.size = 1
    here.app = here.start()
    await here.app.sync()
    await here.app.create('memo', MEMO, bookId)
    let pages = 0
    here.network = async (_, method, send) => {
      if (method === 'GET' && ++pages > 1) throw new Error('offline')
      const response = await send()
      if (method !== 'POST') return response
      const { memoId } = await response.clone().json<{ memoId: number }>()
      await reader().patch(`/memos/${memoId}`, { memoContent: 'edited there' })
      await reader().createBook()
      return response
    }
    await expect(here.app.sync()).rejects.toThrow('offline')
    expect((await only(here, 'memo')).value.memoContent).toBe(MEMO.memoContent)
    await removeOnly(here)
    here.network = online
    await here.app.sync()
    expect(await exists(bookId)).toBe(true)
    expect((await only(here, 'memo')).value.memoContent).toBe('edited there')
    expect(await keptOf(here)).toEqual([['DELETE', 'book', 412]])
  })

  it('waits for edits that may have arrived', async () => {
    const { bookId, here } = await twoDevices()
    await here.app.create('memo', MEMO, bookId)
    here.network = loseAnswers
    await expect(here.app.sync()).rejects.toThrow('lost')
    await removeOnly(here)
    here.network = online
    await here.app.sync()
    expect(here.sent.filter((sent) => /POST|DELETE/.test(sent))).toEqual([
      'POST /memos',
      'POST /memos',
      `DELETE /books/${bookId}`,
    ])
    expect([await keptOf(here), await exists(bookId)]).toEqual([[], false])
  })

  it('sends nothing of a book that was made and deleted offline', async () => {
    const device = await syncedDevice()
    const book = await device.app.create('book', { title: 'Demian' })
    await device.app.create('memo', MEMO, book)
    await removeOnly(device)
    await device.app.create('book', { title: 'Kept' })
    await device.app.sync()
    expect(device.sent.filter((sent) => /POST|DELETE/.test(sent))).toEqual(['POST /books'])
    expect([await device.app.list('memo'), await device.app.kept()]).toEqual([[], []])
  })

  it('is kept if it was made before the first sync ended, and what comes then was not seen', async () => {
    const { bookId } = await reader().createBook()
    await reader().createMemo(bookId)
    const device = createDevice()
    device.size = 1
    device.app = device.start()
    let pages = 0
    device.network = (_, __, send) => (pages++ === 1 ? offline() : send())
    await expect(device.app.sync()).rejects.toThrow('offline')
    await removeOnly(device)
    await device.app.sync()
    expect([await keptOf(device), await exists(bookId)]).toEqual([[['DELETE', 'book', 412]], true])
    expect(await device.app.list('memo')).toHaveLength(1)
  })

  it.each<[string, (device: Device, book: Shown) => Promise<unknown>, change: (bookId: number) => Promise<unknown>]>([
    [
      'a tag',
      ({ app }, book) => app.setTags(book, ['Sea']),
      (bookId) => reader().patch(`/books/${bookId}/tags`, { add: ['Lamp'] }),
    ],
    [
      'an author',
      ({ app }, book) => app.update(book, { star: 3 }),
      (bookId) => reader().patch(`/books/${bookId}`, { author: 'Mina Oh' }),
    ],
    [
      'a series',
      ({ app }, book) => app.updateEdition(book, { language: 'ko' }),
      (bookId) => reader().patch(`/books/${bookId}/edition`, { series: 'Cosmos' }),
    ],
  ])(
    'is kept if the answer to an own write, which came later, shows %s of another device',
    async (_, write, change) => {
      const { bookId, here } = await twoDevices()
      await write(here, await only(here, 'book'))
      here.network = loseAnswers
      await expect(here.app.sync()).rejects.toThrow('lost')
      here.network = online
      await removeOnly(here)
      await change(bookId)
      await here.app.sync()
      expect([await keptOf(here), await exists(bookId)]).toEqual([[['DELETE', 'book', 412]], true])
    },
  )

  it('is kept if a new memo was edited elsewhere before its answer arrived', async () => {
    const { bookId, here } = await twoDevices()
    await here.app.create('memo', MEMO, bookId)
    here.network = loseAnswers
    await expect(here.app.sync()).rejects.toThrow('lost')
    here.network = online
    await removeOnly(here)
    const [{ memoId }] = (await getBook(reader(), bookId)).memosList
    await reader().patch(`/memos/${memoId}`, { memoContent: 'edited there' })
    await here.app.sync()
    expect([await keptOf(here), await exists(bookId)]).toEqual([[['DELETE', 'book', 412]], true])
  })

  it('is kept if another tag has been given the identifier of one that its user saw', async () => {
    const { bookId, here } = await twoDevices()
    await reader().patch(`/books/${bookId}/tags`, { add: ['Sea'] })
    await here.app.sync()
    await removeOnly(here)
    await reader().patch(`/books/${bookId}/tags`, { remove: ['Sea'] })
    await reader().patch(`/books/${bookId}/tags`, { add: ['Lamp'] })
    here.size = 1
    here.app = here.start()
    await here.app.sync()
    expect([await keptOf(here), await exists(bookId)]).toEqual([[['DELETE', 'book', 412]], true])
  })

  it('is kept if the book has a tag whose name comes later', async () => {
    const { bookId } = await reader().createBook()
    await reader().send('PUT', `/books/${bookId}/tags`, { body: { tags: ['Sea'] } })
    const device = createDevice()
    device.size = 1
    device.app = device.start()
    await device.app.create('book', { title: 'Tagged later' })
    // The pages of tags and of the first book. Then there is another tag, of which no page has told yet.
    let pages = 0
    device.network = (_, method, send) => (method === 'GET' && pages++ === 2 ? offline() : send())
    await expect(device.app.sync()).rejects.toThrow('offline')
    const book = (await device.app.list('book')).at(-1) as Shown
    await reader().send('PUT', `/books/${book.id}/tags`, { body: { tags: ['Lamp'] } })
    await device.app.remove(book)
    device.network = online
    await device.app.sync()
    expect([await keptOf(device), await exists(Number(book.id))]).toEqual([[['DELETE', 'book', 412]], true])
  })

  it('is kept if the cursor was refused, as the new copy has only what was not seen', async () => {
    const { bookId, here } = await twoDevices()
    await removeOnly(here)
    await select('delete from changes where memberId = ?', await memberIdOf(reader()))
    await here.app.sync()
    expect([await keptOf(here), await exists(bookId)]).toEqual([[['DELETE', 'book', 412]], true])
    expect(await here.app.list('book')).toHaveLength(1)
  })

  it('is kept if it is refused though nothing has changed', async () => {
    const { here } = await twoDevices()
    await removeOnly(here)
    here.network = async (_, method, send) => (method === 'DELETE' ? new Response('{}', { status: 412 }) : send())
    await here.app.sync()
    expect(await keptOf(here)).toEqual([['DELETE', 'book', 412]])
    expect(here.sent.filter((sent) => sent.startsWith('DELETE'))).toHaveLength(1)
  })
})

it('changes the tags that the user changed, and no others', async () => {
  const { bookId, here, there } = await twoDevices()
  await here.app.setTags(await only(here, 'book'), ['Sea', 'Lamp'])
  await here.app.sync()
  await there.app.sync()
  await here.app.setTags(await only(here, 'book'), ['SEA', 'Salt'])
  await there.app.setTags(await only(there, 'book'), ['Lamp', 'Sea', 'Tide'])
  expect((await only(here, 'book')).value.tags).toEqual(['Salt', 'Sea'])
  expect((await only(there, 'book')).value.tags).toEqual(['Lamp', 'Sea', 'Tide'])
  for (const device of [here, there, here]) await device.app.sync()
  for (const device of [here, there]) expect((await only(device, 'book')).value.tags).toEqual(['Salt', 'Sea', 'Tide'])
  expect((await reader().get(`/books/${bookId}/tags`)).body.tags).toEqual(['Salt', 'Sea', 'Tide'])
  // A form that changes nothing sends nothing.
  const { length } = here.sent
  await here.app.setTags(await only(here, 'book'), ['tide', 'Salt', 'Sea'])
  await here.app.sync()
  expect(here.sent.slice(length)).toEqual(['GET /changes'])
})

it('shows objects in one shape, whether they are to be sent, answered, or pulled', async () => {
  const device = await syncedDevice()
  const book = await device.app.create('book', { title: 'Demian', isbn: '9788936434120', author: 'Hermann Hesse' })
  await device.app.create('memo', MEMO, book)
  await device.app.create('reading', { finishedAt: '2020', outcome: 'FINISHED' }, book)
  await device.app.setTags(await only(device, 'book'), ['Sea'])
  await device.app.updateEdition(await only(device, 'book'), { series: 'Cosmos' })
  await device.app.addProgress(await only(device, 'book'), { page: 30 })
  const shownBook = async () => (await only(device, 'book')).value
  const shape = async () => {
    const values = [await shownBook(), (await only(device, 'memo')).value, (await device.app.list('reading'))[0]?.value]
    return values.map((value = {}) => [
      Object.keys(value).sort(),
      Object.keys((value.edition as object | undefined) ?? {}),
      Object.keys((value.progress as object | undefined) ?? {}),
    ])
  }
  const shown = {
    tags: ['Sea'],
    edition: { isbn: '9788936434120', series: 'Cosmos', language: null },
    currentPage: 30,
    progress: { count: 1, latestAt: expect.stringMatching(/:\d\dZ$/) },
  }
  const toBeSent = await shape()
  expect(await shownBook()).toMatchObject(shown)
  device.network = (_, method, send) => (method === 'GET' ? offline() : send())
  await expect(device.app.sync()).rejects.toThrow('offline')
  expect(await shape()).toEqual(toBeSent)
  expect(await shownBook()).toMatchObject(shown)
  device.network = online
  await device.app.sync()
  expect(await shape()).toEqual(toBeSent)
  expect(await shownBook()).toMatchObject(shown)
})

describe('an image', () => {
  const image = new Blob([PIXEL], { type: 'image/png' })
  const imagesOf = async () => (await reader().get('/images?page=1&size=9')).body.item

  it('is shown offline, is uploaded once, and its URL takes the place of its address', async () => {
    const { bookId } = await reader().createBook()
    const device = await syncedDevice()
    const address = await device.app.addImage(image)
    await device.app.create('memo', { ...MEMO, memoContent: `<img src="${address}">` }, bookId)
    expect((await only(device, 'memo')).value.memoContent).toContain(address)
    expect(await device.app.getImage(address)).toEqual(image)
    device.network = loseAnswers
    await expect(device.app.sync()).rejects.toThrow('lost')
    device.network = online
    await device.app.sync()
    const [{ url }] = await imagesOf()
    expect(await imagesOf()).toHaveLength(1)
    expect((await getBook(reader(), bookId)).memosList[0].memoContent).toBe(`<img src="${url}">`)
    expect((await only(device, 'memo')).value.memoContent).toBe(`<img src="${url}">`)
    expect(await device.app.getImage(address)).toBeUndefined()
    // A form that was open meanwhile.
    await device.app.update(await only(device, 'memo'), { memoContent: `${address} again` })
    expect((await only(device, 'memo')).value.memoContent).toBe(`${url} again`)
  })

  it('that is refused is kept with the memos that show it', async () => {
    const { bookId } = await reader().createBook()
    const device = await syncedDevice()
    const address = await device.app.addImage(new Blob(['no image']))
    const memo = { ...MEMO, memoContent: `<img src="${address}">` }
    await device.app.create('memo', memo, bookId)
    await device.app.create('memo', MEMO, bookId)
    await device.app.sync()
    await device.app.create('memo', memo, bookId)
    await device.app.sync()
    expect(await keptOf(device)).toEqual([
      ['POST', 'image', 415],
      ['POST', 'memo', undefined],
      ['POST', 'memo', undefined],
    ])
    expect(await only(device, 'memo')).toMatchObject({ value: MEMO })
    expect(await device.app.getImage(address)).toBeInstanceOf(Blob)
    for (const each of await device.app.kept()) await device.app.discard(each)
    expect(await device.app.getImage(address)).toBeUndefined()
  })
})
