import { beforeAll, describe, expect, it } from 'vitest'
import { exportMember } from '../../../scripts/members/export'
import type { ExportedBook, LibraryExport } from '../../../src/transfer/export/responses'
import { toCursor } from '../../../src/values/cursor'
import { type Answer, type Reader, signUp } from '../../support/api'
import { measure, memberDatabase, memberSlot, select } from '../../support/database'
import { TOKENS } from '../../support/devices/sitting-rows'
import { insertSittings } from '../../support/devices/sittings'
import { memberIdOf } from '../../support/images/images'
import { PIXEL } from '../../support/inputs/file-form'
import { SOME_EDITION } from '../../support/model/library'

const PATHS = ['/export', '/export.csv', '/export/memos.md']

const put = (reader: Reader, path: string, body: unknown) => reader.send('PUT', path, { body })
const exported = async (reader: Reader): Promise<LibraryExport> => (await reader.get('/export')).body
const bookOf = ({ books }: LibraryExport, bookId: number) =>
  books.find((book) => book.bookId === bookId) as ExportedBook

let reader: Reader
let bookId: number
let unreadId: number
let deletedId: number
let image: string
beforeAll(async () => {
  reader = await signUp()
  const book = { title: 'The Salt Archive', author: 'Mina Oh', publisher: 'Quay House', isbn: '0446675504' }
  const cover = 'https://covers.library.test/1.jpg'
  const dates = { readStartDate: '2026-03-01T20:30:00', readEndDate: '2026-03-14T23:10:05' }
  bookId = (await reader.createBook({ ...book, cover, itemPage: 312, bookStatus: 'DONE', ...dates })).bookId
  await reader.patch(`/books/${bookId}`, { star: 4 })
  await reader.patch(`/books/${bookId}/edition`, {
    ...{ ...SOME_EDITION, isbn: '9780446675505', sourceIds: ['goodreads:81234', 'calibre:0e9f7a52'] },
  })
  await reader.send('PATCH', `/books/created-date/${bookId}`, { body: '2025-12-30T08:00:00' })
  await reader.post(`/books/${bookId}/readings`, { startedAt: '2019', finishedAt: '2019-08', rating: 4.25 })
  await reader.post(`/books/${bookId}/readings`, {
    ...{ startedAt: '2020-01-02', outcome: 'STOPPED', format: 'AUDIO', note: 'Too <b>slow</b>.\n"Later"' },
  })
  await reader.post(`/books/${bookId}/progress`, { page: 120, minutes: 25, at: '2026-03-02T10:00:00Z' })
  await insertSittings(await memberIdOf(reader), bookId, [
    { day: '2026-03-03', seconds: 89 },
    { day: '2026-03-03', seconds: 1, document: 'another', tokenId: TOKENS[1] },
    { day: '2026-03-02', seconds: 5 },
  ])
  await put(reader, `/books/${bookId}/tags`, { tags: ['sea', 'Favourites', '소설'] })
  const memo = { memoBookPage: 12, memoContent: '  # “Salt”\n\n<p>and water</p>\u2028', memoType: 'QUESTION' }
  await reader.createMemo(bookId, { ...memo, memoAuthority: 'PUBLIC' })
  await reader.createMemo(bookId, { memoBookPage: 0, memoContent: 'Second', memoType: 'BOOK_CONTENT' })
  unreadId = (await reader.createBook({ title: 'Unread' })).bookId
  deletedId = (await reader.createBook({ title: 'Deleted' })).bookId
  await reader.createMemo(deletedId)
  await reader.delete(`/books/${deletedId}`)
  image = (await reader.upload(PIXEL)).body
})

