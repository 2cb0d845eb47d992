// What users do on devices and elsewhere.
import type { Shown } from '../../../docs/offline-client'
import { PIXEL } from '../inputs/file-form'
import { keysOf, textsOf } from './checks'
import type { Value } from './comparable'
import type { Device } from './devices'
import type { Draw } from './draw'
import { JSON_TYPE, NAMES, type Network } from './network'

const TAGS = ['Sea', 'Lamp', 'Salt', 'sEA']
const GOODREADS = 'Book Id,Title,Author,My Rating,Exclusive Shelf,Bookshelves,Date Read,My Review'
export const pick = <T>(draw: Draw, list: T[]) => (list.length > 0 ? list[draw(list.length)] : undefined)

export const expectKilled = (error: Error) => {
  if (error.message !== 'killed') throw error
}

/** Deletes a book, and remembers what the user saw of it, and what was dropped with it. */
const removeBook = async (device: Device, { checks, history }: Network, book: Shown) => {
  const { client } = device.app
  const isOfBook = ({ value }: Shown) => value.bookId === book.id
  const shown = [book, ...(await client.list('memo')), ...(await client.list('reading'))].filter(isOfBook)
  const before = device.outbox()
  const texts = textsOf(shown, device.copy().filter(isOfBook), before)
  const deletion = await client.remove(book)
  const left = new Set([...device.outbox(), ...device.kept()].map(({ key }) => key))
  const isBehind = before.some(
    ({ key, kind, id, bookId }) => left.has(key) && (kind === 'book' ? id : bookId) === book.id,
  )
  // Those that a dropped write would have added or removed, too.
  const tags = before.flatMap(({ body = {} }) => [body.add ?? [], body.remove ?? []] as string[][]).flat()
  checks.saw.set(deletion, { texts, tags: keysOf([...(book.value.tags as string[]), ...tags]), isBehind })
  const dropped = before.filter(({ key }) => !left.has(key))
  for (const { key } of dropped) device.dropped.set(key, deletion)
  history.reached['writes dropped with the deletion of their book'] += dropped.length
}
const setTags = async (device: Device, { checks }: Network, book: Shown, tags: string[]) => {
  const key = await device.app.client.setTags(book, tags)
  if (key) checks.sawTags.set(key, keysOf(book.value.tags as string[]))
}

/** `tags`: only actions on tags, memos and deletions. `trash`: clients without sync write more, and mostly to and from the trash. */
export type Scope = 'all' | 'tags' | 'trash'

/** What a user does on a device, on line or not. */
export const act = async (device: Device, network: Network, draw: Draw, mark: number, scope: Scope) => {
  const { client } = device.app
  let saw: unknown
  const see = (object: Shown) => {
    saw = object.value[NAMES[object.kind]]
    return object
  }
  // Often the last, which may not have been sent.
  const shown = async (kind: Shown['kind']) => {
    const object = pick(draw, (await client.list(kind)).slice(draw(3) > 0 ? 0 : -1))
    return object && see(object)
  }
  const tag = async () => {
    const book = await shown('book')
    const seen = (book?.value.tags ?? []) as string[]
    // Often all that it has, and one more.
    const tags = draw(2) ? [...seen, TAGS[draw(4)] as string] : TAGS.slice(draw(3), 1 + draw(4))
    return book && setTags(device, network, book, tags)
  }
  const remove = async () => {
    const book = await shown('book')
    return book && removeBook(device, network, book)
  }
  const edit = async () => {
    const memo = draw(3) > 0 ? await shown('memo') : device.open
    return memo && client.update(see(memo), draw(5) > 0 ? { memoContent: `Edit ${mark}` } : { memoBookPage: mark })
  }
  const removeMemo = async () => {
    const memo = draw(2) > 0 ? await shown('memo') : device.open
    return memo && client.remove(see(memo))
  }
  const both: (() => Promise<unknown>)[] = [
    () => client.create('book', { title: `Book ${mark}`, bookStatus: ['YET', 'ING', 'DONE'][draw(3)] }),
    async () => {
      const book = await shown('book')
      const memo = { memoBookPage: draw(9), memoContent: `Memo ${mark}`, memoType: 'THOUGHT' }
      return book && client.create('memo', memo, book.id)
    },
    tag,
    async () => draw(3) === 0 && remove(),
  ]
  const others: (() => Promise<unknown>)[] = [
    async () => {
      const book = await shown('book')
      const image = book && (await client.addImage(new Blob([PIXEL], { type: 'image/png' })))
      return book && client.create('memo', { memoBookPage: 1, memoContent: `Image ${mark} ${image}` }, book.id)
    },
    async () => {
      const book = await shown('book')
      return book && client.create('reading', { finishedAt: '2020', note: `Note ${mark}` }, book.id)
    },
    async () => {
      device.open = pick(draw, await client.list('memo'))
    },
    async () => {
      const book = await shown('book')
      return (
        book && client.update(book, draw(2) ? { author: `Author ${mark}` } : { star: draw(6), bookStatus: draw(3) })
      )
    },
    async () => {
      const book = await shown('book')
      return book && client.addProgress(book, { page: draw(300), ...(draw(2) > 0 && { minutes: 1 + draw(60) }) })
    },
    async () => {
      const reading = await shown('reading')
      return reading && client.update(reading, { rating: (1 + draw(20)) / 4 })
    },
    async () => {
      const reading = draw(3) === 0 ? await shown('reading') : undefined
      return reading && client.remove(reading)
    },
  ]
  const ofTags = [...both, ...both, remove, tag, edit, removeMemo]
  await pick(draw, scope === 'tags' ? ofTags : [...both, edit, edit, edit, edit, removeMemo, ...others])?.().catch(
    expectKilled,
  )
  device.record(saw)
}

