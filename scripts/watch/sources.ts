// What alerts look at: /health, the databases, and the log.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { DAY_MS, type DatabaseState, type Health, type LogLine, type LogState, WINDOW_MS } from './alerts.ts'

const HEALTH_TIMEOUT_MS = 15_000
/** Longer than the service reuses the result of a check. */
const PAUSE_MS = 10_000

/** The response of a healthy service. A proxy, or another service at its address, may also answer with 200. */
const Healthy = z.object({
  status: z.literal('ok'),
  version: z.string(),
  warnings: z.optional(z.array(z.string())),
})
const Failed = z.object({ message: z.string() })

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const askHealth = async (url: URL, timeoutMs: number): Promise<Health> => {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    const body = parseJson(await response.text())
    const healthy = Healthy.safeParse(body)
    if (response.ok && healthy.success) return { warnings: healthy.data.warnings ?? [] }
    const why = Failed.safeParse(body).data?.message ?? 'is not an answer of the service: check the URL'
    return { failure: `${response.status} ${why}` }
  } catch (error) {
    return { failure: `no answer: ${(error as Error).cause ?? error}` }
  }
}

/** Asks once, and again if the first answer is not that of a healthy service. */
export const readHealth = async (base: string, pauseMs = PAUSE_MS, timeoutMs = HEALTH_TIMEOUT_MS) => {
  const url = new URL('/health', base)
  const first = await askHealth(url, timeoutMs)
  if (first.failure === undefined) return [first]
  await wait(pauseMs)
  return [first, await askHealth(url, timeoutMs)]
}

const DATABASES_TIMEOUT_MS = 240_000

/** In a process of its own, which ends if wrangler is not logged in, or hangs. */
export const readDatabases = async (flags: string[]): Promise<DatabaseState[]> => {
  const script = join(import.meta.dirname, 'databases.ts')
  const run = promisify(execFile)(process.execPath, [...process.execArgv, script, ...flags], {
    timeout: DATABASES_TIMEOUT_MS,
  })
  const { stdout } = await run.catch(({ stderr, message }) => {
    throw new Error(stderr.trim() || message)
  })
  return JSON.parse(stdout)
}

/** A lower rate says nothing about the number of requests, and would hide errors among them. */
const MIN_SAMPLE_RATE = 0.001

const Line = z.object({
  message: z.catch(z.optional(z.string()), undefined),
  stack: z.catch(z.optional(z.string()), undefined),
  route: z.catch(z.optional(z.string()), undefined),
  status: z.catch(z.optional(z.number()), undefined),
  sampleRate: z.catch(z.optional(z.number().check(z.minimum(MIN_SAMPLE_RATE), z.maximum(1))), 1),
})
/** Fields of another type count as missing. Undefined if it is no object. */
const toLine = (value: unknown): LogLine | undefined => Line.safeParse(value).data

/** A line of JSON, also behind what `docker compose logs` or `journalctl` puts before it. */
const parseLine = (text: string) => toLine(parseJson(text.slice(text.indexOf('{'))))

/** The log of a service that runs here: its lines of the last five minutes. Undefined if there are none. */
export const parseLog = (text: string): LogState | undefined => {
  const recent = text.split('\n').flatMap((line) => parseLine(line) ?? [])
  return recent.length > 0 ? { recent, refusals: [] } : undefined
}

/** The most that the API returns at once. */
const PAGE = 2000
const MAX_PAGES = 10

type Event = { source: string | LogLine; $metadata: { id: string } }
type Answer = { errors?: { message: string }[]; result?: { events?: { events?: Event[] } } }
type Deployed = { account: string; token: string; worker: string }

/** Reads the log of a Worker by the query API of Workers Observability, the latest lines first. */
export const readDeployedLog = async ({ account, token, worker }: Deployed, now = Date.now()): Promise<LogState> => {
  const query = async (sinceMs: number, filters: object[], offset?: string) => {
    const ofWorker = { key: '$metadata.service', operation: 'eq', type: 'string', value: worker }
    const response = await fetch(
      `https://api.cloudflare.com/client/v4/accounts/${account}/workers/observability/telemetry/query`,
      {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          queryId: 'watch',
          view: 'events',
          timeframe: { from: now - sinceMs, to: now },
          limit: PAGE,
          ...(offset && { offset }),
          parameters: { filterCombination: 'and', filters: [ofWorker, ...filters] },
        }),
      },
    )
    const { errors, result }: Answer = await response.json()
    const events = result?.events?.events
    if (!events) throw new Error(`${response.status} ${errors?.[0]?.message ?? 'without events'}`)
    return events
  }
  const toLines = (events: Event[]) =>
    events.flatMap(({ source }) => (typeof source === 'string' ? parseLine(source) : toLine(source)) ?? [])
  const recent: Event[] = []
  let page: Event[] | undefined
  // Unfiltered: an alert must not depend on how the log is indexed.
  for (let count = 0; count < MAX_PAGES && (!page || page.length === PAGE); count++) {
    page = await query(WINDOW_MS, [], page?.at(-1)?.$metadata.id)
    recent.push(...page)
  }
  const refusals = await query(DAY_MS, [{ key: 'status', operation: 'eq', type: 'number', value: 429 }])
  return { recent: toLines(recent), refusals: toLines(refusals) }
}
