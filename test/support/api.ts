import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import type { Bindings } from '../../src/env'
import worker from '../../src/index'
import { checkAgainstDocument } from './document'

export const BASE = 'https://library.test'

// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what the tests are about
export type Answer = { status: number; headers: Headers; body: any }

type Options = {
  headers?: Record<string, string>
  body?: unknown
  raw?: BodyInit
  /** Variables and bindings that this one request finds changed. */
  changed?: Partial<Bindings>
}

/** Hands a request to the real Worker; `changed` are variables and bindings that it finds changed. */
export const handle = async (request: Request, changed?: Partial<Bindings>) => {
  if (!changed) return exports.default.fetch(request)
  const context = createExecutionContext()
  const response = await worker.fetch(
    request as Request<unknown, IncomingRequestCfProperties>,
    { ...env, ...changed },
    context,
  )
  await waitOnExecutionContext(context)
  return response
}

/** Sends a request through the real Worker; the answer must be one that the document describes. */
export const send = async (
  method: string,
  path: string,
  { headers, body, raw, changed }: Options = {},
): Promise<Answer> => {
  const init = body === undefined ? { body: raw } : { body: JSON.stringify(body) }
  const request = new Request(BASE + path, {
    method,
    ...init,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
  })
  const response = await handle(request, changed)
  const answer = { status: response.status, headers: response.headers, body: await readBody(response) }
  checkAgainstDocument(method, new URL(request.url).pathname, answer)
  return answer
}

const readBody = async (response: Response) => {
  const type = response.headers.get('Content-Type') ?? ''
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (bytes.length === 0) return null
  if (type.startsWith('image/')) return bytes
  const text = new TextDecoder().decode(bytes)
  return type.startsWith('application/json') ? JSON.parse(text) : text
}

export const PASSWORD = 'correct-horse-1'
let signedUp = 0

export const newEmail = () => `reader-${++signedUp}@library.test`

export const join = (member: Record<string, unknown> = {}) =>
  send('POST', '/join', {
    body: { email: newEmail(), name: 'Reader', password: PASSWORD, authenticationCode: '123456', ...member },
  })

export const login = (email: string, password = PASSWORD) => send('POST', '/login', { body: { email, password } })

/** The API as somebody with a token sees it. */
export class Reader {
  constructor(
    readonly email: string,
    readonly token: string,
  ) {}

  send(method: string, path: string, options: Options = {}) {
    return send(method, path, { ...options, headers: { Authorization: `Bearer ${this.token}`, ...options.headers } })
  }
  get = (path: string) => this.send('GET', path)
  post = (path: string, body: unknown) => this.send('POST', path, { body })
  patch = (path: string, body: unknown) => this.send('PATCH', path, { body })
  delete = (path: string) => this.send('DELETE', path)

  async registers(book: Record<string, unknown> = {}): Promise<{ bookId: number }> {
    return done(await this.post('/books', { title: 'Demian', ...book }), 201).body
  }
  async writes(bookId: number, memo: Record<string, unknown> = {}): Promise<{ memoId: number }> {
    return done(await this.post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'A thought', ...memo }), 201)
      .body
  }
  /** Uploads a file as a browser's form would. */
  uploads(bytes: Uint8Array<ArrayBuffer> | string, options: Options & { type?: string; name?: string } = {}) {
    const { type = 'image/png', name = 'page.png', ...rest } = options
    const raw = new FormData()
    raw.append('file', new Blob([bytes], { type }), name)
    return this.send('POST', '/memos/image-memo', { ...rest, raw })
  }
  async logsInAgain(password = PASSWORD) {
    return new Reader(this.email, tokenOf(await login(this.email, password)))
  }
}

const done = (answer: Answer, status: number) => {
  if (answer.status !== status)
    throw new Error(`Expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer
}

export const tokenOf = (answer: Answer) => done(answer, 200).headers.get('Authorization')?.replace('Bearer ', '') ?? ''

/** Somebody who has just signed up and logged in. */
export const signUp = async (email = newEmail()) => {
  done(await join({ email }), 201)
  return new Reader(email, tokenOf(await login(email)))
}
