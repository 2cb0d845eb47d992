// Stands in for `cloudflare:workers` and `cloudflare:test` under `npm run smoke`: requests go to the service over HTTP,
// and a test that touches a binding is skipped.
import { appendFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { remote, skipTest } from '../target'

const MAX_ATTEMPTS = 3
const MAX_WAIT_SECONDS = 60
const TIMEOUT_MS = 60_000
const LARGE_BODY = 1_048_576

const record = (event: object) => appendFileSync(remote?.journal ?? '', `${JSON.stringify(event)}\n`)

/** Records sign-ups, tokens and withdrawals: see scripts/smoke.ts. */
const observe = (request: Request, sent: string, response: Response | undefined) => {
  const route = `${request.method} ${new URL(request.url).pathname}`
  const token = request.headers.get('Authorization')
  if (route === 'POST /join' && (!response || response.status === 201)) record({ joined: JSON.parse(sent) })
  if (route === 'POST /login' && response?.status === 200) {
    record({ email: JSON.parse(sent).email, token: response.headers.get('Authorization') })
  }
  if (route === 'PATCH /members/me' && response?.ok) record({ token, password: JSON.parse(sent).password })
  if (route === 'DELETE /members/me' && response?.ok) record({ token, isWithdrawn: true })
}

/** Seconds to wait before trying again, or undefined if the outcome is the service's answer. */
const retryAfter = (outcome: Response | Error, size: number) => {
  // A body that is rejected while it is being sent may break the connection before the answer is read.
  if (outcome instanceof Error) return size > LARGE_BODY ? 1 : undefined
  const seconds = Number(outcome.headers.get('Retry-After') ?? Number.NaN)
  if (outcome.status === 429) return seconds <= MAX_WAIT_SECONDS ? seconds : undefined
  // `wrangler dev` and proxies fail in the service's place now and then; the service's answers have an identifier.
  return outcome.status >= 500 && !outcome.headers.has('X-Request-Id') ? 1 : undefined
}

const send = async (input: Request | string | URL, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init)
  const { pathname, search } = new URL(request.url)
  const headers = [...request.headers].filter(([name]) => name !== 'host')
  const isStream = init?.body instanceof ReadableStream
  const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined
  for (let attempt = 1; ; attempt++) {
    const outcome = await fetch(remote?.url + pathname + search, {
      method: request.method,
      headers,
      body: isStream && body ? new Blob([body]).stream() : body,
      duplex: 'half',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    } as RequestInit).catch((error: Error) => error)
    const seconds = attempt < MAX_ATTEMPTS ? retryAfter(outcome, body?.byteLength ?? 0) : undefined
    if (seconds !== undefined) {
      await wait(seconds * 1000)
      continue
    }
    observe(request, String(body ?? '{}'), outcome instanceof Error ? undefined : outcome)
    if (outcome instanceof Error) throw new Error(`${request.method} ${pathname}: ${outcome.cause ?? outcome}`)
    return outcome
  }
}

const skip = () => {
  skipTest("needs the Worker's own bindings or settings")
}
const ownKeys = (): string[] => {
  skip()
  return []
}
export const env = new Proxy({}, { get: skip, ownKeys })
export const exports = { default: { fetch: send } }
export { skip as createExecutionContext, skip as waitOnExecutionContext }
