import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, answers, isError } from './answer.ts'
import { check, each, explain } from './check.ts'

const TIMEOUT_MS = 60_000
const LONGEST_WAIT_SECONDS = 120
export const MEBIBYTE = 1_048_576
export const PASSWORD = 'correct-horse-1'

type SentHeaders = Record<string, string | undefined>
/** Sends a string or bytes as they are, the stream that a function opens, and all else as JSON. */
export type Send = (method: string, path: string, body?: unknown, headers?: SentHeaders) => Promise<Answer>
/** Somebody who has signed up and logged in; `send` bears the token. */
export type Member = { email: string; token: string; send: Send }
export type Service = ReturnType<typeof connect>

export const newEmail = () => `${randomUUID()}@smoke.example`

const payloadOf = (body: unknown): Buffer<ArrayBuffer> | ReadableStream | undefined => {
  if (body === undefined) return undefined
  if (typeof body === 'function') return body()
  // As bytes, to which fetch gives no content type of its own.
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(asText(body))
}
const asText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

const inShort = (method: string, path: string, body: unknown) => {
  if (body === undefined) return `${method} ${path}`
  return `${method} ${path} ${typeof body === 'function' ? '(a stream)' : asText(body).slice(0, 200)}`
}

type Payload = ReturnType<typeof payloadOf>

/** Whether a body is so large that it is refused half-way, which may break the connection before the answer is read. */
const isTooLarge = (body: Payload) => body instanceof ReadableStream || (body?.byteLength ?? 0) > MEBIBYTE

/** How long to wait before a request is sent again; undefined when what came of it is to stay. */
const secondsToWait = (outcome: Response | Error, body: Payload) => {
  if (outcome instanceof Error) return isTooLarge(body) ? 1 : undefined
  const { status, headers } = outcome
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN)
  if (status === 429) return seconds <= LONGEST_WAIT_SECONDS ? seconds : undefined
  // What stands before the service may fail in its place: `wrangler dev` now and then loses a connection after an
  // upload was refused half-way. What the service itself answers bears an identifier.
  return status >= 500 && !headers.has('X-Request-Id') ? 1 : undefined
}

const request = async (url: string, method: string, body: unknown, headers: SentHeaders) => {
  const withType = { 'Content-Type': body === undefined ? undefined : 'application/json', ...headers }
  for (let again = 2; ; again--) {
    const init = {
      method,
      headers: Object.entries(withType).filter((header): header is [string, string] => header[1] !== undefined),
      body: payloadOf(body),
      // What fetch wants for a stream.
      duplex: 'half' as const,
      redirect: 'manual' as const,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }
    const outcome = await fetch(url, init).catch((error: Error) => error)
    const seconds = again > 0 ? secondsToWait(outcome, init.body) : undefined
    if (seconds !== undefined) {
      const got = outcome instanceof Error ? explain(outcome) : outcome.status
      console.log(`     ${method} ${url} got ${got}: sent again in ${seconds} s`)
      await wait(seconds * 1000)
    } else if (outcome instanceof Error) throw outcome
    else return outcome
  }
}

const isJson = (headers: Headers) => headers.get('Content-Type')?.startsWith('application/json') ?? false

const isText = (headers: Headers) => headers.get('Content-Type')?.startsWith('text/plain') ?? false

const readBody = (text: string, headers: Headers): unknown => {
  if (text === '') return null
  return isJson(headers) ? JSON.parse(text) : text
}

const isPersonal = (path: string) => /^\/(join|login|members|books|memos)\b/.test(path)

const isUncached = (headers: Headers) => {
  const caching = headers.get('Cache-Control')
  return caching === 'no-store' || (caching === 'private, no-cache' && headers.has('ETag'))
}

