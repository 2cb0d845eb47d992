// The members that flows write to: what they have before a flow, and what is stored of them.

import { keyedHash } from '../../../../src/auth/keyed-hash'
import type { Home } from '../../../support/home'
import { insertMemberAt } from '../../../support/home'
import { insertAccessToken, insertLink, insertSession, sessionIdOf } from '../../../support/tokens'
import type { Fault } from './inject'

export type FlowRequest = {
  method: string
  path: string
  token?: string
  body?: unknown
  file?: Uint8Array
  headers?: Record<string, string>
}
type FlowResponse = { status: number; headers: Headers; body: unknown }

/** Where flows run: in the test pool or in a separate workerd. */
export type Stage = {
  /** Resolves when the work after the response has ended, too. */
  request: (request: FlowRequest, fault?: Fault) => Promise<FlowResponse>
  secret: string
  /** Where the service puts new members. */
  home: Home
  bucket: R2Bucket
  lists: KVNamespace
}

/** The member whose rows a trial compares. */
export type Subject = {
  email: string
  /** What a change of e-mail changes it to. */
  newEmail: string
  token?: string
  memberId: number
  bookId: number
  /** A book that is being read. Its first reading has the same identifier. */
  readBookId: number
  memoId: number
  /** Its `ETag`. */
  memoTag: string
  tokenId: string
  /** The access token of a device. */
  deviceToken: string
  linkId: string
  linkSecret: string
  otherSessions: string[]
  /** The last code that was mailed. */
  code: string
  /** Of the last page of changes. */
  cursor: string
}
export type ToRequest = (subject: Subject) => FlowRequest

type MemberRequest = [method: string, path: string, body?: unknown]
export type MemberFlow = [
  name: string,
  status: number,
  toRequest: (subject: Subject) => MemberRequest,
  repeatedStatus?: number,
]
export const asMember =
  (toRequest: MemberFlow[2]): ToRequest =>
  (subject) => {
    const [method, path, body] = toRequest(subject)
    return { method, path, token: subject.token, body }
  }

/** What must exist before a flow. */
export type Setup = {
  needs: 'nothing' | 'empty cache' | 'member'
  /** Requests that come before it. */
  follows?: ToRequest[] | undefined
}

let subjects = 0

const succeed = async (stage: Stage, request: FlowRequest) => {
  const { status, headers, body } = await stage.request(request)
  if (status >= 300) throw new Error(`${request.path}: ${status} ${JSON.stringify(body)}`)
  const tag = headers.get('ETag') ?? ''
  return {
    code: headers.get('X-Code') ?? '',
    tag,
    body: body as { bookId: number; memoId: number; next?: string } | null,
  }
}

/** Adds a member with two books, a memo, an access token, a link and three sessions. */
const createMember = async (stage: Stage, email: string) => {
  const { secret, home } = stage
  const { memberId, token } = await insertMemberAt(home, secret, email)
  const create = async (path: string, body: object) => {
    const { body: created, tag } = await succeed(stage, { method: 'POST', path, token, body })
    return { ...(created as NonNullable<typeof created>), tag }
  }
  const { bookId } = await create('/books', { title: 'Kept' })
  const { bookId: readBookId } = await create('/books', { title: 'Read', bookStatus: 'ING' })
  const { memoId, tag } = await create(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'Kept' })
  const insertOther = async () => (await insertSession(home.database, memberId, secret, home.slot)).sessionId
  const otherSessions = [await insertOther(), await insertOther()]
  await insertAccessToken(home.database, memberId, ['library:read'], home.slot)
  const selectToken = home.database.prepare('select tokenId from accessTokens where memberId = ?').bind(memberId)
  const tokenId = (await selectToken.first<string>('tokenId')) ?? ''
  const linkSecret = await insertLink(home.database, memberId, { slot: home.slot, kind: 'SHELF', variant: 0 })
  const selectLink = home.database.prepare('select tokenId from accessTokens where memberId = ? and kind is not null')
  const linkId = (await selectLink.bind(memberId).first<string>('tokenId')) ?? ''
  const deviceToken = await insertAccessToken(home.database, memberId, ['intake:write'], home.slot)
  return {
    token,
    deviceToken,
    linkSecret,
    linkId,
    memberId,
    bookId,
    readBookId,
    memoId,
    memoTag: tag,
    tokenId,
    otherSessions,
  }
}

/** Sends the requests that come before a flow. */
export const follow = async (stage: Stage, { follows = [] }: Setup, subject: Subject) => {
  let { code, cursor } = subject
  for (const toRequest of follows) {
    const { code: mailed, body } = await succeed(stage, toRequest({ ...subject, code, cursor }))
    code = mailed
    cursor = body?.next ?? cursor
  }
  return { ...subject, code, cursor }
}

export const prepare = async (stage: Stage, setup: Setup): Promise<Subject> => {
  const email = `subject-${++subjects}@attack.example`
  const nothing = {
    memberId: 0,
    bookId: 0,
    readBookId: 0,
    memoId: 0,
    memoTag: '',
    otherSessions: [],
    tokenId: '',
    deviceToken: '',
    linkId: '',
    linkSecret: '',
  }
  if (setup.needs === 'empty cache') {
    for (const { name } of (await stage.lists.list()).keys) await stage.lists.delete(name)
  }
  const owned = setup.needs === 'member' ? await createMember(stage, email) : nothing
  return follow(stage, setup, { email, newEmail: `new-${email}`, code: '', cursor: '', ...owned })
}

