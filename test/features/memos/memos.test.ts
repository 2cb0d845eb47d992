import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, sharedReader, signUp } from '../../support/api'
import * as invalid from '../../support/inputs/invalid-values'
import { itRejects, violation } from '../../support/inputs/invalid-values'
import { getBook, namesAndCodes, snapshot, TIMESTAMP, type ValidCase } from '../../support/library'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await sharedReader()
  bookId = (await reader.createBook()).bookId
})

const TYPES = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
const AUTHORITIES = ['PRIVATE', 'PUBLIC']
const MEMO = { memoBookPage: 12, memoContent: '<p>새는 알에서 나오려고 투쟁한다.</p>' }
const DEFAULTS = { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE' }
const STORED = {
  ...MEMO,
  ...DEFAULTS,
  memoId: expect.any(Number),
  memoLikesCount: 0,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
}

/** Valid values of both creation and update. */
const VALID: ValidCase[] = [
  ...namesAndCodes('memoType', TYPES),
  ...namesAndCodes('memoAuthority', AUTHORITIES),
  [{ memoBookPage: 0 }],
  [{ memoBookPage: 2 ** 31 - 1 }],
  [{ memoContent: '가'.repeat(65_535) }],
  // Unknown keys are ignored.
  [{ memoId: 1, bookId: 1, memoLikesCount: 7 }, { memoLikesCount: 0 }],
  ...Object.values(invalid.UNUSUAL_TEXTS).map((memoContent): ValidCase => [{ memoContent }]),
  [{ memoContent: `\u202E'%_\\\r\n\t😀` }],
]
const PAGE = { ...invalid.NOT_INT, ...invalid.QUOTED, ...invalid.NULL }
const CONTENT = { ...invalid.notText(65_535), ...invalid.NULL, ...invalid.BLANK }

describe('POST /memos', () => {
  const post = (memo: object) => reader.post(`/memos?bookId=${bookId}`, { ...MEMO, ...memo })

  it.each([
    ...VALID,
    [{}, DEFAULTS],
    [{ memoType: null, memoAuthority: '' }, DEFAULTS],
    [{ memoType: '', memoAuthority: null }, DEFAULTS],
  ])('accepts $0', async (sent, stored = sent) => {
    const answer = await post({ ...sent, createdAt: '2000-01-01T00:00:00' })
    expect(answer).toEqual({ status: 201, headers: expect.anything(), body: { ...STORED, ...stored } })
    expect(answer.headers.get('Location')).toBe(`/memos/${answer.body.memoId}`)
    expect(answer.body.createdAt).not.toBe('2000-01-01T00:00:00')
    expect((await getBook(reader, bookId)).memosList).toContainEqual(answer.body)
    expect((await reader.get(`/memos/${answer.body.memoId}`)).body).toEqual({ ...answer.body, bookId })
  })

  it('needs a book of the caller', async () => {
    expect(await reader.post('/memos', MEMO)).toMatchObject(violation('bookId', null))
    expect(await reader.post('/memos?bookId=0', MEMO)).toMatchObject(violation('bookId', '0'))
    const notFound = { status: 404, body: { status: 404, message: 'Book not found' } }
    expect(await reader.post('/memos?bookId=9007199254740991', MEMO)).toMatchObject(notFound)
  })

  itRejects(
    {
      memoBookPage: { ...PAGE, ...invalid.ABSENT },
      memoContent: { ...CONTENT, ...invalid.ABSENT },
      memoType: invalid.notOneOf(TYPES),
      memoAuthority: invalid.notOneOf(AUTHORITIES),
    },
    MEMO,
    (body) => reader.send('POST', `/memos?bookId=${bookId}`, body),
    () => snapshot(reader, bookId),
  )
})

describe('GET /memos/{memo-id}', () => {
  it('returns the memo with its book, and nothing to HEAD', async () => {
    const { memoId } = await reader.createMemo(bookId, MEMO)
    const answer = await reader.get(`/memos/${memoId}`)
    expect(answer).toEqual({ status: 200, headers: expect.anything(), body: { ...STORED, memoId, bookId } })
    expect(await reader.send('HEAD', `/memos/${memoId}`)).toMatchObject({ status: 200, body: null })
  })

  it('returns 404 to other members', async () => {
    const { memoId } = await reader.createMemo(bookId)
    const stranger = await signUp()
    for (const id of [memoId, 9_007_199_254_740_991]) {
      expect(await stranger.get(`/memos/${id}`)).toMatchObject({ status: 404, body: { message: 'Memo not found' } })
    }
  })
})

describe('PATCH /memos/{memo-id}', () => {
  let memoId: number
  const patch = (memo: object) => reader.patch(`/memos/${memoId}`, memo)
  const stored = () => ({ ...STORED, memoId })
  beforeAll(async () => {
    memoId = (await reader.createMemo(bookId, MEMO)).memoId
  })

  it('changes nothing for an empty object', async () => {
    expect(await patch({})).toEqual({ status: 200, headers: expect.anything(), body: stored() })
  })

  it('changes what is sent and keeps what is absent', async () => {
    const changes = { memoType: 'QUESTION', memoAuthority: 'PUBLIC' }
    expect((await patch(changes)).body).toEqual({ ...stored(), ...changes })
    const { body } = await patch({ memoBookPage: 0 })
    expect(body).toEqual({ ...stored(), ...changes, memoBookPage: 0 })
    expect(body.updatedAt >= body.createdAt).toBe(true)
    expect((await getBook(reader, bookId)).memosList).toContainEqual(body)
    expect((await patch({ ...MEMO, memoType: 0, memoAuthority: 0 })).body).toEqual(stored())
  })

  it.each(VALID)('accepts $0', async (sent, expected = sent) => {
    const answer = await patch(sent)
    expect(answer).toMatchObject({ status: 200, body: { memoId, ...expected } })
    expect((await getBook(reader, bookId)).memosList).toContainEqual(answer.body)
  })

  itRejects(
    {
      memoBookPage: PAGE,
      memoContent: CONTENT,
      memoType: { ...invalid.notOneOf(TYPES), ...invalid.NULL, ...invalid.EMPTY },
      memoAuthority: { ...invalid.notOneOf(AUTHORITIES), ...invalid.NULL, ...invalid.EMPTY, ALL: '"ALL"' },
    },
    { memoBookPage: 99 },
    (body) => reader.send('PATCH', `/memos/${memoId}`, body),
    () => snapshot(reader, bookId),
  )
})

it('deletes a memo once, counts one memo less, and never reuses the identifier', async () => {
  const { memoId } = await reader.createMemo(bookId)
  const { memoCount } = await getBook(reader, bookId)
  expect(await reader.delete(`/memos/${memoId}`)).toMatchObject({ status: 204, body: null })
  const notFound = { status: 404, body: { message: 'Memo not found' } }
  expect(await reader.delete(`/memos/${memoId}`)).toMatchObject(notFound)
  expect(await reader.patch(`/memos/${memoId}`, {})).toMatchObject(notFound)
  expect(await reader.get(`/memos/${memoId}`)).toMatchObject(notFound)
  expect((await getBook(reader, bookId)).memoCount).toBe(memoCount - 1)
  expect((await reader.createMemo(bookId)).memoId).toBeGreaterThan(memoId)
})

it.each([
  ['GET', undefined],
  ['PATCH', { memoContent: 'x' }],
  ['PATCH', {}],
  ['DELETE', undefined],
])('%s /memos/{memo-id} %o rejects invalid identifiers', async (method, body) => {
  for (const id of invalid.INVALID_IDS) {
    const answer = await reader.send(method, `/memos/${id}`, { body })
    expect(answer, id).toMatchObject(violation('memo-id', decodeURIComponent(id)))
  }
})

describe('the memos of a book', () => {
  let listed: number
  /** Newest first. */
  const memos: { memoId: number; memoType: string; memoAuthority: string }[] = []
  beforeAll(async () => {
    listed = (await reader.createBook()).bookId
    for (const [index, memoType] of [...TYPES, ...TYPES, 'THOUGHT'].entries()) {
      const memoAuthority = AUTHORITIES[index % 3 === 0 ? 1 : 0] ?? ''
      const { memoId } = await reader.createMemo(listed, { ...MEMO, memoType, memoAuthority })
      memos.unshift({ memoId, memoType, memoAuthority })
    }
  })
  const expected = (keep: (memo: (typeof memos)[number]) => boolean) =>
    memos.filter(keep).map((memo) => ({ ...STORED, ...memo }))

  it.each(['ALL', ...AUTHORITIES])('are in its detail if memoAuthority is %s, newest first', async (authority) => {
    const code = AUTHORITIES.indexOf(authority)
    for (const query of [authority, ...(code < 0 ? [] : [code])]) {
      const { memosList, memoCount } = await getBook(reader, listed, `${query}`)
      expect(memosList).toEqual(expected(({ memoAuthority }) => authority === 'ALL' || memoAuthority === authority))
      expect(memoCount).toBe(memos.length)
    }
  })

  it.each(['ALL', ...TYPES])('are listed if memoType is %s, newest first', async (type) => {
    const code = TYPES.indexOf(type)
    const item = expected(({ memoType }) => type === 'ALL' || memoType === type)
    for (const query of [type, ...(code < 0 ? [] : [code])]) {
      const { body } = await reader.get(`/books/${listed}/memos?memoType=${query}&page=1&size=20`)
      expect(body).toEqual({ item, pageInfo: { page: 1, size: 20, totalElements: item.length, totalPages: 1 } })
    }
  })

  it('are an empty list for a book without any', async () => {
    const { bookId } = await reader.createBook()
    const { body } = await reader.get(`/books/${bookId}/memos?memoType=ALL&page=1&size=20`)
    expect(body).toEqual({ item: [], pageInfo: { page: 1, size: 20, totalElements: 0, totalPages: 0 } })
  })

  it('need a valid authority and a book', async () => {
    expect(await reader.get(`/books/${listed}`)).toMatchObject(violation('memoAuthority', null))
    for (const authority of ['', 'all', 'OTHER', '2']) {
      const answer = await reader.get(`/books/${listed}?memoAuthority=${authority}`)
      expect(answer).toMatchObject(violation('memoAuthority', authority))
    }
    expect((await reader.get('/books/900000000000000/memos?memoType=ALL&page=1&size=1')).status).toBe(404)
  })
})
