// The members that flows write to, and what they have before a flow.

import type { Home } from '../../../support/home'
import { insertMemberAt } from '../../../support/home'
import { insertAccessToken, insertLink, insertSession } from '../../../support/tokens'
import type { Fault } from './inject'

export type FlowRequest = {
  method: string
  path: string
  token?: string
  body?: unknown
  /** An image to upload. */
  file?: Uint8Array
  bytes?: Uint8Array<ArrayBuffer>
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
