import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { blockMember } from '../../../scripts/members/block'
import { createUndoCode } from '../../../src/accounts/email-change/undo-change'
import { MAX_LINKS } from '../../../src/accounts/links/schema'
import { MAX_TOKENS } from '../../../src/accounts/tokens/schema'
import { createAccessToken, createLinkSecret } from '../../../src/auth/access-token'
import type { Bindings } from '../../../src/env'
import type { ErrorCode } from '../../../src/errors'
import { MAX_JSON_BYTES } from '../../../src/input/body'
import { hashText } from '../../../src/input/request-key'
import { MAX_IMAGE_BYTES } from '../../../src/library/images/schema'
import { MAX_READINGS } from '../../../src/library/readings/schema'
import { MAX_ROWS } from '../../../src/library/stats/schema'
import { MAX_TAGS } from '../../../src/library/tags/schema'
import { DEADLINES } from '../../../src/runtime/deadlines'
import { MAX_PARTS } from '../../../src/transfer/reader/images/image'
import { DEFAULT_QUOTAS, type Quota } from '../../../src/values/quotas'
import { insertEmailCode } from '../../support/accounts/email-changes'
import { ofType, PASSWORD, type Reader, send, signUp } from '../../support/api'
import { join, type Part, repeat } from '../../support/bytes'
import {
  brokenDatabase,
  changeDatabase,
  fillTags,
  insertImport,
  insertReadings,
  memberDatabase,
  memberSlot,
  select,
} from '../../support/database'
import { addressOf, bodyOf, fromOf, type Operation, operations } from '../../support/document/operations'
import { memberIdOf } from '../../support/images/images'
import { gif } from '../../support/images/pictures'
import { PIXEL, toFileForm, validForm } from '../../support/inputs/file-form'
import { refusing } from '../../support/rate-limits'
import { eventually, holdClock } from '../../support/runtime/clock'
import { insertAccessToken, insertLink } from '../../support/tokens'

