import type * as z from 'zod'
import { readAtMost } from '../http/body'
import { ApiError } from '../http/errors'
import { log } from '../http/log'

const TIMEOUT_MS = 3000
const MAX_BYTES = 1_048_576
const CACHED_SECONDS = 300
const MAX_WAIT_SECONDS = 86_400

type Question<Schema extends z.ZodType> = {
  /** A provider's own fixed host, with whatever came from outside encoded. */
  url: URL
  headers: Record<string, string>
  schema: Schema
  /** Statuses beside 200 whose body is an answer too. */
  alsoAnswers?: number[]
}

const failed = (why: string) => {
  log('warn', `catalogue: ${why}`)
  return new ApiError('CATALOGUE_FAILED')
}

/** Until when a host has asked to be left alone. */
const busyUntil = new Map<string, number>()

const busy = (seconds: number) =>
  new ApiError('CATALOGUE_BUSY', { headers: { 'Retry-After': String(Math.ceil(seconds)) } })

const rest = (host: string, header: string | null) => {
  const seconds = Number(header)
  const wait = Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, MAX_WAIT_SECONDS) : 60
  log('warn', `catalogue: the provider asks to wait ${wait} seconds`)
  busyUntil.set(host, Date.now() + wait * 1000)
  return busy(wait)
}

const load = async (url: URL, headers: Record<string, string>) => {
  const resting = (busyUntil.get(url.host) ?? 0) - Date.now()
  if (resting > 0) throw busy(resting / 1000)
  const response = await fetch(url, {
    headers: { Accept: 'application/json', ...headers },
    // A redirect could lead anywhere, into private networks too: it is an answer like any other, and not a good one.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    cf: { cacheTtlByStatus: { '200': CACHED_SECONDS, '404': CACHED_SECONDS, '500-599': 0 }, cacheEverything: true },
  })
  if (response.status === 429) throw rest(url.host, response.headers.get('Retry-After'))
  const bytes = await readAtMost(response.body, MAX_BYTES)
  if (!bytes) throw failed(`more than ${MAX_BYTES} bytes`)
  return { status: response.status, text: new TextDecoder().decode(bytes) }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw failed('an answer that is no JSON')
  }
}

/**
 * Asks a provider, whose answer the schema must describe. Answers are cached at the edge for a few minutes.
 * @throws CATALOGUE_FAILED, CATALOGUE_TIMED_OUT or CATALOGUE_BUSY
 */
export const ask = async <Schema extends z.ZodType>({ url, headers, schema, alsoAnswers = [] }: Question<Schema>) => {
  const { status, text } = await load(url, headers).catch((error: Error) => {
    if (error instanceof ApiError) throw error
    if (error.name !== 'TimeoutError') throw failed(error.message)
    log('warn', `catalogue: no answer within ${TIMEOUT_MS} ms`)
    throw new ApiError('CATALOGUE_TIMED_OUT')
  })
  if (status !== 200 && !alsoAnswers.includes(status)) throw failed(`status ${status}`)
  const parsed = schema.safeParse(parse(text))
  if (!parsed.success) throw failed(`an answer of another shape (${parsed.error.issues[0]?.path.join('.')})`)
  return parsed.data as z.output<Schema>
}
