// What the service did, as a network between it and the devices sees it.
import { isCreation, type Write } from '../../../docs/offline-client'
import { createChecks, KINDS_OF_CASES, withoutImages } from './checks'
import { openLedger } from './ledger'
import type { States } from './states'

export type Member = {
  memberId: number
  database: D1Database
  states: States
  /** Of the database that answers requests with a bookmark, though it lags behind. */
  replica: States
  /**
   * The queries that skip identifiers before a restore. In one transaction with it, as operators stop all changes until then, and
   * here other members go on: what they delete meanwhile may have been above all that is left.
   */
  skip: string[]
  request: (
    method: string,
    path: string,
    sent?: { body?: string | Uint8Array; type?: string; headers?: object },
  ) => Promise<Response>
}
export const KINDS_OF_FAULTS = [
  'lost requests',
  'lost answers',
  'late requests',
  'requests whose second database call fails',
  'requests beside another writer',
  'pages from a lagging replica',
  'killed apps',
  'trimmed logs',
  'restores',
  'quotas below what is stored',
  'years without a connection',
] as const
export type History = {
  problems: string[]
  requests: number
  writes: number
  kept: number
  faults: Record<(typeof KINDS_OF_FAULTS)[number], number>
  reached: Record<(typeof KINDS_OF_CASES)[number], number>
}

export type Sent = {
  path: string
  init: { method: string; headers: Record<string, string>; body?: string | FormData }
  write?: Write
}

export const JSON_TYPE = 'application/json'
const countOf = <Kind extends string>(kinds: readonly Kind[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>
const toSent = async (body: string | FormData | undefined) => {
  if (!(body instanceof FormData)) return { ...(body !== undefined && { body, type: JSON_TYPE }) }
  const form = new Response(body)
  return { body: new Uint8Array(await form.arrayBuffer()), type: form.headers.get('Content-Type') ?? '' }
}

/** A field by which the user knows an object again. No device changes that of a book or a reading. */
export const NAMES = { book: 'title', memo: 'memoContent', reading: 'note', tag: 'tag' } as const

export const createNetwork = (member: Member) => {
  const history: History = {
    problems: [],
    requests: 0,
    writes: 0,
    kept: 0,
    faults: countOf(KINDS_OF_FAULTS),
    reached: countOf(KINDS_OF_CASES),
  }
  const checks = createChecks(member.database, history)
  const ledger = openLedger(member.database, member.memberId, history)
  const known = {
    /** The row that each key has created. */
    rows: new Map<string, number | string>(),
    /** The name of the object, or the text of the memo, that the user saw at each edit, by key. */
    seen: new Map<string, unknown>(),
    /** The keys of writes that took effect. */
    applied: new Set<string>(),
    ids: { book: new Set<number>(), memo: new Set<number>(), reading: new Set<number>(), import: new Set<number>() },
    /** Two books with progress: a merge that moves only earlier progress changes nothing else of the book. */
    pair: [0, 0] as readonly [number, number],
    bookmark: '',
  }
  const { seen, applied, ids } = known

  const request: Member['request'] = async (method, path, sent) => {
    history.requests += 1
    const settle = await ledger.watch(method, path, sent?.body)
    const response = await member.request(method, path, sent)
    settle(response.status)
    known.bookmark = response.headers.get('X-D1-Bookmark') ?? known.bookmark
    if (response.status >= 500 && !sent?.headers) history.problems.push(`${method} ${path}: ${response.status}`)
    return response
  }
  const call = async (method: string, path: string, body?: unknown) => {
    const sent = body === undefined ? undefined : { body: JSON.stringify(body), type: JSON_TYPE }
    const response = await request(method, path, sent)
    const text = await response.text()
    return { status: response.status, body: text ? JSON.parse(text) : undefined }
  }
  const learn = (kind: keyof typeof ids, id: unknown) => ids[kind].add(Number(id))
  const textOf = (memoId: unknown) =>
    member.database.prepare('select memoContent from memos where memoId = ?').bind(memoId).first('memoContent')

  /** Executes the request of a device, and checks what it did. */
  const execute = async ({ path, init, write }: Sent, more: object = {}) => {
    const { method, headers, body } = init
    const isEdit = write && !isCreation(write) && !write.part
    // Of the path, because a client may resolve its own identifiers only when it sends.
    const before = isEdit && write.kind === 'memo' ? await textOf(path.split('/').at(-1)) : undefined
    const check = await checks.watch(write, path)
    const response = await request(method, path, { ...(await toSent(body)), headers: { ...headers, ...more } })
    const { status } = response
    await check(status)
    if (status >= 500 && !('X-Fail-After' in more)) history.problems.push(`${method} ${path}: ${status}`)
    if (!write || write.kind === 'tag') return response
    if (status < 300 || (status === 404 && method === 'DELETE')) applied.add(write.key)
    if (status >= 300) return response
    const answer = method === 'DELETE' || write.part ? {} : await response.clone().json()
    const row = (write.kind === 'image' ? { imageId: answer } : answer) as Record<string, unknown>
    const changed = write.kind === 'memo' ? before : write.kind === 'image' ? undefined : row[NAMES[write.kind]]
    if (isEdit && changed !== undefined && withoutImages(changed) !== withoutImages(seen.get(write.key))) {
      history.problems.push(`${method} ${path} changed "${changed}", and its user saw "${seen.get(write.key)}"`)
    }
    if (isCreation(write)) {
      const { rows } = known
      const id = row[`${write.kind}Id`] as number | string
      const isReplayed = response.headers.has('Idempotency-Replayed')
      if (rows.has(write.key) ? !isReplayed || rows.get(write.key) !== id : isReplayed) {
        history.problems.push(`${path} with one key made ${rows.get(write.key)} and ${id}, replayed: ${isReplayed}`)
      }
      rows.set(write.key, id)
      if (write.kind === 'image') history.reached['images uploaded'] += isReplayed ? 0 : 1
      else learn(write.kind, id)
    }
    return response
  }
  return { history, checks, ledger, known, seen, applied, ids, learn, call, request, execute }
}
export type Network = ReturnType<typeof createNetwork>