let reader: Reader
let other: Reader
let blocked: Reader
let ids: Record<string, string>
/** An access token without any scope. */
let powerless: string
/** Has an import that runs. */
let importer: Reader
/** Has an import that replaced a text. */
let overwriter: Reader
let overwritingImport: string
/** The token of the device that sent it. */
const DEVICE = crypto.randomUUID()
/** Has as many access tokens, links and tags as a member may have. */
let hoarder: Reader
let linkToFullYear: string
/** Has as many readings as a book may have. */
let fullBookId: string
let hoardedBook: string
let taggedBook: string
/** Another book, with a memo and a reading. */
let mergedBook: string
/** In the trash: a book; a memo whose book is there, too; a book with a new tag of a member who has no room for one. */
let trash: Record<'book' | 'memoOfBook' | 'taggedBook', string>
beforeAll(async () => {
  for (const level of ['error', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})
  reader = await signUp()
  other = await signUp()
  blocked = await signUp()
  await blockMember(memberDatabase(), await memberIdOf(blocked))
  const { bookId } = await reader.createBook({ bookStatus: 'ING' })
  const { memoId } = await reader.createMemo(bookId)
  const [memberId = '', name = ''] = (await reader.upload(PIXEL)).body.split('/').slice(-2)
  powerless = await insertAccessToken(memberDatabase(), await memberIdOf(reader), [], memberSlot())
  importer = await signUp()
  await insertImport(await memberIdOf(importer), 'RUNNING', 0)
  overwriter = await signUp()
  overwritingImport = String(await insertImport(await memberIdOf(overwriter), 'DONE', 1))
  await select(
    'update imports set created = 0, updated = 1, tokenId = ? where importId = ?',
    ...[DEVICE, overwritingImport],
  )
  await select(
    `update importRows set outcome = 'updated', bookId = ?, undo = '{"changes":{},"growth":1}' where importId = ?`,
    ...[(await overwriter.createBook()).bookId, overwritingImport],
  )
  hoarder = await signUp()
  for (let n = 0; n < MAX_TOKENS; n++) {
    await insertAccessToken(memberDatabase(), await memberIdOf(hoarder), ['profile:read'], memberSlot())
  }
  for (let n = 0; n < MAX_LINKS; n++) {
    const named = { slot: memberSlot(), kind: 'YEAR', variant: 2019 } as const
    linkToFullYear = await insertLink(memberDatabase(), await memberIdOf(hoarder), named)
  }
  fullBookId = String((await reader.createBook()).bookId)
  await insertReadings(Number(fullBookId), MAX_READINGS + 1)
  mergedBook = String((await reader.createBook({ bookStatus: 'ING' })).bookId)
  await reader.createMemo(Number(mergedBook))
  const { bookId: ofMemo } = await reader.createBook()
  const { memoId: ofDeletedBook } = await reader.createMemo(ofMemo)
  const { memoId: deletedMemo } = await reader.createMemo(bookId)
  const { bookId: tagged } = await hoarder.createBook()
  await hoarder.send('PUT', `/books/${tagged}/tags`, { body: { tags: ['Other'] } })
  for (const path of [`memos/${ofDeletedBook}`, `books/${ofMemo}`, `memos/${deletedMemo}`])
    await reader.delete(`/${path}`)
  await hoarder.delete(`/books/${tagged}`)
  trash = { book: `book-${ofMemo}`, memoOfBook: `memo-${ofDeletedBook}`, taggedBook: `book-${tagged}` }
  const hoarded = await hoarder.createBook()
  taggedBook = String(hoarded.bookId)
  await fillTags(await memberIdOf(hoarder), hoarded.bookId, MAX_TAGS)
  hoardedBook = String((await hoarder.createBook()).bookId)
  const { bookId: rereadBook } = await hoarder.createBook()
  await hoarder.send('PUT', '/goals/2019', { body: { metric: 'BOOKS', target: 1 } })
  await insertReadings(rereadBook, MAX_ROWS + 2)
  await select(`update readings set finishedAt = '2019' where bookId = ?`, rereadBook)
  await insertEmailCode(await memberIdOf(reader), other.email)
  await select(`insert into documents (memberId, document, createdAt) values (?, 'document', 0)`, memberId)
  ids = {
    'book-id': `${bookId}`,
    bookId: `${bookId}`,
    'memo-id': `${memoId}`,
    'reading-id': `${bookId}`,
    'member-id': memberId,
    'trash-id': `memo-${deletedMemo}`,
    'document-id': 'document',
    name,
    link: await insertLink(memberDatabase(), Number(memberId), { slot: memberSlot(), kind: 'SHELF', variant: 0 }),
  }
})

type Call = {
  path: string
  token: string | undefined
  headers: Record<string, string>
  type: string | undefined
  body: BodyInit | undefined
  changed: Partial<Bindings>
}
/** What differs from a valid call to an operation. */
type Cause = Partial<Call> | ((operation: Operation) => Partial<Call> | Promise<Partial<Call>>)

/** A value for the path and query parameters with these names. */
const withParameters =
  (value: string, names = /./) =>
  (operation: Operation) => {
    const changed = [...operation.path, ...operation.query].filter((name) => names.test(name))
    return { path: addressOf(operation, Object.fromEntries(changed.map((name) => [name, value]))) }
  }

/** A value for the fields with these names. */
const withFields =
  (value: unknown, names = /./) =>
  (operation: Operation) => {
    const changed = operation.fields.filter((name) => names.test(name)).map((name) => [name, value])
    return { body: JSON.stringify({ ...(bodyOf(operation) as object), ...Object.fromEntries(changed) }) }
  }