describe('the export as JSON', () => {
  it('is what operators export, which needs no session and counts towards no limit of the member', async () => {
    const operators = []
    const stored = { slot: memberSlot(), memberId: await memberIdOf(reader), database: memberDatabase() }
    await select('update sessions set sessionId = sessionId || 0 where memberId = ?', stored.memberId)
    for await (const part of exportMember(stored, 'https://library.test')) operators.push(await part.json())
    await select('update sessions set sessionId = substr(sessionId, 1, 36) where memberId = ?', stored.memberId)
    const answer = await reader.get('/export')
    expect(operators).toEqual([{ ...answer.body, exportedAt: expect.any(String) }])
    expect(answer.headers.get('RateLimit')).toContain('r=19')
  })

  it('has all data of the member', async () => {
    const answer = await reader.get('/export')
    expect(answer.status).toBe(200)
    const { books, ...head } = answer.body as LibraryExport
    expect(head).toEqual({
      ...{ format: 'reading-library', version: 1, part: 1, last: true },
      exportedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      member: { email: reader.email, name: 'Reader', timeZone: null },
      goals: [],
      images: [
        {
          name: image.split('/').at(-1),
          url: image,
          type: 'image/gif',
          bytes: expect.any(Number),
          createdAt: expect.any(String),
        },
      ],
      trash: [expect.objectContaining({ trashId: `book-${deletedId}`, title: 'Deleted', memoCount: 1 })],
    })
    expect(books.map((book) => book.bookId)).toEqual([bookId, unreadId])
    const exactTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const { readings, memos, progress, sittings, ...book } = bookOf(answer.body, bookId)
    expect(book).toEqual({
      ...{ bookId, title: 'The Salt Archive', author: 'Mina Oh', publisher: 'Quay House' },
      ...{ cover: 'https://covers.library.test/1.jpg', createdAt: '2025-12-30T08:00:00', star: 4, currentPage: 120 },
      ...{
        itemPage: 312,
        bookStatus: 'DONE',
        readStartDate: '2026-03-01T20:30:00',
        readEndDate: '2026-03-14T23:10:05',
      },
      ...{ ...SOME_EDITION, isbn: '9780446675505', sourceIds: ['goodreads:81234', 'calibre:0e9f7a52'] },
      tags: ['Favourites', 'sea', '소설'],
    })
    const noReading = { startedAt: null, finishedAt: null, rating: null, format: null, note: null, paused: false }
    const id = expect.any(Number)
    expect(readings).toEqual([
      {
        ...noReading,
        readingId: id,
        createdAt: exactTime,
        startedAt: '2019',
        finishedAt: '2019-08',
        outcome: 'FINISHED',
        rating: 4.25,
      },
      {
        ...noReading,
        ...{ readingId: id, createdAt: exactTime, startedAt: '2020-01-02', outcome: 'STOPPED', format: 'AUDIO' },
        note: 'Too <b>slow</b>.\n"Later"',
      },
      {
        ...noReading,
        readingId: bookId,
        createdAt: null,
        startedAt: '2026-03-01',
        finishedAt: '2026-03-14',
        outcome: 'FINISHED',
        rating: 4,
      },
    ])
    expect(progress).toEqual([
      { at: '2026-03-02T10:00:00.000Z', page: 120, kind: 'PROGRESS', minutes: 25, seconds: null },
    ])
    expect(sittings).toEqual([
      { date: '2026-03-02', minutes: 1 },
      { date: '2026-03-03', minutes: 2 },
    ])
    const times = { createdAt: expect.any(String), updatedAt: expect.any(String), memoLikesCount: 0, memoId: id }
    expect(memos).toEqual([
      {
        ...{ ...times, memoBookPage: 12, memoContent: '  # “Salt”\n\n<p>and water</p>\u2028', memoType: 'QUESTION' },
        memoAuthority: 'PUBLIC',
      },
      { ...times, memoBookPage: 0, memoContent: 'Second', memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE' },
    ])
  })

  it('has the same readings as the list of readings', async () => {
    const { body } = await reader.get(`/books/${bookId}/readings`)
    const { readings } = bookOf(await exported(reader), bookId)
    expect(readings.map(({ createdAt: _, ...reading }) => reading)).toEqual(body.toReversed())
  })

  it('has the only reading of a book that was read once', async () => {
    const member = await signUp()
    const dates = { readStartDate: '2026-01-01T01:02:03', readEndDate: '2026-01-05T00:00:00' }
    const ids = []
    for (const book of [{ bookStatus: 'DONE', ...dates }, { bookStatus: 'ING', ...dates }, { ...dates }]) {
      ids.push((await member.createBook(book)).bookId)
    }
    await member.patch(`/books/${ids[0]}`, { star: 3 })
    const library = await exported(member)
    for (const id of ids) {
      const { body } = await member.get(`/books/${id}/readings`)
      expect(bookOf(library, id).readings).toEqual(body.map((reading: object) => ({ ...reading, createdAt: null })))
    }
  })

  it('is valid without books', async () => {
    const { body } = await (await signUp()).get('/export')
    expect(body).toMatchObject({ part: 1, last: true, books: [], images: [] })
  })
})

describe('a file', () => {
  it.each([
    ['/export', 'application/json', /^attachment; filename="reading-library-\d{4}-\d\d-\d\d\.json"$/],
    ['/export.csv', 'text/csv; charset=utf-8', /^attachment; filename="reading-library-\d{4}-\d\d-\d\d\.csv"$/],
    ['/export/memos.md', 'text/markdown; charset=utf-8', /^attachment; filename="memos-\d{4}-\d\d-\d\d\.md"$/],
  ])('of %s has its type and name, also for HEAD', async (path, type, name) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await reader.send(method, path)
      expect(status).toBe(200)
      expect(headers.get('Content-Type')).toBe(type)
      expect(headers.get('Content-Disposition')).toMatch(name)
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('Link')).toBe(`<${path}?part=1>; rel="first"`)
      expect(body === null).toBe(method === 'HEAD')
    }
  })

  it.each(PATHS)('of %s needs a token; an access token needs all scopes', async (path) => {
    expect((await reader.send('GET', path, { headers: { Authorization: '' } })).status).toBe(401)
    const create = async (...scopes: string[]) => (await reader.post('/tokens', { name: 'x', scopes })).body.token
    const load = async (token: string) =>
      (await reader.send('GET', path, { headers: { Authorization: `Bearer ${token}` } })).status
    expect(await load(await create('profile:read'))).toBe(403)
    expect(await load(await create('library:read', 'memos:read', 'profile:read'))).toBe(200)
  })
})

