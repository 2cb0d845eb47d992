// Every flow that writes or fills a cache, with its request and expected status.
import { PIXEL } from '../../support/file-form'
import { insertMember } from '../../support/insert-member'
import type { Fault } from './inject'

export type FlowRequest = { method: string; path: string; token?: string; body?: unknown; file?: Uint8Array }
export type FlowResponse = { status: number; headers: Headers; body: unknown }

/** Where flows run: in the test pool or in a separate workerd. */
export type Stage = {
  request: (request: FlowRequest, fault?: Fault) => Promise<FlowResponse>
  secret: string
  database: D1Database
  bucket: R2Bucket
  lists: KVNamespace
}

/** The member whose rows a trial compares. */
export type Subject = { email: string; token?: string; memberId: number; bookId: number; memoId: number }

export type Flow = {
  name: string
  /** What must exist before. An `account` can log in, a `member` only has a token. */
  needs: 'nothing' | 'empty cache' | 'code' | 'account' | 'member'
  toRequest: (subject: Subject, code: string) => FlowRequest
  status: number
  /** The status of a repetition after success, if it differs. */
  repeatedStatus?: number
}

const PASSWORD = 'attack-horse-7'
const requestCode = (email: string): FlowRequest => ({
  method: 'POST',
  path: '/email/join',
  body: { joinAuthCodeEmail: email },
})
const join = (email: string, code: string): FlowRequest => ({
  method: 'POST',
  path: '/join',
  body: { email, password: PASSWORD, name: 'Reader', authenticationCode: code },
})
const logIn = (email: string): FlowRequest => ({ method: 'POST', path: '/login', body: { email, password: PASSWORD } })

const memberFlow = (
  name: string,
  status: number,
  toParts: (subject: Subject) => [method: string, path: string, body?: unknown],
  repeatedStatus?: number,
): Flow => ({
  name,
  needs: 'member',
  toRequest: (subject) => {
    const [method, path, body] = toParts(subject)
    return { method, path, token: subject.token, body }
  },
  status,
  repeatedStatus,
})

const newMemo = (memoContent: string) => ({ memoBookPage: 1, memoContent })

export const FLOWS: Flow[] = [
  { name: 'request a code', needs: 'nothing', toRequest: ({ email }) => requestCode(email), status: 201 },
  {
    name: 'sign up',
    needs: 'code',
    toRequest: ({ email }, code) => join(email, code),
    status: 201,
    repeatedStatus: 409,
  },
  { name: 'log in', needs: 'account', toRequest: ({ email }) => logIn(email), status: 200 },
  memberFlow('change the name', 200, () => ['PATCH', '/members/me', { name: 'Renamed' }]),
  memberFlow('change the password', 200, () => ['PATCH', '/members/me', { password: 'another-horse-8' }]),
  memberFlow('withdraw', 204, () => ['DELETE', '/members/me'], 401),
  memberFlow('register a book', 201, () => ['POST', '/books', { title: 'Registered', bookStatus: 'DONE' }]),
  memberFlow('change a book', 200, ({ bookId }) => ['PATCH', `/books/${bookId}`, { star: 4, bookStatus: 'ING' }]),
  memberFlow('overwrite a date', 200, ({ bookId }) => [
    'PATCH',
    `/books/created-date/${bookId}`,
    '2024-01-01T00:00:00',
  ]),
  memberFlow('delete a book', 204, ({ bookId }) => ['DELETE', `/books/${bookId}`], 404),
  memberFlow('write a memo', 201, ({ bookId }) => ['POST', `/memos?bookId=${bookId}`, newMemo('Written')]),
  memberFlow('change a memo', 200, ({ memoId }) => ['PATCH', `/memos/${memoId}`, { memoType: 'QUESTION' }]),
  memberFlow('delete a memo', 204, ({ memoId }) => ['DELETE', `/memos/${memoId}`], 404),
  {
    name: 'upload an image',
    needs: 'member',
    toRequest: ({ token }) => ({ method: 'POST', path: '/memos/image-memo', token, file: PIXEL }),
    status: 201,
  },
  {
    name: 'list best sellers',
    needs: 'empty cache',
    toRequest: () => ({ method: 'GET', path: '/ext-lib/best-seller' }),
    status: 200,
  },
]

let subjects = 0
let passwordHash: string | undefined

/** Signs up one account; all others are copies of its hash. */
const getPasswordHash = async (stage: Stage) => {
  if (passwordHash) return passwordHash
  const email = `subject-${++subjects}@attack.example`
  const code = await receiveCode(stage, email)
  await succeed(stage, join(email, code), 201)
  const row = stage.database.prepare('select passwordHash from members where email = ?').bind(email)
  passwordHash = (await row.first<string>('passwordHash')) ?? ''
  return passwordHash
}

const succeed = async (stage: Stage, request: FlowRequest, status: number) => {
  const response = await stage.request(request)
  if (response.status !== status) {
    throw new Error(`${request.path}: ${response.status} ${JSON.stringify(response.body)}`)
  }
  return response
}

const receiveCode = async (stage: Stage, email: string) =>
  (await succeed(stage, requestCode(email), 201)).headers.get('X-Code') ?? ''

/** Creates what a flow needs: a member with a book and a memo, or a verification code. */
export const prepare = async (stage: Stage, { needs }: Flow): Promise<{ subject: Subject; code: string }> => {
  const email = `subject-${++subjects}@attack.example`
  const nothing: Subject = { email, memberId: 0, bookId: 0, memoId: 0 }
  if (needs === 'empty cache') {
    const { keys } = await stage.lists.list()
    for (const { name } of keys) await stage.lists.delete(name)
  }
  if (needs === 'nothing' || needs === 'empty cache') return { subject: nothing, code: '' }
  if (needs === 'member') {
    const { memberId, token } = await insertMember(stage.database, stage.secret, email)
    const create = async (path: string, body: object) =>
      (await succeed(stage, { method: 'POST', path, token, body }, 201)).body as { bookId: number; memoId: number }
    const { bookId } = await create('/books', { title: 'Kept' })
    const { memoId } = await create(`/memos?bookId=${bookId}`, newMemo('Kept'))
    return { subject: { email, token, memberId, bookId, memoId }, code: '' }
  }
  if (needs === 'account') {
    await insertMember(stage.database, stage.secret, email, await getPasswordHash(stage))
    return { subject: nothing, code: '' }
  }
  const code = await receiveCode(stage, email)
  return { subject: nothing, code }
}

/** The distinct things a subject has, without what differs between subjects. */
export const readState = async ({ database, bucket }: Stage, { email, memberId }: Subject): Promise<string[]> => {
  const { results } = await database
    .prepare(`
      select 'member ' || name || (keptTokenId is not null) as thing from members where email = ?1
      union select 'book ' || title || star || bookStatus || (createdAt < '2025') || hasMemos from books where memberId = ?2
      union select 'memo ' || memoContent || memoType from memos where memberId = ?2
      union select 'purge job' from purgeJobs where memberId = ?2`)
    .bind(email, memberId)
    .all<{ thing: string }>()
  const { objects } = await bucket.list({ prefix: `images/${memberId}/`, limit: 1 })
  return [...results.map(({ thing }) => thing), ...(objects.length > 0 ? ['image'] : [])].sort()
}
