import * as z from 'zod'
import { log } from '../http/log'
import { withTimeout } from '../retry'
import { type CatalogueEntry, CatalogueList } from './schema'

const FRESH_MS = 3_600_000
const KEPT_SECONDS = 7 * 86_400
/** A cache that takes longer is none. */
const LONGEST_MS = 1000
/** How long a provider that failed behind a stale answer is left alone. */
const REST_MS = 30_000

// A stored value of another form, of an older version perhaps, is none.
const Stored = z.object({ form: z.literal(1), storedAt: z.number(), entries: CatalogueList })

/** What a cached list is asked with: where it is kept, how it is loaded, and what keeps a refresh alive. */
export type CachedList = {
  kv: KVNamespace
  key: string
  load: () => Promise<CatalogueEntry[]>
  waitUntil: (promise: Promise<unknown>) => void
}

const complain = (error: unknown) => log('warn', `catalogue cache: ${String(error)}`)

const read = async ({ kv, key }: CachedList) => {
  try {
    return Stored.safeParse(await withTimeout(LONGEST_MS, () => kv.get(key, 'json'))).data
  } catch (error) {
    complain(error)
    return undefined
  }
}

const store = ({ kv, key }: CachedList, entries: CatalogueEntry[]) => {
  const value: z.infer<typeof Stored> = { form: 1, storedAt: Date.now(), entries }
  const put = () => kv.put(key, JSON.stringify(value), { expirationTtl: KEPT_SECONDS })
  return withTimeout(LONGEST_MS, put).catch(complain)
}

/** No refresh takes longer; one that seems to was ended with the request that began it, and will never settle. */
const LONGEST_REFRESH_MS = 10_000

const refreshes = new Map<string, { begun: number; entries: Promise<CatalogueEntry[]> }>()
const resting = new Map<string, number>()

/** Loads and stores a list: one refresh at a time in each isolate, whoever asks meanwhile gets the same. */
const refresh = (list: CachedList) => {
  const underWay = refreshes.get(list.key)
  if (underWay && Date.now() - underWay.begun < LONGEST_REFRESH_MS) return underWay.entries
  const entries = list
    .load()
    .then(async (loaded) => {
      await store(list, loaded)
      return loaded
    })
    .finally(() => refreshes.delete(list.key))
  refreshes.set(list.key, { begun: Date.now(), entries })
  // So that it ends even if whoever began it goes away.
  list.waitUntil(entries.catch(() => {}))
  return entries
}

/**
 * A list out of KV: fresh for an hour, then answered stale at once and refreshed behind, for days if the provider fails.
 * @throws what `load` throws, when nothing is stored
 */
export const getCached = async (list: CachedList): Promise<CatalogueEntry[]> => {
  const stored = await read(list)
  if (!stored) return refresh(list)
  const isStale = Date.now() - stored.storedAt >= FRESH_MS
  if (isStale && Date.now() >= (resting.get(list.key) ?? 0)) {
    refresh(list).catch(() => resting.set(list.key, Date.now() + REST_MS))
  }
  return stored.entries
}
