import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Reader, signUp } from '../support/api'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.registers()).bookId
})

const memo = { memoBookPage: 12, memoContent: '<p>새는 알에서 나오려고 투쟁한다.</p>' }
const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)

describe('POST /memos', () => {
  it('writes a memo, private and of the book’s content unless told otherwise', async () => {
    const answer = await reader.post(`/memos?bookId=${bookId}`, memo)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('Location')).toBe(`/memos/${answer.body.memoId}`)
    expect(answer.body).toEqual({
      ...memo,
      memoId: expect.any(Number),
      memoType: 'BOOK_CONTENT',
      memoAuthority: 'PRIVATE',
      memoLikesCount: 0,
      createdAt: stamp,
      updatedAt: stamp,
    })
  })

  it.each([
    [
      { memoType: '', memoAuthority: null },
      { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE' },
    ],
    [
      { memoType: null, memoAuthority: '' },
      { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE' },
    ],
    [
      { memoType: 3, memoAuthority: 1 },
      { memoType: 'QUESTION', memoAuthority: 'PUBLIC' },
    ],
    [
      { memoType: '2', memoAuthority: '0' },
      { memoType: 'THOUGHT', memoAuthority: 'PRIVATE' },
    ],
    [
      { memoType: 'SUMMARY', memoAuthority: 'PUBLIC' },
      { memoType: 'SUMMARY', memoAuthority: 'PUBLIC' },
    ],
    [{ memoContent: `\u202E'%_\\\r\n\t😀` }, { memoContent: `\u202E'%_\\\r\n\t😀` }],
    [{ memoContent: 'ß'.repeat(65_535) }, { memoContent: 'ß'.repeat(65_535) }],
    [
      { memoBookPage: 0, memoId: 1, memoLikesCount: 7 },
      { memoBookPage: 0, memoLikesCount: 0 },
    ],
  ])('takes %o', async (sent, kept) => {
    expect(await reader.post(`/memos?bookId=${bookId}`, { ...memo, ...sent })).toMatchObject({
      status: 201,
      body: kept,
    })
  })

  it.each([
    { memoContent: undefined },
    { memoContent: null },
    { memoContent: ' \n' },
    { memoContent: 'x'.repeat(65_536) },
    { memoContent: 'a\0' },
    { memoContent: 5 },
    { memoBookPage: undefined },
    { memoBookPage: null },
    { memoBookPage: '1' },
    { memoBookPage: -1 },
    { memoBookPage: 1.5 },
    { memoBookPage: 2_147_483_648 },
    { memoType: 4 },
    { memoType: 'summary' },
    { memoAuthority: 2 },
    { memoAuthority: true },
  ])('refuses %o, and stores nothing', async (wrong) => {
    const count = () => env.DB.prepare('select count(*) as n from memos').first('n')
    const before = await count()
    const answer = await reader.post(`/memos?bookId=${bookId}`, { ...memo, ...wrong })
    expect(answer).toMatchObject({ status: 400, body: { status: 0, fieldErrors: [{ field: Object.keys(wrong)[0] }] } })
    expect(answer.body.fieldErrors).toHaveLength(1)
    expect(answer.body.fieldErrors[0].reason).toMatch(/^(is required|must )/)
    expect(await count()).toBe(before)
  })

  it('needs a book that is the caller’s', async () => {
    expect((await reader.post('/memos', memo)).body.violationErrors).toMatchObject([{ propertyPath: 'bookId' }])
    expect((await reader.post('/memos?bookId=0', memo)).status).toBe(400)
    expect(await reader.post('/memos?bookId=9007199254740991', memo)).toMatchObject({
      status: 404,
      body: { status: 404, message: 'Book not found' },
    })
  })
})

describe('PATCH /memos/{memo-id}', () => {
  it('changes what is sent and keeps what is absent', async () => {
    const { memoId } = await reader.writes(bookId, memo)
    const answer = await reader.patch(`/memos/${memoId}`, { memoType: 1, memoBookPage: 0, memoLikesCount: 99 })
    expect(answer).toMatchObject({
      status: 200,
      body: { ...memo, memoId, memoType: 'SUMMARY', memoBookPage: 0, memoAuthority: 'PRIVATE', memoLikesCount: 0 },
    })
    expect(await reader.patch(`/memos/${memoId}`, {})).toMatchObject({ status: 200, body: answer.body })
  })

  it.each([{ memoContent: null }, { memoContent: '' }, { memoType: null }, { memoType: '' }, { memoAuthority: 'ALL' }])(
    'refuses %o',
    async (wrong) => {
      const { memoId } = await reader.writes(bookId)
      const answer = await reader.patch(`/memos/${memoId}`, wrong)
      expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field: Object.keys(wrong)[0] }] } })
    },
  )
})

