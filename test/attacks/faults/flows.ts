// Every flow that writes, or that fills a cache: what it asks, and what it answers when all is well.
import type { Fault } from './inject'

export type Asked = { method: string; path: string; token?: string; body?: unknown; file?: Uint8Array }
export type Answered = { status: number; headers: Headers; body: unknown }

/** Where flows are tried: in the test pool, or in a workerd of its own. */
export type Stage = {
  ask: (asked: Asked, fault?: Fault) => Promise<Answered>
  database: D1Database
  bucket: R2Bucket
  lists: KVNamespace
}

/** Whose rows a trial looks at. */
export type Subject = { email: string; token?: string; memberId: number; bookId: number; memoId: number }

export type Flow = {
  name: string
  /** What must be there before. */
  needs: 'nobody' | 'code' | 'member'
  asks: (subject: Subject, code: string) => Asked
  answers: number
  /** What it answers when it took effect before, if that is something else. */
  again?: number
}

const PASSWORD = 'torture-horse-7'
const ofMember = (
  name: string,
  answers: number,
  ask: (subject: Subject) => [string, string, unknown?],
  again?: number,
): Flow => ({
  name,
  needs: 'member',
  asks: (subject) => {
    const [method, path, body] = ask(subject)
    return { method, path, token: subject.token, body }
  },
  answers,
  again,
})

const sign = (path: string, more: object, email: string): Asked => ({
  method: 'POST',
  path,
  body: { email, password: PASSWORD, ...more },
})
const joining = (email: string, code: string) => sign('/join', { name: 'Reader', authenticationCode: code }, email)
const askingForCode = (email: string): Asked => ({
  method: 'POST',
  path: '/email/join',
  body: { joinAuthCodeEmail: email },
})

/** A picture of one dot. */
const PICTURE = Uint8Array.from(atob('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'), (character) =>
  character.charCodeAt(0),
)

export const FLOWS: Flow[] = [
  { name: 'ask for a code', needs: 'nobody', asks: ({ email }) => askingForCode(email), answers: 201 },
  { name: 'sign up', needs: 'code', asks: ({ email }, code) => joining(email, code), answers: 201, again: 409 },
  { name: 'log in', needs: 'member', asks: ({ email }) => sign('/login', {}, email), answers: 200 },
  ofMember('change the name', 200, () => ['PATCH', '/members/me', { name: 'Renamed' }]),
  ofMember('change the password', 200, () => ['PATCH', '/members/me', { password: 'another-horse-8' }]),
  ofMember('withdraw', 204, () => ['DELETE', '/members/me'], 401),
  ofMember('register a book', 201, () => ['POST', '/books', { title: 'Registered', bookStatus: 'DONE' }]),
  ofMember('change a book', 200, ({ bookId }) => ['PATCH', `/books/${bookId}`, { star: 4, bookStatus: 'ING' }]),
  ofMember('overwrite a date', 200, ({ bookId }) => ['PATCH', `/books/created-date/${bookId}`, '2024-01-01T00:00:00']),
  ofMember('delete a book', 204, ({ bookId }) => ['DELETE', `/books/${bookId}`], 404),
  ofMember('write a memo', 201, ({ bookId }) => [
    'POST',
    `/memos?bookId=${bookId}`,
    { memoBookPage: 1, memoContent: 'Written' },
  ]),
  ofMember('change a memo', 200, ({ memoId }) => ['PATCH', `/memos/${memoId}`, { memoType: 'QUESTION' }]),
  ofMember('delete a memo', 204, ({ memoId }) => ['DELETE', `/memos/${memoId}`], 404),
  {
    name: 'upload an image',
    needs: 'member',
    asks: ({ token }) => ({ method: 'POST', path: '/memos/image-memo', token, file: PICTURE }),
    answers: 201,
  },
  {
    name: 'list best sellers',
    needs: 'nobody',
    asks: () => ({ method: 'GET', path: '/ext-lib/best-seller' }),
    answers: 200,
  },
]

let subjects = 0

const askFor = async (stage: Stage, asked: Asked, status: number) => {
  const answer = await stage.ask(asked)
  if (answer.status !== status) throw new Error(`${asked.path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer
}

/** Somebody for a flow, with a book and a memo where it needs them, and the code of whoever is about to sign up. */
export const prepare = async (stage: Stage, { needs }: Flow): Promise<{ subject: Subject; code: string }> => {
  const email = `subject-${++subjects}@torture.example`
  const subject: Subject = { email, memberId: 0, bookId: 0, memoId: 0 }
  const { keys } = await stage.lists.list()
  for (const { name } of keys) await stage.lists.delete(name)
  if (needs === 'nobody') return { subject, code: '' }
  const code = (await askFor(stage, askingForCode(email), 201)).headers.get('X-Code') ?? ''
  if (needs === 'code') return { subject, code }
  await askFor(stage, joining(email, code), 201)
  const { headers } = await askFor(stage, sign('/login', {}, email), 200)
  subject.token = headers.get('Authorization')?.replace('Bearer ', '')
  const { token } = subject
  const book = await askFor(stage, { method: 'POST', path: '/books', token, body: { title: 'Kept' } }, 201)
  subject.bookId = (book.body as { bookId: number }).bookId
  const body = { memoBookPage: 1, memoContent: 'Kept' }
  const memo = await askFor(stage, { method: 'POST', path: `/memos?bookId=${subject.bookId}`, token, body }, 201)
  subject.memoId = (memo.body as { memoId: number }).memoId
  const row = await stage.database.prepare('select memberId from members where email = ?').bind(email).first('memberId')
  return { subject: { ...subject, memberId: Number(row) }, code }
}

/** What there is of a subject, without what differs from one to the next: each thing once, however often it is there. */
export const take = async ({ database, bucket }: Stage, { email, memberId }: Subject): Promise<string[]> => {
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
