// Tries every operation of the document with every kind of session and access token. The expected outcome follows from the
// scopes that the document states.
import { hashToken } from '../../../src/auth/access-token'
import { SCOPES, type Scope } from '../../../src/values/contract'
import { addressOf, bodyOf, fromOf, idOperations, type Operation } from '../document/operations'
import { validForm } from '../inputs/file-form'
import { DEVICE_TABLES, IMPORT_TABLES, LIBRARY_TABLES, waitForImports } from '../stores'
import { insertAccessToken, insertSession } from '../tokens'
import { type ApiRequest, type ApiResponse, call, createLibrary, isChallenge, valuesOf } from './isolation'

/** How a suite reaches the service. */
export type Api = {
  request: (request: ApiRequest) => Promise<ApiResponse>
  /** Adds a member with a session. */
  insertMember: () => Promise<{ memberId: number; token: string }>
  /** That of the members. */
  database: D1Database
  slot: number
  secret: string
}

type Member = { memberId: number; token: string; sessionId: string; tokenId: string; values: Record<string, string> }

/** The owner's data contains this text, so it must appear in no response to another member. */
const MARK = 'only-the-owner-may-read-this'

/** A member with one of everything that the operation names, or else of everything that any can name. */
const prepareMember = async (api: Api, operation?: Operation): Promise<Member> => {
  const member = await api.insertMember()
  const { path = [], query = [], fields = [] } = operation ?? {}
  const named = [...path, ...query, ...(fields.includes('from') ? ['tag'] : [])]
  const needs = (...parameters: string[]) => !operation || parameters.some((name) => named.includes(name))
  const ids = await createLibrary(api, member, MARK, needs)
  const mergesBooks = !operation || (path.includes('book-id') && fields.includes('from'))
  const merged = mergesBooks ? await call(api, member, 'POST', '/books', { title: MARK }) : {}
  const { tokenId } = await call(api, member, 'POST', '/tokens', { name: MARK, scopes: ['intake:write'] })
  const { sessionId } = await insertSession(api.database, member.memberId, api.secret, api.slot)
  const values = { ...valuesOf(ids), 'session-id': sessionId, 'token-id': tokenId, merged: String(merged.bookId) }
  return { ...member, sessionId, tokenId, values }
}

const ALL = Object.keys(SCOPES) as Scope[]

type Caller = {
  name: string
  isValid: boolean
  /** The scopes of an access token. Sessions have none. */
  scopes?: readonly Scope[]
  isStranger?: true
  /** The token to send. */
  issue: (api: Api, member: Member) => Promise<string>
}

const withScopes = (name: string, scopes: readonly Scope[]): Caller => ({
  name,
  isValid: true,
  scopes,
  issue: ({ database, slot }, { memberId }) => insertAccessToken(database, memberId, [...scopes], slot),
})

const expired: Caller['issue'] = async ({ database, slot }, { memberId }) => {
  const token = await insertAccessToken(database, memberId, ALL, slot)
  const expire = database.prepare('update accessTokens set expiresAt = ?1 where tokenHash = ?2')
  await expire.bind(Date.now() - 1, await hashToken(token)).run()
  return token
}
const revoked: Caller['issue'] = async (api, member) => {
  const { tokenId, token } = await call(api, member, 'POST', '/tokens', { name: 'Revoked', scopes: ALL })
  await call(api, member, 'DELETE', `/tokens/${tokenId}`)
  return token
}
const ofEndedSession: Caller['issue'] = async (api, member) => {
  const { sessionId, token } = await insertSession(api.database, member.memberId, api.secret, api.slot)
  await call(api, member, 'DELETE', `/sessions/${sessionId}`)
  return token
}
const superseded: Caller['issue'] = async (api, { token }) => {
  await call(api, { token }, 'POST', '/sessions/renew')
  return token
}

/** The callers of an operation. */
const callersOf = ({ scopes }: Operation): Caller[] => [
  { name: 'a session', isValid: true, issue: async (_, { token }) => token },
  { name: 'a session token superseded by a renewal', isValid: true, issue: superseded },
  { name: 'the token of an ended session', isValid: false, issue: ofEndedSession },
  ...ALL.map((scope) => withScopes(`the scope ${scope}`, [scope])),
  withScopes('all scopes', ALL),
  withScopes('no scope', []),
  ...(scopes.length > 0 ? [withScopes('the scopes that the document names', scopes)] : []),
  ...scopes.map((missing) =>
    withScopes(
      `all scopes but ${missing}`,
      ALL.filter((scope) => scope !== missing),
    ),
  ),
  { name: 'an expired access token', isValid: false, scopes: ALL, issue: expired },
  { name: 'a revoked access token', isValid: false, scopes: ALL, issue: revoked },
  { ...withScopes("another member's access token", ALL), isStranger: true },
  { name: "another member's session", isValid: true, isStranger: true, issue: async (_, { token }) => token },
]

