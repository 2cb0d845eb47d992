import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env, exports } from 'cloudflare:workers'
import type { Bindings } from '../../src/env'
import worker from '../../src/index'
import { memberHome } from './database'
import { checkAgainstDocument } from './document/document'
import { insertMemberAt } from './home'
import { remote, type SmokeMember, skipTest } from './target'

export const BASE = 'https://library.test'
/** The origin of a browser client. */
export const ORIGIN = remote?.origin ?? 'https://app.example'

// biome-ignore lint/suspicious/noExplicitAny: the body is what tests are about
export type Answer = { status: number; headers: Headers; body: any }

type Options = {
  headers?: Record<string, string>
  body?: unknown
  raw?: BodyInit
  /** What Cloudflare knows about the client. */
  cf?: { country?: string }
  /** Variables and bindings to replace for this request. */
  changed?: Partial<Bindings>
}

/** A body of this content type, or of none: as bytes, to which fetch adds no type. */
export const ofType = (type: string | undefined, raw: BodyInit | undefined): Options => ({
  raw: typeof raw === 'string' ? new TextEncoder().encode(raw) : raw,
  headers: { ...(type && { 'Content-Type': type }) },
})

/** A request from outside has a byte stream for a body. */
const asReceived = (request: Request) =>
  request.body ? new Request(request, { body: request.body.pipeThrough(new IdentityTransformStream()) }) : request

/** Passes a request to the Worker; `changed` replaces variables and bindings for this request. */
export const handle = async (request: Request, changed?: Partial<Bindings>) => {
  if (!changed) return exports.default.fetch(request)
  const bindings = { ...env, ...changed }
  const context = createExecutionContext()
  const response = await worker.fetch(
    asReceived(request) as Request<unknown, IncomingRequestCfProperties>,
    bindings,
    context,
  )
  await waitOnExecutionContext(context)
  return response
}

/** Sends a request to the Worker, and checks the answer against the OpenAPI document of this checkout. */
export const send = async (method: string, path: string, options: Options = {}): Promise<Answer> => {
  const { headers, body, raw, cf, changed } = options
  const request = new Request(BASE + path, {
    method,
    body: body === undefined ? raw : JSON.stringify(body),
    ...(raw instanceof ReadableStream && { duplex: 'half' }),
    ...(cf && { cf }),
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
  if (type.startsWith('image/') && type !== 'image/svg+xml') return bytes
  const text = new TextDecoder().decode(bytes)
  return type.startsWith('application/json') ? JSON.parse(text) : text
}

const done = (answer: Answer, status: number) => {
  if (answer.status === status) return answer
  throw new Error(`Expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`)
}

/** PASSWORD_HASH in tokens.ts is the hash of it. */
export const PASSWORD = 'correct-horse-1'

export const newEmail = () => `reader-${crypto.randomUUID()}@library.test`

/** Sends a valid sign-up, or one with other fields. */
export const join = (member: Record<string, unknown> = {}) =>
  send('POST', '/join', {
    body: { email: newEmail(), name: 'Reader', password: PASSWORD, authenticationCode: '123456', ...member },
  })

export const login = (email: string, password = PASSWORD) => send('POST', '/login', { body: { email, password } })

export const tokenOf = (answer: Answer) => done(answer, 200).headers.get('Authorization')?.replace('Bearer ', '') ?? ''

/** The API as called by a member. */
export type Reader = ReturnType<typeof readerWith>

export const readerWith = (email: string, token: string, sendAs = send) => {
  const sendWithToken = (method: string, path: string, options: Options = {}) =>
    sendAs(method, path, { ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers } })
  const post = (path: string, body: unknown) => sendWithToken('POST', path, { body })
  return {
    email,
    token,
    send: sendWithToken,
    post,
    get: (path: string) => sendWithToken('GET', path),
    patch: (path: string, body: unknown) => sendWithToken('PATCH', path, { body }),
    delete: (path: string) => sendWithToken('DELETE', path),
    createBook: async (book: object = {}): Promise<{ bookId: number }> =>
      done(await post('/books', { title: 'Demian', ...book }), 201).body,
    createMemo: async (bookId: number, memo: object = {}): Promise<{ memoId: number }> =>
      done(await post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'A thought', ...memo }), 201).body,
    /** Uploads a file as a browser's form would. */
    upload: (bytes: Uint8Array<ArrayBuffer> | string, options: Options & { type?: string; name?: string } = {}) => {
      const { type = 'image/png', name = 'page.png', ...rest } = options
      const raw = new FormData()
      raw.append('file', new Blob([bytes], { type }), name)
      return sendWithToken('POST', '/memos/image-memo', { ...rest, raw })
    },
    logInAgain: (password = PASSWORD) => logInAs(email, password),
  }
}

export const logInAs = async (email: string, password = PASSWORD): Promise<Reader> =>
  readerWith(email, tokenOf(await login(email, password)))

// Hooks run before it is known which tests use the member: they get a placeholder, and those tests are skipped.
export const unavailable = async (): Promise<Answer> => {
  skipTest('needs a member, and none is left')
  return { status: 201, headers: new Headers(), body: { bookId: 0, memoId: 0 } }
}

const asMember = (member?: SmokeMember) => {
  if (member) return readerWith(member.email, member.token)
  skipTest('needs a member, and none is left')
  return readerWith('', '', unavailable)
}

const insertLocalMember = async (email: string) =>
  (await insertMemberAt(memberHome(), env.JWT_SECRET ?? '', email)).token

/** A new member, who is logged in. */
export const signUp = async (email = newEmail()) => {
  // The first one is shared.
  if (remote?.members) return asMember(remote.members.splice(1, 1)[0])
  // Sign-up and login each cost a password hash.
  if (!remote) return readerWith(email, await insertLocalMember(email))
  done(await join({ email }), 201)
  return logInAs(email)
}

let shared: Promise<Reader> | undefined
export const forgetSharedReader = () => {
  shared = undefined
}
/** A member for tests that do not care what else its library holds and do not change its profile. */
export const sharedReader = async () => {
  if (remote?.members) return asMember(remote.members[0])
  shared ??= signUp()
  return shared
}
