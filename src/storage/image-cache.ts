import { DEADLINES } from '../runtime/deadlines'
import { withTimeout } from '../runtime/retry'
import { IMMUTABLE } from './bucket'

/** The edge cache is not purged in other data centres, so a deleted image may be served there for this long. */
const EDGE_CACHE = 'public, max-age=600'

/** Looks an image up in the cache of this data centre. */
export const findCachedImage = async (url: string) => {
  const cached = await withTimeout(DEADLINES.imageCache, () => caches.default.match(url)).catch(() => undefined)
  if (!cached) return undefined
  const response = new Response(cached.body, cached)
  response.headers.set('Cache-Control', IMMUTABLE)
  return response
}

/** Stores a complete image in the cache of this data centre. */
export const cacheImage = (url: string, image: Response) => {
  image.headers.set('Cache-Control', EDGE_CACHE)
  return caches.default.put(url, image)
}

/** Each deletion from the cache is a subrequest, and their number per invocation is limited. */
const MAX_CACHE_DELETIONS = 500

/** Deletes images from the cache of this data centre. In others they expire after EDGE_CACHE. */
export const dropCached = (base: string, keys: string[]) =>
  Promise.all(keys.slice(0, MAX_CACHE_DELETIONS).map((key) => caches.default.delete(`${base}/${key}`)))
