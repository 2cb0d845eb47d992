// One member's data, tried by every caller who must not reach it: every operation of the document, over any transport.
import { checkAgainstDocument } from '../document/document'
import { addressOf, bodyOf, fromOf, idOperations, type Operation, operations } from '../document/operations'
import { PIXEL, toExport, toFileForm, validForm } from '../inputs/file-form'
import { takeSnapshot } from '../stores'
import { claimsOf, signClaims } from '../tokens'

type Body = string | Uint8Array<ArrayBuffer>
/** `WWW-Authenticate` of a 401. */
export const isChallenge = (header: string | null | undefined) =>
  /^Bearer(?: error="invalid_token")?$/.test(header ?? '')

export type ApiRequest = { method: string; path: string; authorization?: string; type?: string; body?: Body }
export type ApiResponse = { status: number; headers: Headers; text: string }
type Account = { email: string; token: string }

/** How a suite reaches the service. */
export type Api = {
  request: (request: ApiRequest) => Promise<ApiResponse>
  signUp: () => Promise<Account>
  logIn: (email: string, password?: string) => Promise<Account>
  /** Creates a member in a database other than that of members who sign up, if there are several. */
  createElsewhere?: () => Promise<Account>
  secret: string
}

/** `isRevoked`: only the database knows that the token is invalid, so invalid input is refused before it. */
type Caller = { name: string; authorization: string | undefined; isRevoked?: true }
type Ids = {
  bookId: string
  memoId: string
  readingId: string
  tag: string
  /** Of a goal. */
  year: string
  memberId: string
  imageName: string
  sessionId: string
  tokenId: string
  linkId: string
  importId: string
  trashId: string
  documentId: string
}

/** Of the books of all members here. */
const ISBN = '9788936434120'
/** The owner's data contains this text, so it must appear in no other caller's response. */
const MARK = 'only-the-owner-may-read-this'
const NEW_PASSWORD = 'a-changed-password-2'
const IDS_PER_SLOT = 2 ** 40
const NIL = '00000000-0000-0000-0000-000000000000'
/** Identifiers that never existed, one of them in the range of the slot. */
const neverUsed = ({ bookId }: Ids) =>
  [Math.floor(Number(bookId) / IDS_PER_SLOT) * IDS_PER_SLOT + 999_999, Number.MAX_SAFE_INTEGER].map(String).map(
    (id): Ids => ({
      bookId: id,
      memoId: id,
      readingId: String(Math.min(Number(id) + IDS_PER_SLOT / 2, Number.MAX_SAFE_INTEGER)),
      tag: `never used ${id}`,
      year: String(2900 + (Number(id) % 100)),
      memberId: id,
      imageName: `${'A'.repeat(22)}.png`,
      sessionId: NIL,
      tokenId: NIL,
      linkId: NIL,
      importId: id,
      trashId: `book-${id}`,
      documentId: id,
    }),
  )

