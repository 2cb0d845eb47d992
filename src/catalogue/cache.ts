import * as z from 'zod/mini'
import { DEADLINES } from '../runtime/deadlines'
import { log } from '../runtime/log'
import { withTimeout } from '../runtime/retry'
import { type CatalogueEdition, EditionList } from './schema'

/** After a failed refresh, the stale list is served for this long before the next refresh. */
const BACKOFF_MS = 30_000
/** After a refresh, KV may still return the old list for this long. */
const PROPAGATION_MS = 60_000

// A stored value of another version counts as a miss.
const Stored = z.lazy(() => z.object({ form: z.literal(2), storedAt: z.number(), entries: EditionList }))

/** Lists are fresh for an hour, then served stale while they are refreshed. */
export const LISTS = { freshMs: 3_600_000, ttlSeconds: 7 * 86_400, keepsEmpty: true }
/** Unknown ISBNs are not cached: Open Library then looks for them elsewhere, and may soon have them. */
export const EDITIONS = { freshMs: Infinity, ttlSeconds: 86_400, keepsEmpty: false }

type CachedList = {
  freshMs: number
  ttlSeconds: number
  keepsEmpty: boolean
  kv: KVNamespace
  key: string
  /** Runs before a request loads the list, or waits for another one that does. */
  beforeLoad?: () => Promise<void>
  /** Loads the list from the provider. */
  load: () => Promise<CatalogueEdition[]>
  /** Keeps a refresh running after the response. */
  waitUntil: (promise: Promise<unknown>) => void
}

const logFailure = (error: unknown) => log('warn', `catalogue cache: ${String(error)}`)

const read = async ({ kv, key }: CachedList) => {
  try {
    return Stored.safeParse(await withTimeout(DEADLINES.listCache, () => kv.get(key, 'json'))).data
  } catch (error) {
    logFailure(error)
    return undefined
  }
}

const store = async ({ kv, key, ttlSeconds, keepsEmpty }: CachedList, entries: CatalogueEdition[]) => {
  if (entries.length === 0 && !keepsEmpty) return
  const value: z.infer<typeof Stored> = { form: 2, storedAt: Date.now(), entries }
  const put = () => kv.put(key, JSON.stringify(value), { expirationTtl: ttlSeconds })
  await withTimeout(DEADLINES.listCache, put).catch(logFailure)
}

/** How often a waiting request checks whether another request's refresh has ended. */
const POLL_MS = 25

type Refresh = { startedAt: number; outcome?: { entries: CatalogueEdition[] } | { error: unknown } }

const refreshes = new Map<string, Refresh>()
const nextRefreshAt = new Map<string, number>()

const findRunning = (key: string) => {
  const refresh = refreshes.get(key)
  return refresh && Date.now() - refresh.startedAt < DEADLINES.refresh ? refresh : undefined
}

const loadAndStore = async (list: CachedList) => {
  const refresh: Refresh = { startedAt: Date.now() }
  refreshes.set(list.key, refresh)
  try {
    const entries = await list.load()
    refresh.outcome = { entries }
    await store(list, entries)
    return entries
  } catch (error) {
    refresh.outcome = { error }
    throw error
  } finally {
    if (refreshes.get(list.key) === refresh) refreshes.delete(list.key)
  }
}

const refresh = (list: CachedList) => {
  const entries = loadAndStore(list)
  // Otherwise the refresh would end when the client that started it disconnects.
  list.waitUntil(entries.catch(() => {}))
  return entries
}

/**
 * The outcome of another request's refresh. Polls, because the promise of a cancelled request never settles:
 * docs/decisions/0016-one-concurrency-limiter.md.
 * @returns undefined if no refresh is running, or if it does not end in time
 */
const follow = async (key: string) => {
  const deadline = Date.now() + DEADLINES.refresh
  for (let other = findRunning(key); other && Date.now() < deadline; other = findRunning(key)) {
    await scheduler.wait(POLL_MS)
    if (other.outcome) return other.outcome
  }
  return undefined
}

/** Loads a list. Concurrent callers in this isolate share one refresh. */
const loadOnce = async (list: CachedList) => {
  const outcome = findRunning(list.key) && (await follow(list.key))
  if (!outcome) return refresh(list)
  if ('error' in outcome) throw outcome.error
  return outcome.entries
}

/**
 * A list from KV. Once it is no longer fresh, it is served stale while it is refreshed.
 * @throws what `beforeLoad` and `load` throw, if nothing is stored
 */
export const getCached = async (list: CachedList): Promise<CatalogueEdition[]> => {
  const stored = await read(list)
  if (!stored) {
    await list.beforeLoad?.()
    return loadOnce(list)
  }
  const isStale = Date.now() - stored.storedAt >= list.freshMs
  if (isStale && !findRunning(list.key) && Date.now() >= (nextRefreshAt.get(list.key) ?? 0)) {
    const delayNext = (ms: number) => () => nextRefreshAt.set(list.key, Date.now() + ms)
    refresh(list).then(delayNext(PROPAGATION_MS), delayNext(BACKOFF_MS))
  }
  return stored.entries
}