describe('DELETE /memos/{memo-id}', () => {
  it('deletes once, and never gives the identifier again', async () => {
    const { memoId } = await reader.writes(bookId)
    expect(await reader.delete(`/memos/${memoId}`)).toMatchObject({ status: 204, body: null })
    expect(await reader.delete(`/memos/${memoId}`)).toMatchObject({ status: 404, body: { message: 'Memo not found' } })
    expect((await reader.writes(bookId)).memoId).toBeGreaterThan(memoId)
  })
})

describe('a book’s memos', () => {
  const types = ['THOUGHT', 'SUMMARY', 'QUESTION', 'THOUGHT', 'BOOK_CONTENT', 'SUMMARY']
  let writer: Reader
  let about: number
  let ids: number[]
  beforeAll(async () => {
    writer = await signUp()
    about = (await writer.registers()).bookId
    ids = []
    for (const [at, memoType] of types.entries()) {
      ids.push((await writer.writes(about, { memoType, memoAuthority: at % 2 })).memoId)
    }
    await writer.writes((await writer.registers()).bookId)
  })
  const newestFirst = (keep: (at: number) => boolean) => ids.filter((_, at) => keep(at)).reverse()
  const idsOf = (list: { memoId: number }[]) => list.map(({ memoId }) => memoId)

  it('are all in its detail, or those that one authority lets through; memoCount counts all', async () => {
    const detail = async (authority: string) => (await writer.get(`/books/${about}?memoAuthority=${authority}`)).body
    expect(idsOf((await detail('ALL')).memosList)).toEqual(newestFirst(() => true))
    const open = await detail('PUBLIC')
    expect(idsOf(open.memosList)).toEqual(newestFirst((at) => at % 2 === 1))
    expect(idsOf((await detail('PRIVATE')).memosList)).toEqual(newestFirst((at) => at % 2 === 0))
    expect(idsOf((await detail('1')).memosList)).toEqual(idsOf(open.memosList))
    expect(open.memoCount).toBe(6)
    expect(Object.keys(open.memosList[0])).toHaveLength(8)
  })

  it('are listed by type, a page at a time', async () => {
    const list = async (query: string) => (await writer.get(`/books/${about}/memos?${query}`)).body
    const all = await list('memoType=ALL&page=2&size=4')
    expect(idsOf(all.item)).toEqual(newestFirst(() => true).slice(4))
    expect(all.pageInfo).toEqual({ page: 2, size: 4, totalElements: 6, totalPages: 2 })
    expect((await list('memoType=2&page=1&size=4')).item[0].memoType).toBe('THOUGHT')
    for (const type of ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']) {
      const page = await list(`memoType=${type}&page=1&size=10`)
      expect(idsOf(page.item), type).toEqual(newestFirst((at) => types[at] === type))
      expect(page.pageInfo.totalElements, type).toBe(page.item.length)
    }
  })

  it('need a type, an authority, and a book', async () => {
    expect((await writer.get(`/books/${about}`)).body.violationErrors).toMatchObject([
      { propertyPath: 'memoAuthority' },
    ])
    expect((await writer.get(`/books/${about}/memos?page=1&size=1`)).body.violationErrors).toMatchObject([
      { propertyPath: 'memoType', rejectedValue: null },
    ])
    expect((await writer.get('/books/999999/memos?memoType=ALL&page=1&size=1')).status).toBe(404)
  })
})

describe('GET /memos/random', () => {
  it('is an empty array when there is none', async () => {
    expect(await (await signUp()).get('/memos/random')).toMatchObject({ status: 200, body: [] })
  })

  it('draws each memo equally often, also after deletions from the middle', async () => {
    const drawer = await signUp()
    const book = await drawer.registers()
    const written: number[] = []
    for (let n = 0; n < 12; n++) written.push((await drawer.writes(book.bookId)).memoId)
    for (const at of [0, 5, 11]) await drawer.delete(`/memos/${written[at]}`)
    const left = written.filter((_, at) => ![0, 5, 11].includes(at))

    const drawn = new Map<number, number>(left.map((memoId) => [memoId, 0]))
    const draws = 900
    for (let n = 0; n < draws; n++) {
      const { body } = await drawer.get('/memos/random')
      expect(Object.keys(body[0]).sort()).toEqual(['memoBookPage', 'memoContent', 'memoId', 'memoType'])
      drawn.set(body[0].memoId, (drawn.get(body[0].memoId) ?? Number.NaN) + 1)
    }
    const expected = draws / left.length
    const chiSquare = [...drawn.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 8 degrees of freedom: a fair draw exceeds this once in a million runs.
    expect(chiSquare).toBeLessThan(42.7)
  })
})