const withFile = (...parts: Part[]) => toFileForm(join(...parts))
const disconnected = () => new ReadableStream({ pull: (controller) => controller.error(new Error('disconnected')) })
// Not retried, unlike other failures.
const overloaded = brokenDatabase('D1 DB is overloaded')
const unreachable = () => Promise.reject(new Error('unreachable'))
const absent = withParameters('9007199254740991', /id$/i)
// Not the provider of CATALOGUE_BUSY, which gets no requests for a while.
const withOpenLibrary = (scenario: string) => ({
  changed: { CATALOGUE_PROVIDER: 'open-library', CATALOGUE_CONTACT: `scenario=${scenario}` },
})

/** A book of which the catalogue has to know the rest. */
const withoutTitle = ({ types }: Operation) => types.length > 0 && { body: JSON.stringify({ isbn: '9780980200447' }) }

/** A cursor that no log proves: {"c":1,"t":1,"p":"000000000000000"} */
const OTHER_LOG = 'eyJjIjoxLCJ0IjoxLCJwIjoiMDAwMDAwMDAwMDAwMDAwIn0'

const QUOTAS = Object.keys(DEFAULT_QUOTAS).map((quota) => [quota, { changed: { [quota]: '0' } }])

/** What makes any operation that documents an error fail with it. */
const CAUSES: Record<Exclude<ErrorCode, 'NOT_FOUND' | 'METHOD_NOT_ALLOWED'>, Cause> = {
  UNAUTHORIZED: { token: undefined },
  INSUFFICIENT_SCOPE: () => ({ token: powerless }),
  SESSION_REQUIRED: () => ({ token: powerless }),
  IF_MATCH_UNSUPPORTED: { headers: { 'If-Match': '"1"' } },
  AUTHORIZATION_NOT_ALLOWED: { headers: { Authorization: 'Bearer x' } },
  // No member has the address of a valid call.
  LOGIN_FAILED: {},
  ORIGIN_NOT_ALLOWED: { headers: { Origin: 'null' }, changed: { CORS_ORIGINS: 'https://app.example' } },
  MEMBER_BLOCKED: () => ({ body: JSON.stringify({ email: blocked.email, password: PASSWORD }) }),
  MEMBER_EXISTS: (operation) => withFields(other.email, /email/i)(operation),
  INVALID_FIELDS: withFields({}),
  INVALID_PARAMETERS: (operation) => ({
    ...withParameters(' ')(operation),
    headers: { 'Idempotency-Key': 'two words' },
  }),
  BODY_MISSING: { body: undefined },
  BODY_MALFORMED: { body: '"' },
  BODY_INCOMPLETE: () => ({ body: disconnected() }),
  BODY_TOO_LARGE: { body: ' '.repeat(MAX_JSON_BYTES + 1) },
  UNSUPPORTED_MEDIA_TYPE: { type: 'text/html' },
  FILE_TOO_LARGE: () => withFile(new Uint8Array(MAX_IMAGE_BYTES + 1)),
  TOO_MANY_PIXELS: withFile('GIF89a', [255, 255, 255, 255]),
  IMAGE_TOO_COMPLEX: withFile(gif({ extra: repeat(MAX_PARTS, [0x21, 0xfe, 0]) })),
  UNSUPPORTED_IMAGE: withFile('text'),
  FILE_NOT_IMPORTABLE: withFile('PK\x03\x04'),
  IMAGE_DAMAGED: withFile(PIXEL.subarray(0, 20)),
  BOOK_NOT_FOUND: (operation) =>
    operation.path.includes('document-id') ? withFields(2 ** 53 - 1, /^bookId$/)(operation) : absent(operation),
  MEMO_NOT_FOUND: absent,
  READING_NOT_FOUND: absent,
  IMAGE_NOT_FOUND: absent,
  IMPORT_NOT_FOUND: absent,
  DOCUMENT_NOT_FOUND: withParameters('absent', /^document-id$/),
  TRASH_NOT_FOUND: withParameters('book-9007199254740991', /^trash-id$/),
  TAG_NOT_FOUND: (operation) => (operation.fields.includes('kind') ? withFields('absent', /^tag$/)(operation) : {}),
  GOAL_NOT_FOUND: withParameters('1999', /^year$/),
  LINK_NOT_FOUND: (operation) => ({ path: addressOf(operation, { link: 'x', 'link-id': crypto.randomUUID() }) }),
  TOKEN_NOT_FOUND: withParameters(crypto.randomUUID(), /^token-id$/),
  SESSION_NOT_FOUND: withParameters(crypto.randomUUID(), /^session-id$/),
  PRECONDITION_FAILED: ({ template }): Partial<Call> =>
    template === '/books/{book-id}'
      ? { headers: { 'If-Unchanged-Since': OTHER_LOG } }
      : { headers: { 'If-Match': '"other"' } },
  ISBN_NOT_FOUND: { body: JSON.stringify({ isbn: '9791190090018' }) },
  RANGE_NOT_SATISFIABLE: { headers: { Range: 'bytes=999999-' } },
  ...(Object.fromEntries(QUOTAS) as Record<Quota, Cause>),
  MAX_MEMBER_TEXT_BYTES: (operation) => ({
    changed: { MAX_MEMBER_TEXT_BYTES: '0' },
    // An undo needs room for the text that comes back.
    ...((operation.method === 'DELETE' || operation.path.includes('token-id')) && {
      token: overwriter.token,
      path: addressOf(operation, { 'import-id': overwritingImport, 'token-id': DEVICE }),
    }),
  }),
  MAX_BOOKS: (operation) => ({
    changed: { MAX_BOOKS: '0' },
    ...(operation.path.includes('trash-id') && { path: addressOf(operation, { 'trash-id': trash.book }) }),
  }),
  MAX_IDEMPOTENCY_KEYS: { changed: { MAX_IDEMPOTENCY_KEYS: '0' }, headers: { 'Idempotency-Key': 'new' } },
  RESYNC_REQUIRED: withParameters(OTHER_LOG, /^cursor$/),
  CREATED_AND_DELETED: (operation) => afterUse(operation, "id = 0, name = ''"),
  IDEMPOTENCY_KEY_REUSED: (operation) => afterUse(operation, 'requestHash = zeroblob(16)'),
  BOOK_NOT_IN_LIBRARY: (operation) => withParameters(trash.memoOfBook, /^trash-id$/)(operation),
  IMPORT_RUNNING: () => ({ token: importer.token }),
  MAX_READINGS: (operation) => withParameters(fullBookId)(operation),
  READING_OPEN: (operation) => ({ ...withParameters(mergedBook)(operation), body: '{}' }),
  MAX_BOOK_TAGS: (operation) => ({
    token: hoarder.token,
    path: addressOf(operation, { 'book-id': taggedBook }),
    body: JSON.stringify({
      ...{ from: Number(hoardedBook), add: ['One more', 'Another'] },
      ...{ ids: [Number(taggedBook)], addTags: ['One more', 'Another'] },
    }),
  }),
  MAX_TOKENS: () => ({ token: hoarder.token }),
  MAX_LINKS: () => ({ token: hoarder.token }),
  MAX_STATS_ROWS: (operation) => ({
    ...(operation.needsToken && { token: hoarder.token }),
    path: addressOf(operation, { year: '2019', link: linkToFullYear }),
  }),
  MAX_TAGS: (operation) => ({
    token: hoarder.token,
    ...(operation.fields.includes('ids') && {
      body: JSON.stringify({ ids: [Number(hoardedBook)], addTags: ['One more'] }),
    }),
    path: addressOf(operation, { 'book-id': hoardedBook, 'trash-id': trash.taggedBook }),
  }),
  // Limits of callers refuse only the request after the one that exceeds them.
  TOO_MANY_REQUESTS: (operation) => ({
    changed: { NETWORK_LIMIT: refusing, CREDENTIAL_LIMIT: refusing },
    ...(operation.needsToken
      ? { token: createAccessToken(memberSlot()) }
      : {
          path: addressOf(operation, {
            ...ids,
            link: createLinkSecret({ slot: memberSlot(), kind: 'YEAR', variant: 1 }),
          }),
        }),
  }),
  CATALOGUE_FAILED: (operation) => ({ ...withoutTitle(operation), ...withOpenLibrary('broken') }),
  CATALOGUE_TIMED_OUT: (operation) => ({ ...withoutTitle(operation), ...withOpenLibrary('silent') }),
  CATALOGUE_BUSY: (operation) => ({
    ...withoutTitle(operation),
    changed: { CATALOGUE_PROVIDER: 'yes24', YES24_API_KEY: 'scenario=quota' },
  }),
  UNAVAILABLE: (operation) => ({
    // A malformed undo code is refused without the database.
    ...(operation.fields.join() === 'authenticationCode' &&
      withFields(createUndoCode(0), /^authenticationCode$/)(operation)),
    changed: {
      // The sample provider needs no database.
      ...withOpenLibrary('success').changed,
      DB: overloaded,
      ...changeDatabase(overloaded),
      IMAGES: { get: unreachable, head: unreachable } as unknown as R2Bucket,
    },
  }),
  INTERNAL: { changed: { JWT_SECRET: '' } },
}

