// A client that works offline: see offline-client.md. Two layers: the copy, which only the feed writes, and over it the outbox.
import {
  type Id,
  isBookDeletion,
  isCreation,
  isKnown,
  type Kind,
  lay,
  type Part,
  type Reached,
  type Shown,
  tagIdsOf,
  toShown,
  type Value,
  type Write,
  without,
} from './offline-shape.ts'

export { isCreation, type Shown, type Write } from './offline-shape.ts'

type Change = { kind: Kind; id: number; version?: number; value: Value | null }
type Answer = { status: number; body: unknown; version?: number; isReplayed: boolean }
/** A write that was not made, for the user to see. `answer`: why; absent if an earlier write that it depends on was refused. */
export type Kept = Write & { answer?: { status: number; body: Value } }

export type Store = {
  get(key: string): Promise<unknown>
  /** All entries whose keys begin with `prefix`, by key. */
  list(prefix: string): Promise<[key: string, value: unknown][]>
  /** All of the entries or none. Undefined deletes one. Values are JSON, and a Blob for each image. */
  write(entries: [key: string, value: unknown][]): Promise<void>
  /** Runs `work` alone among those of this name, also of other tabs: in browsers, navigator.locks.request. */
  lock<Result>(name: string, work: () => Promise<Result>): Promise<Result>
}
type Entries = [key: string, value: unknown][]

/** The service cannot answer now: call `sync` again after `seconds`. */
export class TryLater extends Error {
  status: number
  seconds: number
  constructor(status: number, seconds: number) {
    super(`The service answered ${status}`)
    this.status = status
    this.seconds = seconds
  }
}

const MAX_POST_AGE_MS = 300 * 86_400_000
/** yyyy-MM-ddTHH:mm:ss where the user is. */
const toLocal = (time: number) =>
  new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
const inOrder = (layer: string, seq: number) => `${layer}/${String(seq).padStart(12, '0')}`
/** Of a memo or a reading. */
const bookOf = ({ bookId }: Value) => bookId as Id | undefined
const pathOf = (write: Write) => {
  const { kind, id, part, bookId } = write
  if (!isCreation(write)) return `/${kind}s/${id}${part}`
  if (kind === 'image') return '/memos/image-memo'
  return { book: '/books', memo: `/memos?bookId=${bookId}`, reading: `/books/${bookId}/readings`, tag: '' }[kind]
}

/** Stands for the URL of an image in the texts of memos until the image is uploaded. */
const toAddress = (key: string) => `offline-image:${key}`
const ADDRESSES = /offline-image:([\da-f-]{36})/g
const contentOf = ({ body }: Write) => (typeof body?.memoContent === 'string' ? body.memoContent : '')
const withUrl = (write: Write, key: string, url: unknown): Write =>
  contentOf(write).includes(toAddress(key))
    ? { ...write, body: { ...write.body, memoContent: contentOf(write).replaceAll(toAddress(key), String(url)) } }
    : write

type Options = {
  url: string
  token: () => string
  store: Store
  fetch: (
    url: string,
    init: { method: string; headers: Record<string, string>; body?: string | FormData },
  ) => Promise<Response>
  now?: () => number
  /** Of a page. */
  size?: number
}

