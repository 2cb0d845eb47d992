// A client that works offline: see offline-client.md. Two layers: the copy, which only the feed writes, and over it the outbox.

type Kind = 'book' | 'memo' | 'reading' | 'tag'
/** A string until the service has created it: the key of the write that creates it. */
type Id = number | string
/** Of a memo. A string while it is that of a write without an answer: the key of the write. */
type Version = number | string | null | undefined
export type Shown = { kind: Kind; id: Id; version?: Version; value: Record<string, unknown> }
type Change = { kind: Kind; id: number; version?: number; value: Shown['value'] | null }
/** Of a book. Without one, the write is about the object itself. */
type Part = '' | '/edition' | '/tags' | '/progress'
export type Write = {
  seq: number
  /** Sent as Idempotency-Key. */
  key: string
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  kind: Kind
  id: Id
  part: Part
  bookId?: Id
  body?: Record<string, unknown>
  /** The version that the user saw. */
  base?: Version
  firstSent?: number
  /** Set once it took effect. */
  done?: { value?: Record<string, unknown>; version?: Version }
}
type Answer = { status: number; body: Record<string, unknown>; version?: number; isReplayed: boolean }
/** A write that was not made, for the user to see. `answer`: why; absent if an earlier write of the object was refused. */
export type Kept = Write & { answer?: Pick<Answer, 'status' | 'body'> }

export type Store = {
  get(key: string): Promise<unknown>
  /** All entries whose keys begin with `prefix`, by key. */
  list(prefix: string): Promise<[key: string, value: unknown][]>
  /** All of the entries or none. Undefined deletes one. */
  write(entries: [key: string, value: unknown][]): Promise<void>
  /** Runs `work` alone among those of this name, also of other tabs: in browsers, navigator.locks.request. */
  lock<Result>(name: string, work: () => Promise<Result>): Promise<Result>
}

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
const isCreation = ({ method, part }: Write) => method === 'POST' && !part
const pathOf = (write: Write) => {
  const { kind, id, part, bookId } = write
  if (!isCreation(write)) return `/${kind}s/${id}${part}`
  return { book: '/books', memo: `/memos?bookId=${bookId}`, reading: `/books/${bookId}/readings`, tag: '' }[kind]
}
/** Whether it depends on a write that was refused. */
const isStranded = (write: Write) =>
  [isCreation(write) ? 0 : write.id, write.bookId, write.base].some((each) => typeof each === 'string')
/** What a write changes in the value of an object. Title and cover are sent with the edition, but shown beside it. */
const changesOf = ({ part, body = {} }: Write, value: Shown['value'] = {}) => {
  if (part === '/progress') return { currentPage: body.page }
  if (part !== '/edition') return body
  const { title = value.title, cover = value.cover, ...edition } = body
  return { title, cover, edition: { ...(value.edition as object | undefined), ...edition } }
}
/** Lays a write over an object. */
const lay = (shown: Shown | undefined, write: Write): Shown => {
  const { kind, id, key, bookId, done } = write
  const created = isCreation(write) && { ...(bookId !== undefined && { bookId }), [`${kind}Id`]: id }
  const changed = changesOf(write, shown?.value)
  const value = { ...shown?.value, ...changed, ...done?.value, ...created }
  return { kind, id, value, version: kind === 'memo' ? (done?.version ?? key) : undefined }
}

type Options = {
  url: string
  token: () => string
  store: Store
  fetch: (url: string, init: { method: string; headers: Record<string, string>; body?: string }) => Promise<Response>
  now?: () => number
  /** Of a page. */
  size?: number
}