const limitOf = ({ headers }: Answer) => [headers.get('RateLimit'), headers.get('RateLimit-Policy')]

describe('the limit', () => {
  it('is 20 exports a day in all formats together, and refuses further ones without reading books', async () => {
    const member = await signUp()
    await member.createBook()
    for (let n = 0; n < 20; n++) {
      const answer = await member.get(PATHS[n % 3] ?? '')
      expect([answer.status, ...limitOf(answer)]).toEqual([
        200,
        expect.stringMatching(`^"export";r=${19 - n};t=86\\d{3}$`),
        '"export";q=20;w=86400',
      ])
    }
    for (const path of PATHS) {
      const answer = await member.get(path)
      expect([answer.status, answer.headers.get('X-Error-Code')]).toEqual([429, 'TOO_MANY_REQUESTS'])
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(86_000)
      expect(limitOf(answer)[0]).toMatch(/^"export";r=0;t=8\d{4}$/)
    }
    expect((await reader.get('/export')).status).toBe(200)
  })

  it('holds for concurrent requests', async () => {
    const member = await signUp()
    const answers = await Promise.all(Array.from({ length: 30 }, () => member.get('/export.csv')))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
  })

  it('of further parts is separate', async () => {
    const member = await signUp()
    const plan = toCursor({ part: 2, exportedAt: 0, after: 1, last: 1 })
    const answer = await member.get(`/export?part=2&plan=${plan}`)
    expect([answer.status, limitOf(answer)[0]]).toEqual([200, expect.stringMatching(/^"export-part";r=399;/)])
    expect(limitOf(await member.get('/export'))[0]).toMatch(/^"export";r=19;/)
    expect((await member.get('/export?part=2')).status).toBe(400)
    expect(limitOf(await member.get('/export'))[0]).toMatch(/^"export";r=17;/)
  })
})

describe('other members', () => {
  it('see nothing of the library, and no row of it is read', async () => {
    const stranger = await signUp()
    const other = await signUp()
    for (const path of PATHS) {
      const { body } = await stranger.get(path)
      expect(JSON.stringify(body)).not.toContain('Salt')
    }
    const empty = await measure(() => other.get('/export'))
    expect((await measure(() => stranger.get('/export'))).read).toBeLessThanOrEqual(empty.read + 10)
  })

  it('cannot use the token of a member who has withdrawn', async () => {
    const member = await signUp()
    await member.createBook()
    expect((await member.delete('/members/me')).status).toBe(204)
    for (const path of PATHS) expect((await member.get(path)).status).toBe(401)
    expect(await select('select * from books where memberId = ?', await memberIdOf(member))).toEqual([])
  })
})
