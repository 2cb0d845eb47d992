import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, sharedReader } from '../support/api'
import {
  ABSENT,
  BLANK,
  EMPTY,
  fieldError,
  INVALID_IDS,
  invalidCases,
  NOT_INT,
  NULL,
  notOneOf,
  notText,
  QUOTED,
  UNUSUAL_TEXTS,
  violation,
  withField,
} from '../support/invalid-values'
import { getBook, snapshot, TIMESTAMP } from '../support/library'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await sharedReader()
  bookId = (await reader.createBook()).bookId
})

const TYPES = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
const AUTHORITIES = ['PRIVATE', 'PUBLIC']
const MEMO = { memoBookPage: 12, memoContent: '<p>새는 알에서 나오려고 투쟁한다.</p>' }
const STORED = {
  ...MEMO,
  memoId: expect.any(Number),
  memoType: 'BOOK_CONTENT',
  memoAuthority: 'PRIVATE',
  memoLikesCount: 0,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
}
const DEFAULTS = { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE' }

/** Valid values of both creation and update. */
const VALID: [what: string, sent: object, stored: object][] = [
  ...TYPES.flatMap((memoType, code) =>
    [memoType, code, `${code}`].map((sent): (typeof VALID)[0] => [`type ${sent}`, { memoType: sent }, { memoType }]),
  ),
  ...AUTHORITIES.flatMap((memoAuthority, code) =>
    [memoAuthority, code, `${code}`].map((sent): (typeof VALID)[0] => [
      `authority ${sent}`,
      { memoAuthority: sent },
      { memoAuthority },
    ]),
  ),
  ['page 0', { memoBookPage: 0 }, { memoBookPage: 0 }],
  ['page 2^31-1', { memoBookPage: 2 ** 31 - 1 }, { memoBookPage: 2 ** 31 - 1 }],
  ['65,535 characters', { memoContent: '가'.repeat(65_535) }, { memoContent: '가'.repeat(65_535) }],
  ['unknown keys, which it ignores', { memoId: 1, bookId: 1, memoLikesCount: 7 }, { memoLikesCount: 0 }],
  ...Object.entries({ ...UNUSUAL_TEXTS, 'line ends and tabs': `\u202E'%_\\\r\n\t😀` }).map(
    ([what, memoContent]): (typeof VALID)[0] => [what, { memoContent }, { memoContent }],
  ),
]
const CONTENT = { ...notText(65_535), ...NULL, ...BLANK }
const PAGE = { ...NOT_INT, ...QUOTED, ...NULL }
const REASON = expect.stringMatching(/^(is required|must )/)

describe('POST /memos', () => {
  const post = (memo: object) => reader.post(`/memos?bookId=${bookId}`, { ...MEMO, ...memo })

  it('creates a private memo of type BOOK_CONTENT by default', async () => {
    const answer = await post({})
    expect(answer.status).toBe(201)
    expect(answer.headers.get('Location')).toBe(`/memos/${answer.body.memoId}`)
    expect(answer.body).toEqual(STORED)
    expect((await getBook(reader, bookId)).memosList).toContainEqual(answer.body)
  })

  it.each([
    ...VALID,
    ['a null type and an empty authority as the defaults', { memoType: null, memoAuthority: '' }, DEFAULTS],
    ['an empty type and a null authority as the defaults', { memoType: '', memoAuthority: null }, DEFAULTS],
  ])('accepts %s', async (_, sent, stored) => {
    const answer = await post({ ...sent, createdAt: '2000-01-01T00:00:00' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ ...STORED, ...stored })
    expect(answer.body.createdAt).not.toBe('2000-01-01T00:00:00')
    expect((await getBook(reader, bookId)).memosList).toContainEqual(answer.body)
  })

  it('needs a book of the caller', async () => {
    expect(await reader.post('/memos', MEMO)).toMatchObject(violation('bookId', null))
    expect(await reader.post('/memos?bookId=0', MEMO)).toMatchObject(violation('bookId', '0'))
    const notFound = { status: 404, body: { status: 404, message: 'Book not found' } }
    expect(await reader.post('/memos?bookId=9007199254740991', MEMO)).toMatchObject(notFound)
  })

  describe('with an invalid field', () => {
    let before: unknown
    beforeAll(async () => {
      before = await snapshot(reader, bookId)
    })
    it.each(
      invalidCases({
        memoBookPage: { ...PAGE, ...ABSENT },
        memoContent: { ...CONTENT, ...ABSENT },
        memoType: notOneOf(TYPES),
        memoAuthority: notOneOf(AUTHORITIES),
      }),
    )('rejects $what as $field', async ({ field, json }) => {
      const answer = await reader.send('POST', `/memos?bookId=${bookId}`, withField(MEMO, field, json))
      expect(answer).toMatchObject(fieldError(field, json, REASON))
    })
    it('stores nothing', async () => {
      expect(await snapshot(reader, bookId)).toEqual(before)
    })
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
    const answer = await patch({})
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(stored())
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

  it.each(VALID)('accepts %s', async (_, sent, expected) => {
    const answer = await patch(sent)
    expect(answer).toMatchObject({ status: 200, body: { memoId, ...expected } })
    expect((await getBook(reader, bookId)).memosList).toContainEqual(answer.body)
  })

  describe('with an invalid field', () => {
    let before: unknown
    beforeAll(async () => {
      before = await snapshot(reader, bookId)
    })
    it.each(
      invalidCases({
        memoBookPage: PAGE,
        memoContent: CONTENT,
        memoType: { ...notOneOf(TYPES), ...NULL, ...EMPTY },
        memoAuthority: { ...notOneOf([...AUTHORITIES]), ...NULL, ...EMPTY, ALL: '"ALL"' },
      }),
    )('rejects $what as $field', async ({ field, json }) => {
      const answer = await reader.send('PATCH', `/memos/${memoId}`, withField({ memoBookPage: 99 }, field, json))
      expect(answer).toMatchObject(fieldError(field, json, REASON))
    })
    it('changes nothing', async () => {
      expect(await snapshot(reader, bookId)).toEqual(before)
    })
  })
})

describe('DELETE /memos/{memo-id}', () => {
  it('deletes once, counts one memo less, and never reuses the identifier', async () => {
    const { memoId } = await reader.createMemo(bookId)
    const { memoCount } = await getBook(reader, bookId)
    expect(await reader.delete(`/memos/${memoId}`)).toMatchObject({ status: 204, body: null })
    const notFound = { status: 404, body: { message: 'Memo not found' } }
    expect(await reader.delete(`/memos/${memoId}`)).toMatchObject(notFound)
    expect(await reader.patch(`/memos/${memoId}`, {})).toMatchObject(notFound)
    expect((await getBook(reader, bookId)).memoCount).toBe(memoCount - 1)
    expect((await reader.createMemo(bookId)).memoId).toBeGreaterThan(memoId)
  })
})

it.each([
  ['PATCH', { memoContent: 'x' }],
  ['PATCH', {}],
  ['DELETE', undefined],
])('%s /memos/{memo-id} %o rejects invalid identifiers', async (method, body) => {
  for (const id of INVALID_IDS) {
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