export const createClient = ({ url, token, store, fetch, now = Date.now, size = 200 }: Options) => {
  const request = async (method: string, path: string, body?: unknown, more: object = {}): Promise<Answer> => {
    const headers = {
      Authorization: `Bearer ${token()}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...more,
    }
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
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
  const resolve = async <Value>(value: Value, field: 'id' | 'version') => {
    const answer = typeof value === 'string' ? await store.get(`answer/${value}`) : undefined
    return (answer as { id: number; version?: number } | undefined)?.[field] ?? value
  }

  const toKept = (writes: Kept[]): [string, unknown][] =>
    writes.flatMap((write): [string, unknown][] => [
      [inOrder('outbox', write.seq), undefined],
      [inOrder('kept', write.seq), write],
    ])

  /** Rules 4 to 6. */
  const settle = async (write: Write, { status, body, version, isReplayed }: Answer) => {
    const { key, seq, method, kind, part } = write
    const later = (await writesIn('outbox')).filter((other) => other.seq > seq)
    const isSameObject = (other: Write) => other.kind === kind && other.id === write.id
    const behind = later.filter((other) => isSameObject(other) || (isCreation(write) && other.bookId === key))
    if (status === 410 && isCreation(write))
      return store.write([[inOrder('outbox', seq), undefined], ...toKept(behind)])
    const row = (status === 412 ? (body.memo ?? {}) : body) as Record<string, unknown>
    const isSame = Object.entries(write.body ?? {}).every(([name, value]) => row[name] === value)
    const isDone =
      status < 300 || (status === 404 && method === 'DELETE') || (status === 412 && method === 'PATCH' && isSame)
    if (!isDone) return store.write(toKept([{ ...write, answer: { status, body } }, ...behind]))
    const id = isCreation(write) ? (row[`${kind}Id`] as number) : write.id
    const done = { value: part || method === 'DELETE' ? undefined : row, version }
    // After an edit elsewhere, those behind this write are stranded.
    const known = isReplayed && kind === 'memo' && !isSame ? key : version
    const follow = (other: Write): Write => ({
      ...other,
      id: other.id === key ? id : other.id,
      bookId: other.bookId === key ? id : other.bookId,
      base: other.base === key ? known : other.base,
    })
    return store.write([
      [inOrder('outbox', seq), { ...write, id, done }],
      [`answer/${key}`, { id, version: known }],
      ...later.map((other): [string, unknown] => [inOrder('outbox', other.seq), follow(other)]),
    ])
  }

  const push = async () => {
    for (;;) {
      const write = (await writesIn('outbox')).find(({ done }) => !done)
      if (!write) return
      const isTooOld = isCreation(write) && now() - (write.firstSent ?? now()) > MAX_POST_AGE_MS
      if (isTooOld || isStranded(write)) {
        await store.lock('data', () => store.write(toKept([write])))
        continue
      }
      if (!write.firstSent) await store.write([[inOrder('outbox', write.seq), { ...write, firstSent: now() }]])
      const headers = {
        ...(isCreation(write) && { 'Idempotency-Key': write.key }),
        ...(typeof write.base === 'number' && { 'If-Match': `"${write.base}"` }),
      }
      const answer = await request(write.method, pathOf(write), write.body, headers)
      await store.lock('data', () => settle(write, answer))
    }
  }

  /** Writes a page and its cursor to the copy; at the end, the writes that took effect leave the outbox. */
  const apply = async ({ item, next, hasMore }: { item: Change[]; next: string; hasMore: boolean }) => {
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
    const done = hasMore ? [] : (await writesIn('outbox')).filter((write) => write.done)
    await store.write([...entries, ...done.map(({ seq }): [string, unknown] => [inOrder('outbox', seq), undefined])])
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
      await store.lock('data', () => apply(body as Parameters<typeof apply>[0]))
      hasMore = body.hasMore as boolean
    }
  }

  const add = (write: Pick<Write, 'method' | 'kind' | 'body' | 'base' | 'bookId'> & { id?: Id; part?: Part }) =>
    store.lock('data', async () => {
      const seq = 1 + Number((await store.get('made')) ?? 0)
      const key = crypto.randomUUID()
      const id = await resolve(write.id ?? key, 'id')
      const bookId = await resolve(write.bookId, 'id')
      const base = await resolve(write.base, 'version')
      const made: Write = { part: '', ...write, seq, key, id, bookId, base }
      await store.write([
        ['made', seq],
        [inOrder('outbox', seq), made],
      ])
      return key
    })

  /** The copy with the outbox over it. */
  const list = (kind: Kind) =>
    store.lock('data', async () => {
      const objects = (await store.list(`copy/${kind}/`)).map(([, object]) => object as Shown)
      const shown = new Map(objects.map((object) => [object.id, object]))
      const deleted = new Set<unknown>()
      for (const write of await writesIn('outbox')) {
        if (write.method === 'DELETE' && write.kind === 'book') deleted.add(write.id)
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
      return add({ method: 'PATCH', kind, id, body: { ...text, ...day, ...body }, base: version })
    },
    updateEdition: ({ kind, id }: Shown, body: Write['body']) =>
      add({ method: 'PATCH', kind, id, part: '/edition', body }),
    remove: ({ kind, id, version }: Shown) => add({ method: 'DELETE', kind, id, base: version }),
    setTags: ({ kind, id }: Shown, tags: string[]) => add({ method: 'PUT', kind, id, part: '/tags', body: { tags } }),
    /** With its time, so that it can be repeated. */
    addProgress: ({ kind, id }: Shown, page: number) =>
      add({ method: 'POST', kind, id, part: '/progress', body: { page, at: new Date(now()).toISOString() } }),
    /** Writes that were refused, until the user has seen them and `discard` is called. */
    kept: () => writesIn('kept'),
    discard: ({ seq }: Kept) => store.write([[inOrder('kept', seq), undefined]]),
    /** Pushes, then pulls. @throws TryLater, or what `fetch` throws: nothing is lost, call it again */
    sync: () =>
      store.lock('sync', async () => {
        await push()
        await pull()
      }),
  }
}
