import type * as z from 'zod/mini'
import { ApiError, retryAfter } from '../errors'
import { DEADLINES } from '../runtime/deadlines'
import { log } from '../runtime/log'

const MAX_BYTES = 1_048_576
const CACHE_SECONDS = 300
const DEFAULT_WAIT_SECONDS = 60
const MAX_WAIT_SECONDS = 86_400

type UpstreamRequest<Schema extends z.ZodMiniType> = {
  /** On the provider's fixed host. What a client sent is encoded. */
  url: URL
  headers: Record<string, string>
  schema: Schema
  /** Statuses other than 200 whose body matches the schema too. */
  otherStatuses?: number[]
}

const failed = (reason: string) => {
  log('warn', `catalogue: ${reason}`)
  return new ApiError('CATALOGUE_FAILED')
}

/** When each host may be asked again after a 429, in milliseconds since 1970. */
const busyUntil = new Map<string, number>()

const busy = (seconds: number) => new ApiError('CATALOGUE_BUSY', retryAfter(seconds))

const backOff = (host: string, header: string | null) => {
  const seconds = Number(header)
  const wait = Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, MAX_WAIT_SECONDS) : DEFAULT_WAIT_SECONDS
  log('warn', `catalogue: rate limited by the provider for ${wait} seconds`)
  busyUntil.set(host, Date.now() + wait * 1000)
  return busy(wait)
}

/** Reads a stream whole. Stops reading and returns undefined when there are more than `maxBytes`. */
const readAtMost = async (stream: ReadableStream<Uint8Array> | null, maxBytes: number) => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return new Blob(chunks).arrayBuffer()
}

const load = async ({ url, headers, otherStatuses = [] }: UpstreamRequest<z.ZodMiniType>): Promise<unknown> => {
  const remainingMs = (busyUntil.get(url.host) ?? 0) - Date.now()
  if (remainingMs > 0) throw busy(remainingMs / 1000)
  const response = await fetch(url, {
    headers: { Accept: 'application/json', ...headers },
    // A redirect could lead into a private network, so it is not followed and counts as an error.
    redirect: 'manual',
    signal: AbortSignal.timeout(DEADLINES.provider),
    cf: { cacheTtlByStatus: { '200': CACHE_SECONDS, '404': CACHE_SECONDS, '500-599': 0 }, cacheEverything: true },
  })
  if (response.status === 429) throw backOff(url.host, response.headers.get('Retry-After'))
  const bytes = await readAtMost(response.body, MAX_BYTES)
  if (!bytes) throw failed(`response above ${MAX_BYTES} bytes`)
  if (response.status !== 200 && !otherStatuses.includes(response.status)) throw failed(`status ${response.status}`)
  return JSON.parse(new TextDecoder().decode(bytes))
}

/**
 * Fetches JSON from a provider. Responses are cached at the edge for five minutes.
 * @throws CATALOGUE_FAILED, also when the response does not match the schema; CATALOGUE_TIMED_OUT after three seconds;
 * CATALOGUE_BUSY while the provider limits this service
 */
export const fetchJson = async <Schema extends z.ZodMiniType>(request: UpstreamRequest<Schema>) => {
  const body = await load(request).catch((error: Error) => {
    if (error instanceof ApiError) throw error
    if (error.name !== 'TimeoutError') throw failed(error.message)
    log('warn', `catalogue: no answer within ${DEADLINES.provider} ms`)
    throw new ApiError('CATALOGUE_TIMED_OUT')
  })
  const parsed = request.schema.safeParse(body)
  if (!parsed.success) throw failed(`unexpected response (${parsed.error.issues[0]?.path.join('.')})`)
  return parsed.data as z.output<Schema>
}
