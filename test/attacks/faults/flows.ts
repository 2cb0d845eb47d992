// Every flow that writes or fills a cache, and what must hold when one call fails in it.
import { findMismatches } from '../../../scripts/integrity'
import { PIXEL } from '../../support/file-form'
import { type Home, insertMemberAt } from '../../support/home'
import { BINDINGS, type Calls, type Fault, KINDS } from './inject'

type FlowRequest = { method: string; path: string; token?: string; body?: unknown; file?: Uint8Array }
type FlowResponse = { status: number; headers: Headers; body: unknown }

/** Where flows run: in the test pool or in a separate workerd. */
export type Stage = {
  request: (request: FlowRequest, fault?: Fault) => Promise<FlowResponse>
  secret: string
  /** Where the service puts new members. */
  home: Home
  bucket: R2Bucket
  lists: KVNamespace
}

/** The member whose rows a trial compares. */
type Subject = { email: string; token?: string; memberId: number; bookId: number; memoId: number }

type Flow = {
  name: string
  /** What must exist before. An `account` can log in, a `member` only has a token. */
  needs: 'nothing' | 'empty cache' | 'code' | 'account' | 'member'
  toRequest: (subject: Subject, code: string) => FlowRequest
  status: number
  /** The status of a repetition after success, if it differs. */
  repeatedStatus?: number
}

const PASSWORD = 'attack-horse-7'
type Account = { email: string }
const post = (path: string, body: object) => ({ method: 'POST', path, body })
const requestCode = ({ email }: Account) => post('/email/join', { joinAuthCodeEmail: email })
const join = ({ email }: Account, authenticationCode: string) =>
  post('/join', { email, password: PASSWORD, name: 'Reader', authenticationCode })
const logIn = ({ email }: Account) => post('/login', { email, password: PASSWORD })
const newMemo = (memoContent: string) => ({ memoBookPage: 1, memoContent })

type MemberRequest = [method: string, path: string, body?: unknown]
const memberFlows: [name: string, status: number, (subject: Subject) => MemberRequest, repeatedStatus?: number][] = [
  ['change the name', 200, () => ['PATCH', '/members/me', { name: 'Renamed' }]],
  ['change the password', 200, () => ['PATCH', '/members/me', { password: 'another-horse-8' }]],
  ['renew the session', 200, () => ['POST', '/sessions/renew']],
  ['log out', 204, () => ['POST', '/logout'], 401],
  ['withdraw', 204, () => ['DELETE', '/members/me'], 401],
  ['register a book', 201, () => ['POST', '/books', { title: 'Registered', bookStatus: 'DONE' }]],
  ['change a book', 200, ({ bookId }) => ['PATCH', `/books/${bookId}`, { star: 4, bookStatus: 'ING' }]],
  ['overwrite a date', 200, ({ bookId }) => ['PATCH', `/books/created-date/${bookId}`, '2024-01-01T00:00:00']],
  ['delete a book', 204, ({ bookId }) => ['DELETE', `/books/${bookId}`], 404],
  ['write a memo', 201, ({ bookId }) => ['POST', `/memos?bookId=${bookId}`, newMemo('Written')]],
  ['change a memo', 200, ({ memoId }) => ['PATCH', `/memos/${memoId}`, { memoType: 'QUESTION' }]],
  ['delete a memo', 204, ({ memoId }) => ['DELETE', `/memos/${memoId}`], 404],
]

const upload = ({ token }: Subject) => ({ method: 'POST', path: '/memos/image-memo', token, file: PIXEL })
const bestSellers = { method: 'GET', path: '/ext-lib/best-seller' }

export const FLOWS: Flow[] = [
  { name: 'request a code', needs: 'nothing', toRequest: requestCode, status: 201 },
  { name: 'sign up', needs: 'code', toRequest: join, status: 201, repeatedStatus: 409 },
  { name: 'log in', needs: 'account', toRequest: logIn, status: 200 },
  ...memberFlows.map(([name, status, toRequest, repeatedStatus]): Flow => {
    const toMemberRequest = (subject: Subject) => {
      const [method, path, body] = toRequest(subject)
      return { method, path, token: subject.token, body }
    }
    return { name, needs: 'member', toRequest: toMemberRequest, status, repeatedStatus }
  }),
  { name: 'upload an image', needs: 'member', toRequest: upload, status: 201 },
  { name: 'list best sellers', needs: 'empty cache', toRequest: () => bestSellers, status: 200 },
]

let subjects = 0
let passwordHash: string | undefined

const succeed = async (stage: Stage, request: FlowRequest, expected: number) => {
  const { status, headers, body } = await stage.request(request)
  if (status !== expected) throw new Error(`${request.path}: ${status} ${JSON.stringify(body)}`)
  return { headers, body: body as { bookId: number; memoId: number } }
}

const receiveCode = async (stage: Stage, email: string) =>
  (await succeed(stage, requestCode({ email }), 201)).headers.get('X-Code') ?? ''

/** Signs up one account; all others are copies of its hash. */
const getPasswordHash = async (stage: Stage) => {
  if (passwordHash) return passwordHash
  const email = `subject-${++subjects}@attack.example`
  await succeed(stage, join({ email }, await receiveCode(stage, email)), 201)
  const row = stage.home.database.prepare('select passwordHash from members where email = ?').bind(email)
  passwordHash = (await row.first<string>('passwordHash')) ?? ''
  return passwordHash
}

