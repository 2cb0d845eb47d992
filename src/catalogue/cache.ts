import * as z from 'zod'
import { log } from '../log'
import { withTimeout } from '../retry'
import { type CatalogueEntry, CatalogueList } from './schema'

const FRESH_MS = 3_600_000
const TTL_SECONDS = 7 * 86_400
/** A slower cache counts as a miss. */
const TIMEOUT_MS = 1000
/** After a failed refresh, the stale list is served for this long before the next refresh. */
const BACKOFF_MS = 30_000

// A stored value of another version counts as a miss.
const Stored = z.object({ form: z.literal(1), storedAt: z.number(), entries: CatalogueList })

type CachedList = {
  kv: KVNamespace
  key: string
  /** Loads the list from the provider. */
  load: () => Promise<CatalogueEntry[]>
  /** Keeps a refresh running after the response. */
  waitUntil: (promise: Promise<unknown>) => void
}

const logFailure = (error: unknown) => log('warn', `catalogue cache: ${String(error)}`)

const read = async ({ kv, key }: CachedList) => {
  try {
    return Stored.safeParse(await withTimeout(TIMEOUT_MS, () => kv.get(key, 'json'))).data
  } catch (error) {
    logFailure(error)
    return undefined
  }
}

const store = ({ kv, key }: CachedList, entries: CatalogueEntry[]) => {
  const value: z.infer<typeof Stored> = { form: 1, storedAt: Date.now(), entries }
  const put = () => kv.put(key, JSON.stringify(value), { expirationTtl: TTL_SECONDS })
  return withTimeout(TIMEOUT_MS, put).catch(logFailure)
}

/** An older refresh is considered dead: the runtime may have ended it despite `waitUntil`. */
const MAX_REFRESH_MS = 10_000

const refreshes = new Map<string, { startedAt: number; entries: Promise<CatalogueEntry[]> }>()
const retryAt = new Map<string, number>()

/** Loads and stores a list. Concurrent callers in this isolate share one refresh. */
const refresh = (list: CachedList) => {
  const running = refreshes.get(list.key)
  if (running && Date.now() - running.startedAt < MAX_REFRESH_MS) return running.entries
  const entries = list
    .load()
    .then(async (loaded) => {
      await store(list, loaded)
      return loaded
    })
    .finally(() => refreshes.delete(list.key))
  refreshes.set(list.key, { startedAt: Date.now(), entries })
  // Otherwise the refresh would end when the client that started it disconnects.
  list.waitUntil(entries.catch(() => {}))
  return entries
}

/**
 * A list from KV. It is fresh for an hour, then served stale for up to seven days while it is refreshed in the
 * background.
 * @throws what `load` throws, if nothing is stored
 */
export const getCached = async (list: CachedList): Promise<CatalogueEntry[]> => {
  const stored = await read(list)
  if (!stored) return refresh(list)
  const isStale = Date.now() - stored.storedAt >= FRESH_MS
  if (isStale && Date.now() >= (retryAt.get(list.key) ?? 0)) {
    refresh(list).catch(() => retryAt.set(list.key, Date.now() + BACKOFF_MS))
  }
  return stored.entries
}