/** A request with an idempotency key that another one has used, after a change of the key's row. */
const afterUse = async (operation: Operation, change: string): Promise<Partial<Call>> => {
  const key = crypto.randomUUID()
  const headers = { 'Idempotency-Key': key }
  expect(await fail(operation, { headers })).toMatchObject({ status: 201 })
  await select(`update idempotencyKeys set ${change} where keyHash = unhex(?)`, await hashText(key))
  return { headers }
}

const validBody = (operation: Operation) => {
  if (operation.types.includes('multipart/form-data')) return validForm(operation)
  const named = {
    bookId: Number(ids['book-id']),
    from: fromOf(operation, mergedBook, 'absent'),
    ids: [Number(ids['book-id'])],
  }
  const body = bodyOf(operation, named)
  return { type: operation.types[0], body: body === undefined ? undefined : JSON.stringify(body) }
}

const fail = async (operation: Operation, cause: Cause) => {
  const { path, token, type, body, changed, headers }: Call = {
    path: addressOf(operation, ids),
    token: operation.needsToken ? reader.token : undefined,
    headers: {},
    changed: {},
    ...validBody(operation),
    ...(typeof cause === 'function' ? await cause(operation) : cause),
  }
  const typed = ofType(type, body)
  const authorization = token && { Authorization: `Bearer ${token}` }
  const options = { ...typed, headers: { ...typed.headers, ...authorization, ...headers }, changed }
  const answer = await send(operation.method, path, options)
  return { status: answer.status, code: answer.headers.get('X-Error-Code') }
}

/** Lets time pass until a request is answered whose provider never answers. */
const passTime = async (answer: Promise<unknown>) => {
  let isAnswered = false
  void answer.then(() => {
    isAnswered = true
  })
  await eventually(async () => {
    await vi.advanceTimersByTimeAsync(DEADLINES.provider)
    expect(isAnswered).toBe(true)
  })
}

afterEach(vi.useRealTimers)

it.each(operations)('$method $template answers every error that the document names', async (operation) => {
  for (const { status, code } of operation.errors) {
    const cause = CAUSES[code as keyof typeof CAUSES]
    if (!cause) throw new Error(`CAUSES has no ${code}`)
    if (code === 'CATALOGUE_TIMED_OUT') holdClock()
    const failed = fail(operation, cause)
    if (code === 'CATALOGUE_TIMED_OUT') await passTime(failed)
    expect(await failed, code).toEqual({ status, code })
    vi.useRealTimers()
  }
})