/** Creates what a flow needs: a member with a book and a memo, or a verification code. */
const prepare = async (stage: Stage, { needs }: Flow) => {
  const email = `subject-${++subjects}@attack.example`
  const subject: Subject = { email, memberId: 0, bookId: 0, memoId: 0 }
  if (needs === 'code') return { subject, code: await receiveCode(stage, email) }
  if (needs === 'empty cache') {
    for (const { name } of (await stage.lists.list()).keys) await stage.lists.delete(name)
  }
  if (needs === 'account') await insertMemberAt(stage.home, stage.secret, email, await getPasswordHash(stage))
  if (needs === 'member') {
    const { memberId, token } = await insertMemberAt(stage.home, stage.secret, email)
    const create = async (path: string, body: object) =>
      (await succeed(stage, { method: 'POST', path, token, body }, 201)).body
    const { bookId } = await create('/books', { title: 'Kept' })
    const { memoId } = await create(`/memos?bookId=${bookId}`, newMemo('Kept'))
    Object.assign(subject, { token, memberId, bookId, memoId })
  }
  return { subject, code: '' }
}

/** The distinct things a subject has, without what differs between subjects. */
const readState = async ({ home, bucket }: Stage, { email, memberId }: Subject) => {
  const things = home.database.prepare(`
      select 'member ' || name || (credentialsVersion > 0) as thing from members where email = ?1
      union select 'book ' || title || star || bookStatus || (createdAt < '2025') || hasMemos from books where memberId = ?2
      union select 'memo ' || memoContent || memoType from memos where memberId = ?2
      union select 'purge job' from purgeJobs where memberId = ?2`)
  const accountThings = home.database.prepare(`
      select 'session' as thing from sessions join members using (memberId) where email = ?1
      union select kind from activity join members using (memberId) where email = ?1`)
  const answers = await home.database.batch<{ thing: string }>([
    things.bind(email, memberId),
    accountThings.bind(email),
  ])
  const results = answers.flatMap((answer) => answer.results)
  const { objects } = await bucket.list({ prefix: `images/${memberId}/`, limit: 1 })
  return [...results.map(({ thing }) => thing), ...(objects.length > 0 ? ['image'] : [])].sort()
}

/** Expires the claim of a sign-up that got no response, instead of waiting 80 seconds. Returns whether there was one. */
const endClaims = async ({ home }: Stage) => {
  const end = home.directory.prepare(`update addresses set settleAt = 0 where state = 'CLAIMED' returning claimId`)
  return (await end.all()).results.length > 0
}

/** Twice the timeout of a call, because an unsent mail is undone by another one, and some tolerance. */
const TIMEOUT_MS = 15_000
const DOCUMENTED_ERRORS = [500, 502, 503, 504]

/** A flow without faults: its calls per binding, and the subject's state before and after. */
type Reference = { flow: Flow; calls: Calls; before: string[]; after: string[] }

export const recordReference = async (stage: Stage, flow: Flow): Promise<Reference> => {
  const { subject, code } = await prepare(stage, flow)
  const before = await readState(stage, subject)
  const { status, headers, body } = await stage.request(flow.toRequest(subject, code))
  if (status !== flow.status) throw new Error(`${flow.name}: ${status} ${JSON.stringify(body)}`)
  return { flow, calls: JSON.parse(headers.get('X-Calls') ?? '{}'), before, after: await readState(stage, subject) }
}

/** Every fault that the flow can meet: each kind at each call. */
export const listFaults = ({ calls }: Reference): Fault[] =>
  BINDINGS.flatMap((binding) => {
    const numbers = Array.from({ length: calls[binding] ?? 0 }, (_, n) => n + 1)
    return numbers.flatMap((call) => KINDS.map((kind) => ({ binding, call, kind })))
  })

export const nameOf = ({ flow }: Reference, { binding, call, kind }: Fault) =>
  `${flow.name}: call ${call} of ${binding} ${kind}`

export const tryFault = async (stage: Stage, { flow, before, after }: Reference, fault: Fault) => {
  const { subject, code } = await prepare(stage, flow)
  const request = flow.toRequest(subject, code)
  const isState = (state: string[], expected: string[]) => state.join() === expected.join()
  const problems: string[] = []
  const start = Date.now()
  const { status, headers } = await stage.request(request, fault)
  const ms = Date.now() - start
  if (status !== flow.status && !DOCUMENTED_ERRORS.includes(status)) problems.push(`responded ${status}`)
  if (status === 503 && !headers.get('Retry-After')) problems.push('503 without Retry-After')
  if (ms > TIMEOUT_MS) problems.push(`responded after ${ms} ms`)
  const left = await readState(stage, subject)
  // A withdrawal deletes objects after its response, so its state may be in between.
  const isSettled = flow.name !== 'withdraw'
  if (isSettled && !isState(left, before) && !isState(left, after)) problems.push(`left ${left.join()}`)
  if (isSettled && status === flow.status && !isState(left, after)) problems.push(`succeeded, but left ${left.join()}`)
  for (const { table, id, field } of await findMismatches(stage.home.database)) {
    problems.push(`${field} of ${table} ${id} is wrong`)
  }
  const first = await stage.request(request)
  const repeated = first.status === 409 && (await endClaims(stage)) ? await stage.request(request) : first
  if (repeated.status !== flow.status && (repeated.status !== flow.repeatedStatus || isState(left, before))) {
    problems.push(`responded ${repeated.status} to a repetition after leaving ${left.join()}`)
  }
  const final = await readState(stage, subject)
  if (isSettled && !isState(final, after)) problems.push(`left ${final.join()} after a repetition`)
  return { status, ms, problems }
}