/**
 * Another client changes a memo whose creation got no answer; the user may edit it on the device that created it.
 * @param key the key of its creation
 */
export const changeUnanswered = async (
  { app: { client }, record }: Device,
  { call }: Network,
  draw: Draw,
  mark: number,
  { memoId, key }: { memoId: number; key: string },
) => {
  if (draw(3) > 0) await call('PATCH', `/memos/${memoId}`, { memoContent: `Web edit ${mark}` })
  else await call('DELETE', `/memos/${memoId}`)
  const memo = draw(2) ? await client.get('memo', key).catch(expectKilled) : undefined
  if (memo) await client.update(memo, { memoContent: `Edit ${mark}` }).catch(expectKilled)
  record(memo?.value.memoContent)
}

/** What clients without sync do. */
export const interfere = async (
  { call, request, checks, ids, learn, known }: Network,
  draw: Draw,
  mark: number,
  scope: Scope,
) => {
  // Often the newest, whose answer may have been lost.
  const [book, memo, reading] = [ids.book, ids.memo, ids.reading].map(
    (list) => pick(draw, [...list].slice(draw(3) > 0 ? 0 : -1)) ?? 0,
  )
  const pair = [pick(draw, [...ids.book]) ?? 0, book ?? 0] as const
  const importFile = async (body: string, type: string) => {
    const { importId } = (await (await request('POST', '/imports', { body, type })).json()) as Value
    learn('import', importId)
    while ((await call('GET', `/imports/${importId}`)).body.status === 'RUNNING');
  }
  const ofTrash: (() => Promise<unknown>)[] = [
    () => call('DELETE', `/memos/${memo}`),
    async () => draw(2) === 0 && call('DELETE', `/books/${book}`),
    async () => {
      for (const id of pair) await call('PATCH', `/books/${id}`, { currentPage: 1 + draw(300) })
      known.pair = pair
    },
    ...[pair, known.pair].map(
      ([from, to]) =>
        () =>
          call('POST', `/books/${to}/merge`, { from }),
    ),
    async () => {
      if (draw(4) > 0) return
      const row = (id: number) => `${id},Imported ${id},Mina Oh,${draw(6)},read,sea,2026/01/02,Review ${mark}`
      await importFile([GOODREADS, row(draw(3)), row(3 + draw(3))].join('\n'), 'text/csv')
    },
    () => call('DELETE', `/imports/${pick(draw, [...ids.import]) ?? 0}`),
    ...Array.from({ length: 4 }, () => async () => {
      const entry = pick<Value>(draw, (await call('GET', '/trash?size=100')).body.item)
      if (entry && draw(8) === 0) await call('DELETE', draw(2) ? `/trash/${entry.trashId}` : '/trash')
      else if (entry) await call('POST', `/trash/${entry.trashId}/restore`)
    }),
  ]
  const actions: (() => Promise<unknown>)[] = [
    async () =>
      learn('book', (await call('POST', '/books', { title: `Web ${mark}`, bookStatus: draw(3) })).body.bookId),
    async () => {
      const sent = { memoBookPage: 1, memoContent: `Web memo ${mark}` }
      const { status, body } = await call('POST', `/memos?bookId=${book}`, sent)
      if (status === 201) learn('memo', body.memoId)
    },
    ...Array.from({ length: 3 }, () => () => call('PATCH', `/memos/${memo}`, { memoContent: `Web edit ${mark}` })),
    () => call('PATCH', `/books/${book}`, draw(2) ? { author: `Web ${mark}` } : { currentPage: draw(300) }),
    () => call('PATCH', `/books/created-date/${book}`, `2020-01-0${1 + draw(9)}T00:00:00`),
    () => call('PATCH', `/books/${book}/edition`, { seriesNumber: draw(9) + 0.5 }),
    () => call('PUT', `/books/${book}/tags`, { tags: TAGS.slice(draw(3), 1 + draw(3)) }),
    () => call('PATCH', `/books/${book}/tags`, { add: [TAGS[draw(4)]], remove: [TAGS[draw(4)]] }),
    () => {
      const [from, to] = [TAGS[draw(4)], TAGS[draw(4)] as string]
      checks.renameTag(to)
      return call('PATCH', '/tags', { from, to })
    },
    () => call('DELETE', `/tags?tag=${TAGS[draw(4)]}`),
    () => call('DELETE', `/readings/${reading}`),
    async () => {
      if (draw(4) > 0) return
      const library = (await call('GET', '/export')).body
      const event = { at: `202${draw(5)}-01-01T00:00:00.000Z`, page: draw(300), kind: 'PROGRESS' }
      for (const { progress } of library.books) if (draw(2)) progress.unshift(event)
      await importFile(JSON.stringify(library), JSON_TYPE)
    },
    ...ofTrash,
  ]
  await pick(draw, scope === 'trash' && draw(4) > 0 ? ofTrash : actions)?.()
}