/** Sends a request that must succeed, and returns the body. */
export const call = async (
  api: Pick<Api, 'request'>,
  { token }: Pick<Account, 'token'>,
  method: string,
  path: string,
  body?: object,
) => {
  const request = { method, path, authorization: `Bearer ${token}`, ...(body && { body: JSON.stringify(body) }) }
  const { status, text } = await api.request(request)
  if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`)
  return text === '' ? {} : JSON.parse(text)
}

const upload = async (api: Pick<Api, 'request'>, { token }: Pick<Account, 'token'>) => {
  const request = { method: 'POST', path: '/memos/image-memo', authorization: `Bearer ${token}`, ...toFileForm(PIXEL) }
  const { status, text } = await api.request(request)
  if (status !== 201) throw new Error(`upload: ${status} ${text}`)
  const [memberId = '', imageName = ''] = new URL(JSON.parse(text)).pathname.split('/').slice(-2)
  return { memberId, imageName }
}

/** Imports a file with one new book. */
const importBook = async (api: Pick<Api, 'request'>, member: Pick<Account, 'token'>, file: Uint8Array) => {
  const form = toFileForm(file)
  const authorization = `Bearer ${member.token}`
  const { status, text: body } = await api.request({ method: 'POST', path: '/imports', authorization, ...form })
  if (status !== 202) throw new Error(`import: ${status} ${body}`)
  const { importId } = JSON.parse(body)
  // It runs after the response.
  for (let attempts = 0; attempts < 2000; attempts++) {
    const { status, counts } = await call(api, member, 'GET', `/imports/${importId}`)
    if (status === 'DONE' && counts.created === 1) return String(importId)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('The import does not end')
}

/** Deletes a book with a memo. */
const createTrash = async (api: Pick<Api, 'request'>, member: Pick<Account, 'token'>, text: string) => {
  const { bookId } = await call(api, member, 'POST', '/books', { title: text })
  await call(api, member, 'POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: text })
  await call(api, member, 'DELETE', `/books/${bookId}`)
  return `book-${bookId}`
}

/** Pushes a document, as a device of the member. Returns its identifier. */
const pushDocument = async (api: Pick<Api, 'request'>, member: Pick<Account, 'token'>, text: string) => {
  const device = await call(api, member, 'POST', '/tokens', { name: text, scopes: ['intake:write'] })
  const document = crypto.randomUUID()
  const position = {
    document,
    progress: text,
    percentage: 0.5,
    device: text,
    device_id: text,
    metadata: { title: text },
  }
  await call(api, device, 'PUT', '/koreader/syncs/progress', position)
  return document
}

const sessionIdOf = ({ token }: Pick<Account, 'token'>) => String(claimsOf(token).sid)

/** Creates a book with all that it may have, a memo, an image, an access token and an import, as far as they are needed. */
export const createLibrary = async (
  api: Pick<Api, 'request'>,
  member: Pick<Account, 'token'>,
  text: string,
  needs: (...parameters: string[]) => boolean = () => true,
): Promise<Ids> => {
  const create = (path: string, body: object, method = 'POST') => call(api, member, method, path, body)
  const book = { title: text, author: text }
  const { bookId } = needs('book-id', 'bookId', 'memo-id', 'reading-id', 'tag', 'year')
    ? await create('/books', book)
    : {}
  const tag = `${text} ${bookId}`
  const year = String(1900 + (Number(bookId) % 1000))
  const { memoId } = needs('memo-id')
    ? await create(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: text })
    : {}
  const { readingId } = needs('reading-id') ? await create(`/books/${bookId}/readings`, { note: text }) : {}
  const image = needs('name') ? await upload(api, member) : { memberId: '0', imageName: '' }
  const { tokenId } = needs('token-id') ? await create('/tokens', { name: text, scopes: ['intake:write'] }) : {}
  const link = { name: text, kind: 'SHELF' }
  const { linkId } = needs('link-id') ? await create('/links', link) : {}
  const importId = needs('import-id') ? await importBook(api, member, toExport(tag, bookId, text)) : NIL
  const trashId = needs('trash-id') ? await createTrash(api, member, text) : ''
  const documentId = needs('document-id') ? await pushDocument(api, member, text) : ''
  if (needs('tag')) await create(`/books/${bookId}/tags`, { tags: [tag] }, 'PUT')
  if (needs('edition')) await create(`/books/${bookId}/edition`, { isbn: ISBN, series: text }, 'PATCH')
  if (needs('progress')) await create(`/books/${bookId}/progress`, { page: 12 })
  if (needs('year')) await create(`/goals/${year}`, { metric: 'BOOKS', target: 12 }, 'PUT')
  return {
    bookId: String(bookId),
    memoId: String(memoId),
    readingId: String(readingId),
    tag,
    year,
    ...image,
    sessionId: sessionIdOf(member),
    tokenId,
    linkId,
    importId,
    trashId,
    documentId,
  }
}

/** An owner with one resource of each kind, and all callers who must not reach them, with their Authorization headers. */
export const prepareIsolation = async (api: Api) => {
  const firstSession = await api.signUp()
  const library = await createLibrary(api, firstSession, MARK)
  const deleted = await createLibrary(api, firstSession, MARK)
  await call(api, firstSession, 'DELETE', `/books/${deleted.bookId}`)
  await call(api, firstSession, 'DELETE', `/images/${deleted.memberId}/${deleted.imageName}`)
  await call(api, firstSession, 'DELETE', `/tokens/${deleted.tokenId}`)
  await call(api, firstSession, 'DELETE', `/links/${deleted.linkId}`)
  await call(api, firstSession, 'DELETE', `/imports/${deleted.importId}`)
  await call(api, firstSession, 'DELETE', `/goals/${deleted.year}`)
  for (const trashId of [deleted.trashId, `book-${deleted.bookId}`])
    await call(api, firstSession, 'DELETE', `/trash/${trashId}`)
  // A password change ends all other sessions.
  await call(api, await api.logIn(firstSession.email), 'PATCH', '/members/me', { password: NEW_PASSWORD })
  const owner = await api.logIn(firstSession.email, NEW_PASSWORD)
  const ids = { ...library, sessionId: sessionIdOf(owner) }
  const ended = await api.logIn(firstSession.email, NEW_PASSWORD)
  await call(api, ended, 'POST', '/logout')

  const stranger = await api.signUp()
  const own = await createLibrary(api, stranger, 'own')
  const withdrawn = await api.signUp()
  await call(api, withdrawn, 'DELETE', '/members/me')
  const claims = claimsOf(owner.token)
  const expired = await signClaims({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 }, api.secret)
  const forged = await signClaims(claims, 'a secret that the service does not have, long enough')
  const [header, , signature] = owner.token.split('.')
  const [, rerouted] = (await signClaims({ ...claims, slot: claims.slot === 1 ? 2 : 1 }, api.secret)).split('.')
  const unauthenticated: Caller[] = [
    { name: 'no token', authorization: undefined },
    { name: 'a scheme without a token', authorization: 'Bearer' },
    { name: 'another scheme', authorization: `Basic ${owner.token}` },
    { name: 'an expired token', authorization: `Bearer ${expired}` },
    { name: 'a forged token', authorization: `Bearer ${forged}` },
    { name: 'a token with another slot', authorization: `Bearer ${header}.${rerouted}.${signature}` },
    { name: 'a token revoked by a password change', authorization: `Bearer ${firstSession.token}`, isRevoked: true },
    { name: 'a token whose member logged out', authorization: `Bearer ${ended.token}`, isRevoked: true },
    { name: 'the token of a withdrawn member', authorization: `Bearer ${withdrawn.token}`, isRevoked: true },
  ]
  const newcomer = await api.signUp()
  const elsewhere = await api.createElsewhere?.()
  const others: Caller[] = [{ name: 'another member', authorization: `Bearer ${stranger.token}` }]
  if (elsewhere) others.push({ name: 'a member of another slot', authorization: `Bearer ${elsewhere.token}` })
  const memberId = Number(claims.sub)
  const fromElsewhere = elsewhere && {
    ids: await createLibrary(api, elsewhere, MARK),
    deleted,
    others: [{ name: 'a member of another slot', authorization: `Bearer ${owner.token}` }],
    unauthenticated: [],
  }
  return {
    owner: { ...owner, memberId },
    stranger,
    newcomer,
    ids,
    own,
    deleted,
    others,
    unauthenticated,
    fromElsewhere,
  }
}

export type Isolation = Awaited<ReturnType<typeof prepareIsolation>>
/** One member's data and everyone who must not reach it. */
type Trial = Pick<Isolation, 'ids' | 'deleted' | 'others' | 'unauthenticated'>

type Attempt = { method: string; type?: string; body?: Body; isOwnMethod: boolean; isValid: boolean }

/** The parameters and fields that name what a member has. */
export const valuesOf = ({ bookId, memoId, readingId, tag, year, memberId, imageName, ...ids }: Ids) => ({
  'book-id': bookId,
  bookId,
  'memo-id': memoId,
  'reading-id': readingId,
  tag,
  tagInBody: tag,
  year,
  'member-id': memberId,
  name: imageName,
  'session-id': ids.sessionId,
  'token-id': ids.tokenId,
  'link-id': ids.linkId,
  'import-id': ids.importId,
  'trash-id': ids.trashId,
  'document-id': ids.documentId,
})
const addressWith = (operation: Operation, ids: Ids) => addressOf(operation, valuesOf(ids))
/** Only `from` names something in a body: `name` and others are ordinary fields there. */
const bodyWith = (operation: Operation, { bookId, tag }: Ids) =>
  JSON.stringify(bodyOf(operation, { bookId: Number(bookId), from: fromOf(operation, bookId, tag) }))

/** The operation's method with valid, empty, invalid, malformed and missing bodies. */
const attemptsWithOwnMethod = (operation: Operation, ids: Ids): Attempt[] => {
  const { method, types, fields, required } = operation
  const own = { method, isOwnMethod: true }
  if (types.length === 0) return [{ ...own, isValid: true }]
  const missing = { ...own, isValid: false }
  if (types.includes('multipart/form-data')) return [{ ...own, ...validForm(operation), isValid: true }, missing]
  return [
    { ...own, body: bodyWith(operation, ids), isValid: true },
    { ...own, body: '{}', isValid: fields.length > 0 && required.length === 0 },
    { ...missing, body: '{"memoContent":""}' },
    { ...missing, body: '{' },
    missing,
  ]
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Whether a method of the same path names nothing of a member: images are public, and tags are listed there. */
const isGeneral = ({ template }: Operation, method: string) =>
  operations.some((other) => {
    const methods = other.method === 'GET' ? ['GET', 'HEAD'] : [other.method]
    return other.template === template && !idOperations.includes(other) && methods.includes(method)
  })

/** With the first operation of an address, also the methods that no operation of this address has. */
const attemptsWithAnyMethod = (operation: Operation, ids: Ids): Attempt[] => {
  const address = addressWith(operation, ids)
  const siblings = idOperations.filter((other) => addressWith(other, ids) === address)
  const others = METHODS.filter(
    (method) =>
      siblings[0] === operation && !siblings.some((other) => other.method === method) && !isGeneral(operation, method),
  )
  const attempts = others.map((method) => ({ method, isOwnMethod: false, isValid: false }))
  return [...attemptsWithOwnMethod(operation, ids), ...attempts]
}

/** Everything in a response except what differs between any two requests. */
const comparable = ({ status, headers, text }: ApiResponse) =>
  JSON.stringify([status, [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'), text])

const describe = ({ method, path, body }: ApiRequest) => `${method} ${path} ${body ?? ''}`.trimEnd()
const parseJson = (text: string) => (text === '' ? null : JSON.parse(text))

const problemsOf = (request: ApiRequest, response: ApiResponse, expected: number | undefined) => {
  const { status, headers, text } = response
  const problems: string[] = []
  if (text.includes(MARK)) problems.push('the response contains the owner’s data')
  if (expected !== undefined && status !== expected) problems.push(`${status} instead of ${expected}`)
  if (status < 400 && request.method !== 'OPTIONS') problems.push(`${status}: not refused`)
  if (expected === 401 && !isChallenge(headers.get('WWW-Authenticate'))) problems.push('no WWW-Authenticate header')
  if (expected === 401 && request.method !== 'HEAD') {
    const body = parseJson(text)
    if (body?.status !== 401 || body.fieldErrors !== null) problems.push(`body ${text}`)
  }
  // A preflight is not an operation of the document.
  if (request.method === 'OPTIONS') return problems
  try {
    const [path = ''] = request.path.split('?')
    checkAgainstDocument(request.method, path, { status, headers, body: parseJson(text) })
  } catch (error) {
    problems.push(String(error))
  }
  return problems
}

/**
 * Tries an operation on the owner's book, memo, image or session as every other caller, and compares each response with those for
 * ids that never existed and for deleted things: they must be identical to the byte.
 */
export const tryOnOthersData = async (api: Api, trial: Trial, operation: Operation) => {
  const { ids, deleted, others, unauthenticated } = trial
  const outcome = { compared: 0, refused: 0, failures: [] as string[] }
  const callers: [Caller, number][] = [
    ...others.map((caller): [Caller, number] => [caller, 404]),
    ...unauthenticated.map((caller): [Caller, number] => [caller, 401]),
  ]
  for (const [{ name, authorization, isRevoked }, status] of callers) {
    const absences = [...neverUsed(ids), deleted].map((other) => ({
      other,
      attempts: attemptsWithAnyMethod(operation, other),
    }))
    for (const [index, { isOwnMethod, isValid, ...attempt }] of attemptsWithAnyMethod(operation, ids).entries()) {
      const request = { ...attempt, path: addressWith(operation, ids), authorization }
      const response = await api.request(request)
      const needsValid = status === 404 || isRevoked
      const expected = (needsValid ? isValid : isOwnMethod) ? status : undefined
      const problems = problemsOf(request, response, expected)
      if (expected === response.status) outcome.refused += 1
      for (const { other, attempts } of absences) {
        outcome.compared += 1
        const { body } = attempts[index] ?? {}
        const absent = await api.request({ ...request, body, path: addressWith(operation, other) })
        if (comparable(absent) !== comparable(response)) {
          problems.push(`${comparable(response)}, but for ids ${JSON.stringify(other)} ${comparable(absent)}`)
        }
      }
      outcome.failures.push(...problems.map((problem) => `${describe(request)} by ${name}: ${problem}`))
    }
  }
  return outcome
}

/** An operation with valid input, on the owner's data and on data that does not exist, by every other caller. */
export const comparableRequests = (trial: Trial, operation: Operation) => {
  const { ids, deleted, others, unauthenticated } = trial
  const toRequest = (authorization: string | undefined, each: Ids): ApiRequest => {
    const [attempt] = attemptsWithOwnMethod(operation, each)
    if (!attempt) throw new Error(`${operation.template} has no valid request`)
    const { isOwnMethod: _, isValid: __, ...request } = attempt
    return { ...request, path: addressWith(operation, each), authorization }
  }
  return [...others, ...unauthenticated].map(({ name, authorization }) => ({
    name,
    existing: toRequest(authorization, ids),
    absent: [...neverUsed(ids), deleted].map((each) => toRequest(authorization, each)),
  }))
}

/** SQL that fills a book with 130 memos of 60 KB, which must not affect the cost of a refused request. */
export const fillBook = (bookId: string, memberId: number) => `
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 130)
  insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  select (select max(memoId) from memos) + i, ${bookId}, ${memberId},
    (select max(position) from memos where memberId = ${memberId}) + i, 'SUMMARY', hex(zeroblob(30000)), 1, 'PUBLIC',
    '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`