const REFUSALS = ['UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'SESSION_REQUIRED']
type Outcome =
  | 'allowed'
  | 'not found'
  | 'UNAUTHORIZED'
  | 'INSUFFICIENT_SCOPE'
  | 'SESSION_REQUIRED'
  | 'any but a refusal'

const expectedOutcome = (operation: Operation, { isValid, scopes, isStranger }: Caller): Outcome => {
  if (!operation.needsToken) return 'any but a refusal'
  if (!isValid) return 'UNAUTHORIZED'
  if (scopes && operation.scopes.length === 0) return 'SESSION_REQUIRED'
  if (scopes && !operation.scopes.every((scope) => scopes.includes(scope))) return 'INSUFFICIENT_SCOPE'
  return isStranger && idOperations.includes(operation) ? 'not found' : 'allowed'
}

const isRefusal = (outcome: Outcome) => outcome !== 'allowed' && outcome !== 'any but a refusal'

const toRequest = (operation: Operation, { values }: Member, token: string): ApiRequest => {
  const body = bodyOf(operation, {
    bookId: Number(values.bookId),
    from: fromOf(operation, values.merged, values.tagInBody),
  })
  const isForm = operation.types.includes('multipart/form-data')
  return {
    method: operation.method,
    path: addressOf(operation, values),
    authorization: `Bearer ${token}`,
    ...(isForm && validForm(operation)),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

const OWNED = [...LIBRARY_TABLES, ...DEVICE_TABLES, ...IMPORT_TABLES, 'members', 'sessions', 'activity', 'emailUndos']
/** All rows of a member, but for the day on which access tokens were used last. */
const readRows = async ({ database }: Api, memberId: number) => {
  await waitForImports([database])
  const tokens =
    'select tokenHash, tokenId, name, scopes, hint, createdAt, expiresAt, kind, bookStatus, tagId, year from accessTokens where memberId = ?1'
  const queries = [...OWNED.map((table) => `select * from ${table} where memberId = ?1`), tokens]
  const results = await database.batch(queries.map((query) => database.prepare(query).bind(memberId)))
  return JSON.stringify(results.map(({ results }) => results))
}

const problemsOf = (
  operation: Operation,
  expected: Outcome,
  baseline: number,
  { status, headers, text }: ApiResponse,
) => {
  const code = headers.get('X-Error-Code') ?? ''
  const challenge = headers.get('WWW-Authenticate')
  const found = `${status} ${code}`
  switch (expected) {
    case 'any but a refusal':
      return REFUSALS.includes(code) ? [found] : []
    case 'allowed':
      return status === baseline && !REFUSALS.includes(code) ? [] : [`${found}, a session gets ${baseline}`]
    case 'not found':
      return status === 404 && code.endsWith('_NOT_FOUND') ? [] : [found]
    case 'UNAUTHORIZED':
      return status === 401 && code === expected && isChallenge(challenge) ? [] : [found]
    case 'SESSION_REQUIRED':
      return status === 403 && code === expected && challenge === null ? [] : [found]
    case 'INSUFFICIENT_SCOPE': {
      const wanted = `Bearer error="insufficient_scope", scope="${operation.scopes.join(' ')}"`
      const isNamed = operation.scopes.every((scope) => text.includes(scope))
      return status === 403 && code === expected && challenge === wanted && isNamed
        ? []
        : [`${found} ${challenge} ${text}`]
    }
  }
}

/** Prepares the member on whose data refused requests are tried. */
export const prepareAccess = (api: Api) => prepareMember(api)

/**
 * Tries an operation with every kind of token. If the token must be refused, no data of the member may change or be
 * disclosed; if it is allowed, the response must have the status that a session gets.
 */
export const tryCallers = async (api: Api, owner: Member, operation: Operation) => {
  const outcome = { cells: 0, refused: 0, failures: [] as string[] }
  const isRead = operation.method === 'GET' || !operation.needsToken
  const sender = isRead ? owner : await prepareMember(api, operation)
  const { status: baseline } = await api.request(toRequest(operation, sender, sender.token))
  for (const caller of callersOf(operation)) {
    const expected = expectedOutcome(operation, caller)
    const isUnharmed = isRefusal(expected) || caller.isStranger
    const member = isUnharmed || isRead ? owner : await prepareMember(api, operation)
    const issuer = caller.isStranger ? { ...member, ...(await api.insertMember()) } : member
    const token = await caller.issue(api, issuer)
    const before = await readRows(api, owner.memberId)
    const response = await api.request(toRequest(operation, member, token))
    const problems = problemsOf(operation, expected, baseline, response)
    if (isUnharmed && response.text.includes(MARK) && operation.needsToken)
      problems.push('the response contains the data')
    if ((await readRows(api, owner.memberId)) !== before) problems.push('the data of the member was changed')
    outcome.cells += 1
    if (isRefusal(expected)) outcome.refused += 1
    outcome.failures.push(
      ...problems.map(
        (problem) => `${operation.method} ${operation.template} with ${caller.name}: not ${expected}: ${problem}`,
      ),
    )
  }
  // Otherwise the member would reach the limit on access tokens.
  const forget = api.database.prepare('delete from accessTokens where memberId = ?1 and tokenId <> ?2')
  await forget.bind(owner.memberId, owner.tokenId).run()
  // A change of e-mail address also needs the right password or a mailed code: a session gets 400 without.
  const isAllowed = baseline < 300 || (baseline === 400 && operation.template.includes('email'))
  return { ...outcome, isAllowed, baseline }
}