/** Selects what the member ?2 records about books beyond the contract. */
const DETAILS = `
  select concat('edition ', isbn, series, ' page ', currentPage) as thing from books where memberId = ?2
  union select concat('progress ', page, kind) from progress where memberId = ?2
  union select concat('tag ', tag, bookCount) from tags where memberId = ?2
  union select concat('tag of ', title, ': ', tag)
    from bookTags join tags using (memberId, tagId) join books using (bookId) where bookTags.memberId = ?2
  union select concat('author ', author, bookCount) from authors where memberId = ?2`

/** Counts what the member ?2 has created with a key, and the entries of the log of changes. */
const SYNC = `
  select concat_ws(' ', 'keys', (select count(*) from idempotencyKeys where memberId = ?2),
    'books', (select count(*) from books where memberId = ?2 and title = 'Once'),
    'memos', (select count(*) from memos where memberId = ?2 and memoContent = 'Once'),
    'readings', (select count(*) from allReadings where memberId = ?2 and note = 'Once'),
    'images', (select count(*) from images join idempotencyKeys using (memberId) where memberId = ?2),
    'log', (select count(*) from changes where memberId = ?2)) as thing, null as id`

const TRASH = `
  select 'deleted ' || iif(trashId > 0, 'book ', 'memo of ') || title || memoCount as thing, null as id from trash
  where memberId = ?2`

const DOCUMENTS = `
  select concat_ws(' ', 'document', title, isByHand, bookId is not null, percentage, isReplayed) as thing, null as id
  from documents join positions using (memberId, document) where memberId = ?2`

type Stored = { thing: string; id: string | null }

/** The distinct things a subject has, without what differs between subjects. */
export const readState = async ({ secret, home, bucket }: Stage, subject: Subject) => {
  const { email, newEmail, memberId, tokenId, linkId, otherSessions } = subject
  const names = new Map([
    [email, 'first'],
    [newEmail, 'new'],
    [tokenId, 'first'],
    [linkId, 'first'],
    [sessionIdOf(memberId), 'own'],
    ...otherSessions.map((id, n): [string, string] => [id, `other ${n}`]),
  ])
  const select = (query: string) =>
    home.database
      .prepare(`
        with subject as (
          select memberId, email, name, credentialsVersion, passwordHash from members
          where (email = ?1 or memberId = ?2) and withdrawnAt is null
        )
        ${query}`)
      .bind(email, memberId)
  const [account, library, version, sync, trash, documents] = await home.database.batch<
    Stored & { credentialsVersion: number }
  >([
    select(`
      select 'member ' || name || (credentialsVersion > 0) || (passwordHash = '') as thing, email as id from subject
      union select iif(renewedAt > createdAt, 'renewed session', 'session'), sessionId from sessions join subject using (memberId)
      union select iif(kind is null, 'access token', 'link ' || accessTokens.name), tokenId
        from accessTokens join subject using (memberId)
      union select 'undo', emailUndos.email from emailUndos join subject using (memberId)
      union select kind, null from activity join subject using (memberId)`),
    select(`
      select 'book ' || title || star || bookStatus || (createdAt < '2025') || hasMemos as thing, null as id
      from books where memberId = ?2
      union select 'reading ' || coalesce(finishedAt, '') || coalesce(quarters, ''), null from allReadings where memberId = ?2
      union select thing, null from (${DETAILS})
      union select 'memo ' || memoContent || memoType, null from memos where memberId = ?2
      union select 'purge job', null from purgeJobs where memberId = ?2`),
    select('select credentialsVersion from subject'),
    select(SYNC),
    select(TRASH),
    select(DOCUMENTS),
  ])
  const rows = [account, library, sync, trash, documents].flatMap((selected) => selected?.results ?? [])
  const things = rows.map(({ thing, id }) => (id === null ? thing : `${thing} ${names.get(id) ?? 'another'}`))
  const [member] = version?.results ?? []
  // Once an address has a member, codes for signing up with it are of no use.
  const validCode = member
    ? home.directory
        .prepare('select 1 from accountCodes where memberId = ? and credentialsVersion = ?')
        .bind(memberId, member.credentialsVersion)
    : home.directory.prepare('select 1 from joinCodes where address = ?').bind(await keyedHash(secret, 'code', email))
  if (await validCode.first()) things.push('code')
  const { objects } = await bucket.list({ prefix: `images/${memberId}/`, limit: 1 })
  if (objects.length > 0) things.push('image')
  return [...new Set(things)].sort()
}

/** Expires the claims of flows that got no response, instead of waiting 80 seconds. Returns whether there were any. */
export const endClaims = async ({ home }: Stage) => {
  const end = home.directory.prepare(`update addresses set settleAt = 0 where state = 'CLAIMED' returning claimId`)
  return (await end.all()).results.length > 0
}

export type Flow = Setup & {
  name: string
  toRequest: ToRequest
  status: number
  /** The status of a repetition after success, if it differs. */
  repeatedStatus?: number
  /** Its rows are written after the response, which does not tell whether that succeeded. */
  writesLater?: true
  /** The mail is sent even if the response is an error, as long as the flow took effect. */
  mustMail?: true
  /** In a slot other than 0, the code is used up before the flow takes effect: if that fails, another code is needed. */
  usesCodeFirst?: true
}