/** The operations that need a token but name no book, memo, image or session. */
export const otherOperations = operations.filter((each) => each.needsToken && !idOperations.includes(each))

/** Tries an operation with every kind of missing or invalid token: each is refused with 401. */
export const tryUnauthenticated = async (api: Api, { unauthenticated, ids }: Isolation, operation: Operation) => {
  const failures: string[] = []
  for (const { name, authorization, isRevoked } of unauthenticated) {
    for (const { isOwnMethod, isValid, ...attempt } of attemptsWithOwnMethod(operation, ids)) {
      const request = { ...attempt, path: addressOf(operation), authorization }
      const problems = problemsOf(request, await api.request(request), isRevoked && !isValid ? undefined : 401)
      failures.push(...problems.map((problem) => `${describe(request)} with ${name}: ${problem}`))
    }
  }
  return failures
}

/** All that a new member has: the session, and the login that began it. */
const isOfNewMember = ({ current, kind }: { current?: boolean; kind?: string }) => current || kind === 'LOGIN'

/** Reads every view that lists a member's data, as members who have none of it. */
export const readViews = async (api: Api, { newcomer, stranger, ids }: Isolation) => {
  const ofOwner = { q: MARK, author: MARK, tag: ids.tag, isbn: ISBN }
  const views = otherOperations.filter(({ method }) => method === 'GET').map((view) => addressOf(view, ofOwner))
  // Without parameters, these cover all books. The operation itself searches in one book, or exports those after one.
  views.push(`/memos/search?q=${MARK}`, '/export', '/export.csv', '/export/memos.md')
  const failures: string[] = []
  for (const path of views) {
    const read = ({ token }: Account) => api.request({ method: 'GET', path, authorization: `Bearer ${token}` })
    const [{ text, headers }, { text: other }] = [await read(newcomer), await read(stranger)]
    if (text.includes(MARK) || other.includes(MARK)) failures.push(`${path} contains the owner’s data`)
    const body = headers.get('Content-Type')?.startsWith('application/json') ? JSON.parse(text) : {}
    // The statistics have a number of books.
    const list = [body, body.item, body.books].find(Array.isArray) ?? []
    if (!list.every(isOfNewMember)) failures.push(`${path} lists ${text} for a new member`)
  }
  return { views: views.length, failures }
}