/** What holds for every answer, whatever was asked. */
const ALWAYS: [what: string, holds: (answer: Answer) => boolean][] = [
  ['is no failure of the service', ({ status }) => status < 500],
  ['bears an X-Request-Id', ({ headers }) => Boolean(headers.get('X-Request-Id'))],
  [
    'is JSON or nothing, but where text is asked for',
    ({ headers, text }) => text === '' || isJson(headers) || isText(headers),
  ],
  [
    'to HEAD, or of 204, has no body',
    ({ method, status, text }) => (method !== 'HEAD' && status !== 204) || text === '',
  ],
  [
    'that is an error has the one shape',
    (answer) => answer.status < 400 || answer.method === 'HEAD' || isError(answer),
  ],
  ['of 401 asks for a Bearer', ({ status, headers }) => status !== 401 || headers.get('WWW-Authenticate') === 'Bearer'],
  ['of 429 says when to come back', ({ status, headers }) => status !== 429 || headers.has('Retry-After')],
  [
    'that is personal is kept by no cache',
    ({ method, path, headers }) => method === 'OPTIONS' || !isPersonal(path) || isUncached(headers),
  ],
]

/** The service at an address. It remembers who signs up there, so that nobody is left behind. */
export const connect = (baseUrl: string) => {
  const members = new Map<string, { email: string; password: string; token?: string }>()
  const exceptions = new Map<string, string>()

  const send: Send = async (method, path, body, headers = {}) => {
    const response = await request(baseUrl + path, method, body, headers)
    const text = await response.text()
    const answer: Answer = {
      method,
      path,
      request: inShort(method, path, body),
      status: response.status,
      headers: response.headers,
      text,
      body: readBody(text, response.headers),
    }
    for (const [what, holds] of ALWAYS) {
      if (!exceptions.has(what) && !holds(answer)) {
        const headers = JSON.stringify([...answer.headers])
        exceptions.set(what, `${answer.request} got ${answer.status} ${text.slice(0, 300)} ${headers}`)
      }
    }
    return answer
  }

  /** Sends a sign-up: of a new e-mail and otherwise right fields, or of a JSON text. */
  const join = async (fields: Record<string, unknown> | string = {}) => {
    const right = { email: newEmail(), name: 'Smoke', password: PASSWORD, authenticationCode: '123456' }
    const sent = typeof fields === 'string' ? fields : JSON.stringify({ ...right, ...fields })
    const { email, password } = JSON.parse(sent)
    const answer = await send('POST', '/join', sent).catch((error) => error as Error)
    // A sign-up whose answer was lost may have come through.
    const isIn = answer instanceof Error ? !members.has(`${email}`.toLowerCase()) : answer.status < 300
    if (isIn) members.set(`${email}`.toLowerCase(), { email, password })
    if (answer instanceof Error) throw answer
    return answer
  }

  const logIn = async (email: string, password = PASSWORD): Promise<Member> => {
    const answer = await send('POST', '/login', { email, password })
    answers(answer, 200)
    const token = answer.headers.get('Authorization')?.replace('Bearer ', '') ?? ''
    const member = members.get(email.toLowerCase())
    if (member) Object.assign(member, { password, token: member.token ?? token })
    return {
      email,
      token,
      send: (method, path, body, headers) => send(method, path, body, { Authorization: `Bearer ${token}`, ...headers }),
    }
  }

  const signUp = async (fields: Record<string, unknown> & { email?: string } = {}) => {
    const email = fields.email ?? newEmail()
    answers(await join({ ...fields, email }), 201)
    return logIn(email)
  }

  const changePassword = async (member: Member, password: string) => {
    const answer = await member.send('PATCH', '/members/me', { password })
    if (answer.status === 200) members.set(member.email.toLowerCase(), { ...member, password })
    return answer
  }

  const withdraw = async (member: Member) => {
    const answer = await member.send('DELETE', '/members/me')
    if (answer.status === 204) members.delete(member.email.toLowerCase())
    return answer
  }

  const withdrawEveryone = () =>
    each([...members.values()], async ({ email, password, token }) => {
      const headers = { Authorization: `Bearer ${token}` }
      try {
        if (token && (await send('DELETE', '/members/me', undefined, headers)).status === 204) return
        answers(await withdraw(await logIn(email, password)), 204)
      } catch (error) {
        throw new Error(`${email} is left behind: ${explain(error)}`)
      }
    })

  const checkAlways = () =>
    each(ALWAYS, ([what]) =>
      check(`every answer ${what}`, () => {
        const exception = exceptions.get(what)
        if (exception !== undefined) throw new Error(exception)
      }),
    )

  return { baseUrl, send, join, logIn, signUp, changePassword, withdraw, withdrawEveryone, checkAlways }
}