export const createClient = ({ url, token, store, fetch, now = Date.now, size = 200 }: Options) => {
  const request = async (method: string, path: string, sent?: Value | FormData, more: object = {}): Promise<Answer> => {
    const isForm = sent instanceof FormData
    const headers = {
      Authorization: `Bearer ${token()}`,
      ...(sent && !isForm && { 'Content-Type': 'application/json' }),
      ...more,
    }
    const response = await fetch(url + path, { method, headers, body: isForm ? sent : JSON.stringify(sent) })
    const { status } = response
    const text = await response.text()
    // Not refused: it did not arrive.
    const isCut = response.headers.get('X-Error-Code') === 'BODY_INCOMPLETE'
    if (isCut || status === 401 || status === 408 || status === 429 || status >= 500)
      throw new TryLater(status, Number(response.headers.get('Retry-After') ?? 60))
    const version = response.headers.get('ETag')?.match(/\d+/)?.[0]
    const isReplayed = response.headers.has('Idempotency-Replayed')
    return { status, body: text ? JSON.parse(text) : {}, version: version ? Number(version) : undefined, isReplayed }
  }
  const writesIn = async (layer: string) => (await store.list(`${layer}/`)).map(([, write]) => write as Kept)
  /** The identifier or version that the service has given, if it has answered. */
  const resolve = async <Found>(value: Found, field: 'id' | 'version') => {
    const answer = typeof value === 'string' ? await store.get(`answer/${value}`) : undefined
    return (answer as { id: Id; version?: number } | undefined)?.[field] ?? value
  }

  /** With the writes that the deletion of a book has dropped. */
  const toKept = (writes: Kept[]): Entries =>
    writes.flatMap(
      ({ dropped = [], ...write }): Entries => [
        [inOrder('outbox', write.seq), undefined],
        ...[write, ...dropped].map((each): [string, unknown] => [inOrder('kept', each.seq), each]),
      ],
    )

  /** Rules 4 to 6, and 8. */
  const settle = async (write: Write, { status, body, version, isReplayed }: Answer) => {
    const { key, seq, method, kind, part } = write
    const later = (await writesIn('outbox')).filter((other) => other.seq > seq)
    const dependsOn = (other: Write) =>
      (other.kind === kind && other.id === write.id) ||
      (status === 412 && isBookDeletion(other) && other.id === write.bookId) ||
      (isCreation(write) && (other.bookId === key || contentOf(other).includes(toAddress(key))))
    const behind = later.filter(dependsOn)
    if (status === 410 && isCreation(write))
      return store.write([[inOrder('outbox', seq), undefined], ...toKept(behind)])
    if (status === 412 && isBookDeletion(write))
      return store.write([[inOrder('outbox', seq), { ...write, since: undefined, refused: write.since }]])
    const answer = body as Value
    const row = (status === 412 ? (answer.memo ?? {}) : answer) as Value
    const differing = Object.entries(write.body ?? {}).filter(([name, value]) => row[name] !== value)
    const isSame = differing.length === 0
    const isDone =
      status < 300 || (status === 404 && method === 'DELETE') || (status === 412 && method === 'PATCH' && isSame)
    if (!isDone) return store.write(toKept([{ ...write, answer: { status, body: answer } }, ...behind]))
    const id = !isCreation(write) ? write.id : kind === 'image' ? (body as string) : (row[`${kind}Id`] as number)
    const isOther = isReplayed && differing.some(([name]) => name in row)
    const value = part === '/progress' || kind === 'image' || method === 'DELETE' ? undefined : row
    const done = { value, version, ...(isOther && { isOther }) }
    // After an edit elsewhere, those behind this write are stranded.
    const known = isOther && kind === 'memo' ? key : version
    const follow = (other: Write): Write => ({
      ...withUrl(other, key, id),
      id: other.id === key ? id : other.id,
      bookId: other.bookId === key ? id : other.bookId,
      base: other.base === key ? known : other.base,
      dropped: other.dropped?.map(follow),
    })
    return store.write([
      [inOrder('outbox', seq), { ...write, id, done }],
      [`answer/${key}`, { id, version: known }],
      [`image/${key}`, undefined],
      ...later.map((other): [string, unknown] => [inOrder('outbox', other.seq), follow(other)]),
    ])
  }

  /** The next write to send, marked as sent. Those that cannot be sent any more are kept. */
  const takeNext = async (): Promise<Write | undefined> => {
    const lost = (await writesIn('kept')).filter(({ kind }) => kind === 'image').map(({ key }) => toAddress(key))
    for (const write of await writesIn('outbox')) {
      if (write.done) continue
      const isTooOld = isCreation(write) && now() - (write.firstSent ?? now()) > MAX_POST_AGE_MS
      const isStranded =
        [isCreation(write) ? 0 : write.id, write.bookId, write.base].some((each) => typeof each === 'string') ||
        lost.some((address) => contentOf(write).includes(address))
      if (isTooOld || isStranded) {
        await store.write(toKept([write]))
        continue
      }
      const isWaiting = isBookDeletion(write) && !write.since
      if (!write.firstSent && !isWaiting)
        await store.write([[inOrder('outbox', write.seq), { ...write, firstSent: now() }]])
      return write
    }
    return undefined
  }

  /** Returns whether it stopped at the deletion of a book, which waits for a pull. */
  const push = async () => {
    for (;;) {
      const write = await store.lock('data', takeNext)
      if (!write || (isBookDeletion(write) && !write.since)) return write !== undefined
      const { method, kind, key, base, since } = write
      const headers = {
        ...(isCreation(write) && { 'Idempotency-Key': key }),
        ...(typeof base === 'number' && { 'If-Match': `"${base}"` }),
        ...(since && { 'If-Unchanged-Since': since }),
      }
      const form = new FormData()
      if (kind === 'image') form.append('file', (await store.get(`image/${key}`)) as Blob, 'image')
      const answer = await request(method, pathOf(write), kind === 'image' ? form : write.body, headers)
      await store.lock('data', () => settle(write, answer))
    }
  }

  const namesOf = (tags: Shown[]) => new Map<unknown, unknown>(tags.map(({ id, value }) => [id, value.tag]))
  const copyOf = async (kind: Kind) => (await store.list(`copy/${kind}/`)).map(([, object]) => object as Shown)

  /** Whether an answered write may have changed fields of the book that it does not name. */
  const derivesFields = ({ kind, id, bookId, part, done }: Write, book: Id) =>
    done &&
    ((kind === 'book' && id === book && ['', '/progress'].includes(part)) || (kind === 'reading' && bookId === book))

  /** The deletions of books of which a page has something that the user has not seen, with the first such change. */
  const findUnseen = async (items: Change[]): Promise<Kept[]> => {
    const outbox = await writesIn('outbox')
    const deletions = outbox.filter((write) => isBookDeletion(write) && !write.done)
    if (deletions.length === 0) return []
    const pulled = items.filter(({ value }) => value) as Shown[]
    const named = namesOf([...(await copyOf('tag')), ...pulled.filter(({ kind }) => kind === 'tag')])
    // A tag can come after its book. Until then, it has a name that no other tag has.
    const names = new Map([...pulled.flatMap(tagIdsOf).map((id) => [id, `\0${id}`] as const), ...named])
    const find = async (deletion: Kept) => {
      const derives = outbox.some((write) => derivesFields(write, deletion.id))
      for (const change of pulled) {
        const { kind, id, value } = change
        if (kind === 'tag' || (kind === 'book' ? id : value.bookId) !== deletion.id) continue
        const own = outbox.filter((write) => write.kind === kind && write.id === id && write.seq < deletion.seq)
        const copied = (await store.get(`copy/${kind}/${id}`)) as Shown | undefined
        if (!isKnown(toShown(change, names), copied && toShown(copied, names), deletion.seen ?? [], own, derives))
          return change
      }
      return undefined
    }
    const found = await Promise.all(deletions.map(find))
    return deletions.flatMap((deletion, at) => {
      const body = found[at] as Value | undefined
      return body ? { ...deletion, answer: { status: 412, body } } : []
    })
  }

  /**
   * Writes a page and its cursor to the copy. At the end, the writes that took effect leave the outbox, and deletions of
   * books can be sent.
   */
  const apply = async ({ item, next, hasMore }: { item: Change[]; next: string; hasMore: boolean }) => {
    const unseen = await findUnseen(item)
    const entries = new Map<string, unknown>([['cursor', next]])
    for (const change of item) {
      entries.set(`copy/${change.kind}/${change.id}`, change.value ? change : undefined)
      if (change.value || change.kind !== 'book') continue
      const children = [...(await store.list('copy/memo/')), ...(await store.list('copy/reading/')), ...entries]
      for (const [key, stored] of children) {
        const object = (entries.has(key) ? entries.get(key) : stored) as Shown | undefined
        if (key.startsWith('copy/') && object?.value.bookId === change.id) entries.set(key, undefined)
      }
    }
    const outbox = hasMore ? [] : await writesIn('outbox')
    const refused = (write: Kept) => unseen.some(({ seq }) => seq === write.seq)
    for (const write of outbox) {
      if (write.done) entries.set(inOrder('outbox', write.seq), undefined)
      if (write.done || !isBookDeletion(write) || refused(write)) continue
      // Refused again, though nothing has changed, it would be refused for ever.
      if (write.refused === next) unseen.push({ ...write, answer: { status: 412, body: {} } })
      else entries.set(inOrder('outbox', write.seq), { ...write, since: next })
    }
    await store.write([...entries, ...toKept(unseen)])
  }

  const pull = async () => {
    for (let hasMore = true; hasMore; ) {
      const cursor = await store.get('cursor')
      const { status, body } = await request('GET', `/changes?size=${size}${cursor ? `&cursor=${cursor}` : ''}`)
      if (status === 410) {
        const copy = (await store.list('copy/')).map(([key]): [string, unknown] => [key, undefined])
        await store.lock('data', () => store.write([['cursor', undefined], ...copy]))
        continue
      }
      if (status !== 200) throw new TryLater(status, 60)
      const page = body as Parameters<typeof apply>[0]
      await store.lock('data', () => apply(page))
      hasMore = page.hasMore
    }
  }

  type New = Pick<Write, 'method' | 'kind' | 'body' | 'base' | 'bookId'> & { id?: Id; part?: Part }
  const make = async ({ id, bookId, base, ...write }: New, key: string = crypto.randomUUID()): Promise<Write> => {
    const made: Write = {
      part: '',
      ...write,
      seq: 1 + Number((await store.get('made')) ?? 0),
      key,
      madeAt: now(),
      id: await resolve(id ?? key, 'id'),
      bookId: await resolve(bookId, 'id'),
      base: await resolve(base, 'version'),
    }
    const images = await Promise.all(
      [...contentOf(made).matchAll(ADDRESSES)].map(
        async ([, image = '']) => [image, await resolve(image, 'id')] as const,
      ),
    )
    return images.reduce((write, [image, found]) => (found === image ? write : withUrl(write, image, found)), made)
  }
  const add = (write: New) =>
    store.lock('data', async () => {
      const made = await make(write)
      await store.write([
        ['made', made.seq],
        [inOrder('outbox', made.seq), made],
      ])
      return made.key
    })

  /** Deletes a book. What has not been sent of it will not be. */
  const removeBook = (id: Id) =>
    store.lock('data', async () => {
      const made = await make({ method: 'DELETE', kind: 'book', id })
      const outbox = await writesIn('outbox')
      const isOfBook = ({ kind, id, bookId }: Write) => (kind === 'book' ? id : bookId) === made.id
      const unsent = outbox.filter((write) => !write.done && !write.firstSent && isOfBook(write))
      /** A memo with a text of another device that a write hides, also one that took effect: the user has not seen it. */
      const findHidden = async (memo: Id) => {
        const copied = (await store.get(`copy/memo/${memo}`)) as Shown | undefined
        const isSeen = ({ kind, id, base, body, done }: Write) =>
          kind === 'memo' &&
          id === memo &&
          (base === copied?.version ||
            done?.version === copied?.version ||
            body?.memoContent === copied?.value.memoContent)
        return outbox.some(isSeen) ? undefined : copied
      }
      const written = outbox.filter((write) => write.kind === 'memo' && isOfBook(write)).map(({ id }) => id)
      const [hidden] = (await Promise.all(written.map(findHidden))).filter((object) => object !== undefined)
      const copied = (await store.get(`copy/book/${made.id}`)) as Shown | undefined
      const pulled = copied && toShown(copied, namesOf(await copyOf('tag')))
      const writes = outbox.filter((write) => write.kind === 'book' && write.id === made.id && !unsent.includes(write))
      const shown = writes.reduce<Shown | undefined>(lay, pulled)
      const seen = [pulled, shown].flatMap((object): Value[] => (object ? [object.value] : []))
      const deletion: Kept = { ...made, seen, dropped: unsent }
      const isUnknown = unsent.some((write) => write.kind === 'book' && isCreation(write))
      await store.write([
        ['made', made.seq],
        ...unsent.map(({ seq }): [string, unknown] => [inOrder('outbox', seq), undefined]),
        ...(hidden ? toKept([{ ...deletion, answer: { status: 412, body: hidden } }]) : []),
        ...(isUnknown || hidden ? [] : ([[inOrder('outbox', made.seq), deletion]] satisfies Entries)),
      ])
      return made.key
    })

  /** The copy with the outbox over it. */
  const list = (kind: Kind) =>
    store.lock('data', async () => {
      const names = namesOf(kind === 'book' ? await copyOf('tag') : [])
      const shown = new Map((await copyOf(kind)).map((object) => [object.id, toShown(object, names)]))
      const deleted = new Set<unknown>()
      for (const write of await writesIn('outbox')) {
        if (isBookDeletion(write)) deleted.add(write.id)
        const object = shown.get(write.id)
        if (write.kind !== kind) continue
        if (write.method === 'DELETE') shown.delete(write.id)
        else if (object || isCreation(write)) shown.set(write.id, lay(object, write))
      }
      return [...shown.values()].filter(({ value }) => !deleted.has(value.bookId))
    })

  return {
    list,
    get: async (kind: Kind, id: Id) => {
      const known = await resolve(id, 'id')
      return (await list(kind)).find((object) => object.id === known)
    },
    /** Returns its identifier until the service gives it one; `get` and `bookId` accept it for good. */
    create: (kind: 'book' | 'memo' | 'reading', body: Write['body'], bookId?: Id) =>
      add({ method: 'POST', kind, body, bookId }),
    /** @param seen what the user edited, from `list` or `get`. A book's title, cover and edition need `updateEdition` */
    update: ({ kind, id, version, value }: Shown, body: Write['body']) => {
      // With its text, so that a 412 shows whether an earlier attempt took effect.
      const text = kind === 'memo' && { memoContent: value.memoContent }
      // A book that is read counts in no year without its day.
      const isFinished = kind === 'book' && body?.bookStatus === 'DONE' && value.bookStatus !== 'DONE'
      const day = isFinished && { readEndDate: toLocal(now()) }
      return add({
        method: 'PATCH',
        kind,
        id,
        bookId: bookOf(value),
        body: { ...text, ...day, ...body },
        base: version,
      })
    },
    updateEdition: ({ kind, id }: Shown, body: Write['body']) =>
      add({ method: 'PATCH', kind, id, part: '/edition', body }),
    remove: ({ kind, id, version, value }: Shown) =>
      kind === 'book' ? removeBook(id) : add({ method: 'DELETE', kind, id, bookId: bookOf(value), base: version }),
    /** Sends only what differs from the tags that the user saw. */
    setTags: async ({ kind, id, value }: Shown, tags: string[]) => {
      const seen = value.tags as string[]
      const body = { add: without(tags, seen), remove: without(seen, tags) }
      if (body.add.length + body.remove.length === 0) return undefined
      return add({ method: 'PATCH', kind, id, part: '/tags', body })
    },
    /** What was reached, and in how many minutes: with its time, so that it can be repeated. */
    addProgress: ({ kind, id }: Shown, reached: Reached) =>
      add({ method: 'POST', kind, id, part: '/progress', body: { ...reached, at: new Date(now()).toISOString() } }),
    /** Returns its address, for the text of a memo, where the URL will take its place. */
    addImage: (image: Blob) =>
      store.lock('data', async () => {
        const made = await make({ method: 'POST', kind: 'image' })
        await store.write([
          ['made', made.seq],
          [`image/${made.key}`, image],
          [inOrder('outbox', made.seq), made],
        ])
        return toAddress(made.key)
      }),
    /** The image of an address, until it is uploaded. */
    getImage: (address: string) => store.get(address.replace('offline-image:', 'image/')) as Promise<Blob | undefined>,
    /** Writes that were refused, until the user has seen them and `discard` is called. */
    kept: () => writesIn('kept'),
    discard: ({ seq, key }: Kept) =>
      store.write([
        [inOrder('kept', seq), undefined],
        [`image/${key}`, undefined],
      ]),
    /** Pushes, then pulls; again if a deletion waited. @throws TryLater, or what `fetch` throws: nothing is lost, call it again */
    sync: () =>
      store.lock('sync', async () => {
        for (let isWaiting = true; isWaiting; ) {
          isWaiting = await push()
          await pull()
        }
      }),
  }
}