/** Requests that name both the caller's data and the owner's: none may move or change anything of the owner's. */
export const mixParents = async (api: Api, { owner, stranger, ids, own }: Isolation, database: D1Database) => {
  const memo = { memoBookPage: 1, memoContent: 'own' }
  const { memberId } = owner
  const requests: [method: string, path: string, body: object | undefined, expected: number][] = [
    ['POST', `/memos?bookId=${ids.bookId}`, memo, 404],
    ['POST', `/memos?bookId=${own.bookId}&bookId=${ids.bookId}`, memo, 400],
    ['POST', `/memos?bookId=${own.bookId}`, { ...memo, bookId: ids.bookId, memberId }, 201],
    ['PATCH', `/memos/${own.memoId}`, { memoBookPage: 2, bookId: ids.bookId, memberId, memoId: ids.memoId }, 200],
    ['PATCH', `/memos/${own.memoId}?bookId=${ids.bookId}`, { memoBookPage: 3 }, 200],
    ['PATCH', `/books/${own.bookId}`, { star: 2, bookId: ids.bookId, memberId }, 200],
    ['POST', '/books', { title: 'x', bookId: ids.bookId, memberId }, 201],
    ['DELETE', `/memos/${ids.memoId}?bookId=${own.bookId}`, undefined, 404],
    ['POST', `/books/${own.bookId}/readings`, { finishedAt: '2026', bookId: ids.bookId, memberId }, 201],
    ['PATCH', `/readings/${own.readingId}?bookId=${ids.bookId}`, { rating: 2, bookId: ids.bookId, memberId }, 200],
    ['POST', `/books/${own.bookId}/progress`, { page: 7, bookId: ids.bookId, memberId }, 201],
    ['PATCH', `/books/${own.bookId}/edition`, { language: 'ko', bookId: ids.bookId, memberId }, 200],
    ['PUT', `/books/${own.bookId}/tags`, { tags: [ids.tag, 'own'], bookId: ids.bookId, memberId }, 200],
    ['PATCH', `/books/${own.bookId}/tags`, { add: [ids.tag], remove: ['own'], bookId: ids.bookId, memberId }, 200],
    ['PATCH', `/books/${own.bookId}/tags`, { add: ['own'], remove: [ids.tag], memberId }, 200],
    ['PATCH', '/tags', { from: 'own', to: ids.tag, memberId }, 200],
    [
      ...(['PATCH', '/books'] as const),
      {
        ids: [own.bookId, ids.bookId].map(Number),
        set: { star: 3 },
        addTags: [ids.tag],
        removeTags: ['own'],
        memberId,
      },
      200,
    ],
    ['POST', '/books/delete', { ids: [Number(ids.bookId)], bookId: ids.bookId, memberId }, 200],
    ['POST', `/books/${own.bookId}/merge`, { from: Number(ids.bookId), memberId }, 404],
    ['POST', `/books/${ids.bookId}/merge`, { from: Number(own.bookId), memberId }, 404],
    ['DELETE', `/tags?tag=${encodeURIComponent(ids.tag)}&bookId=${ids.bookId}`, undefined, 204],
  ]
  const before = await takeSnapshot([database], memberId)
  const failures: string[] = []
  for (const [method, path, body, expected] of requests) {
    const authorization = `Bearer ${stranger.token}`
    const { status } = await api.request({ method, path, authorization, body: body && JSON.stringify(body) })
    if (status !== expected) failures.push(`${method} ${path} ${JSON.stringify(body)}: ${status}, not ${expected}`)
  }
  const ofOther = (table: string) =>
    `select '${table}', bookId from ${table} join books using (bookId) where ${table}.memberId <> books.memberId`
  const { results: moved } = await database
    .prepare(['memos', 'readings', 'progress', 'bookTags'].map(ofOther).join(' union all '))
    .all()
  if (moved.length > 0) failures.push(`details of another member's book: ${JSON.stringify(moved)}`)
  const isUnchanged = (await takeSnapshot([database], memberId)) === before
  if (!isUnchanged) failures.push('the owner’s data was changed')
  return { requests: requests.length, moved: moved.length, isUnchanged, failures }
}
