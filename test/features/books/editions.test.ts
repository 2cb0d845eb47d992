import { beforeAll, describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, measure, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import * as invalid from '../../support/inputs/invalid-values'
import { fieldError, itRejects, UNUSUAL_TEXTS, values, violation } from '../../support/inputs/invalid-values'
import { getBook, snapshot, type ValidCase } from '../../support/library'
import { NO_EDITION as NO_DETAILS, SOME_EDITION } from '../../support/model/library'

let reader: Reader
let bookId: number
beforeAll(async () => {
  reader = await signUp()
  bookId = (await reader.createBook()).bookId
})

const NO_EDITION = { title: 'Demian', cover: null, ...NO_DETAILS }
const EDITION = { title: '소년이 온다', cover: 'https://covers.example/human-acts.jpg', ...SOME_EDITION }
const getEdition = async (id = bookId) => (await reader.get(`/books/${id}/edition`)).body
const patch = (body: object, id = bookId) => reader.patch(`/books/${id}/edition`, body)

const WRONG_DIGIT = 'must have a valid check digit: at least one digit is wrong'
const WRONG_PREFIX = 'must start with 978 or 979 if it has 13 digits'
const NO_ISBN = 'must be an ISBN of 10 or 13 digits'

/** Each with its ISBN-13. */
const ISBNS: [sent: string, stored: string][] = [
  ['9788936434120', '9788936434120'],
  ['978-89-364-3412-0', '9788936434120'],
  [' 978 89 364 3412 0 ', '9788936434120'],
  ['978‐89‑364–3412—0', '9788936434120'],
  ['8936434128', '9788936434120'],
  ['89-364-3412-8', '9788936434120'],
  // The check digits of the two forms differ, and X is 10.
  ['080442957X', '9780804429573'],
  ['0-8044-2957-x', '9780804429573'],
  ['9791190090018', '9791190090018'],
]
const NOT_ISBN: [sent: string, reason: string][] = [
  ['9788936434121', WRONG_DIGIT],
  ['9788936431420', WRONG_DIGIT],
  ['8936434120', WRONG_DIGIT],
  ['0804429570', WRONG_DIGIT],
  ['9771234567898', WRONG_PREFIX],
  ['978893643412', NO_ISBN],
  ['97889364341200', NO_ISBN],
  ['89364341', NO_ISBN],
  ['978893643412X', NO_ISBN],
  ['X804429570', NO_ISBN],
  ['９７８８９３６４３４１２０', NO_ISBN],
  ['978_8936434120', NO_ISBN],
  ['ISBN 9788936434120', NO_ISBN],
]

describe('GET /books/{book-id}/edition', () => {
  it('returns nulls and an empty array for a new book', async () => {
    expect(await getEdition()).toEqual({ bookId, ...NO_EDITION })
  })
})

describe('PATCH /books/{book-id}/edition', () => {
  it('updates the given fields, keeps absent ones, and clears those that are null', async () => {
    expect(await patch(EDITION)).toMatchObject({ status: 200, body: { bookId, ...EDITION } })
    expect(await getEdition()).toEqual({ bookId, ...EDITION })
    expect((await patch({ language: 'en', seriesNumber: null })).body).toEqual({
      bookId,
      ...EDITION,
      language: 'en',
      seriesNumber: null,
    })
    const nulls = Object.fromEntries(Object.keys(EDITION).map((field) => [field, null]))
    expect((await patch({ ...nulls, title: 'Demian' })).body).toEqual({ bookId, ...NO_EDITION })
    expect(await getEdition()).toEqual({ bookId, ...NO_EDITION })
  })

  it('changes nothing for an empty object or unknown keys', async () => {
    await patch(EDITION)
    const before = [await getBook(reader, bookId), await getEdition()]
    for (const body of [{}, { bookId: 1, author: 'x', memberId: 1, star: 5, currentPage: 9 }]) {
      expect(await patch(body)).toMatchObject({ status: 200, body: { bookId, ...EDITION } })
    }
    expect([await getBook(reader, bookId), await getEdition()]).toEqual(before)
  })

  it('corrects the title and cover in all views, in the order of the list, and for the search', async () => {
    const owner = await signUp()
    const { bookId: id } = await owner.createBook({ title: 'Zemian', cover: 'https://covers.example/1.jpg' })
    await owner.createBook({ title: 'Meridian' })
    const corrected = { title: 'Démian', cover: 'https://covers.example/2.jpg' }
    expect(await owner.patch(`/books/${id}/edition`, corrected)).toMatchObject({ status: 200, body: corrected })
    expect(await getBook(owner, id)).toMatchObject(corrected)
    expect((await owner.get('/books?sort=title')).body.item).toMatchObject([corrected, { title: 'Meridian' }])
    expect((await owner.get('/books/search?q=D%C3%89MIAN')).body.item).toMatchObject([{ bookId: id }])
    expect((await owner.get('/books/search?q=zemian')).body.item).toEqual([])
    const changes = (await owner.get('/changes')).body.item
    expect(changes).toContainEqual(expect.objectContaining({ id, value: expect.objectContaining(corrected) }))
    expect((await owner.patch(`/books/${id}/edition`, { cover: '' })).body).toMatchObject({ ...corrected, cover: null })
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it.each(ISBNS)('stores the ISBN %s as %s', async (isbn, stored) => {
    expect((await patch({ isbn })).body.isbn).toBe(stored)
  })

  it.each(NOT_ISBN)('rejects the ISBN %s with a reason', async (isbn, reason) => {
    expect(await patch({ isbn })).toMatchObject(fieldError('isbn', JSON.stringify(isbn), reason as never))
  })

  const VALID: ValidCase[] = [
    ...['ko', 'pt-BR', 'zh-Hant-TW', 'mis', `en-${'abcdefgh-'.repeat(3)}abcde`].map(
      (language): ValidCase => [{ language }],
    ),
    ...['PAPER', 'EBOOK', 'AUDIO'].map((format): ValidCase => [{ format }]),
    ...[-3000, -1, 0, 9999].map((publishedYear): ValidCase => [{ publishedYear }]),
    ...[0, 0.5, 1.5, 100_000].map((seriesNumber): ValidCase => [{ seriesNumber }]),
    ...[1, 3_600_000].map((seconds): ValidCase => [{ seconds }]),
    ...['subtitle', 'series'].flatMap((field): ValidCase[] => [
      [{ [field]: '가'.repeat(500) }],
      [{ [field]: '' }, { [field]: null }],
      ...Object.values(UNUSUAL_TEXTS).map((text): ValidCase => [{ [field]: text }]),
    ]),
    [{ sourceIds: [] }],
    [{ sourceIds: Array.from({ length: 20 }, (_, n) => `goodreads:${n}`) }],
    [{ sourceIds: [`bookwyrm:https://books.example/${'x'.repeat(168)}`, 'open-library:/works/OL1W'] }],
  ]
  it.each(VALID)('accepts $0', async (sent, stored = sent) => {
    expect(await patch(sent)).toMatchObject({ status: 200, body: stored })
    expect(await getEdition()).toMatchObject(stored)
  })

  itRejects(
    {
      title: { ...invalid.notText(500), ...invalid.BLANK, ...invalid.NULL },
      subtitle: invalid.notText(500),
      cover: invalid.NOT_URL,
      isbn: { ...invalid.NOT_STRING, ...invalid.EMPTY, ...values('9788936434120') },
      language: {
        ...invalid.NOT_STRING,
        ...values('""', '"k"', '"한국어"', '"pt_BR"', '"pt-"', '"ko "', '"en-abcdefgh-abcdefgh-abcdefgh-abcdef"'),
      },
      format: values('"paper"', '"BOOK"', '""', '0', '"0"', 'true', '[]', '{}'),
      publishedYear: values('-3001', '10000', '2014.5', '"2014"', '""', '1e999', 'true', '[]', '{}'),
      series: invalid.notText(500),
      seconds: values('0', '-1', '0.5', '3600001', '1e999', '"1"', '""', 'true', '[]', '{}'),
      seriesNumber: values('-0.5', '100000.5', '1e999', '-1e999', '"1"', '""', 'true', '[]', '{}'),
      sourceIds: values('"goodreads:1"', '5', '{}', '["goodreads:1","goodreads:1"]'),
    },
    EDITION,
    (body) => reader.send('PATCH', `/books/${bookId}/edition`, body),
    () => snapshot(reader, bookId),
  )

  it.each([
    1,
    '',
    'goodreads',
    ':1',
    'goodreads:',
    'Goodreads:1',
    'goodreads:한',
    'goodreads:1 2',
    `g:${'x'.repeat(199)}`,
  ])('rejects the identifier %j, and names its position', async (id) => {
    const { status, body } = await patch({ sourceIds: ['goodreads:1', id] })
    expect([status, body.fieldErrors]).toMatchObject([400, [{ field: 'sourceIds.1', rejectedValue: id }]])
  })
  it('rejects more than 20 identifiers', async () => {
    const sourceIds = Array.from({ length: 21 }, (_, n) => `goodreads:${n}`)
    expect((await patch({ sourceIds })).body.fieldErrors).toMatchObject([{ field: 'sourceIds' }])
  })

  it('counts subtitle, language, series and identifiers towards the text of the member', async () => {
    const writer = await signUp()
    const { bookId: id } = await writer.createBook({ title: 'A' })
    const send = (limit: number, body: object) =>
      writer.send('PATCH', `/books/${id}/edition`, { body, changed: { MAX_MEMBER_TEXT_BYTES: `${limit}` } })
    // The book counts 1,500. Three bytes of title, which count four times, and of subtitle, twice, 5 of language, 6 of series, twice, and 7 of JSON.
    const texts = {
      title: '한',
      subtitle: '강',
      language: 'pt-BR',
      series: '소설',
      sourceIds: ['a:1'],
      publishedYear: 2014,
    }
    const refused = await send(1541, texts)
    expect(refused).toMatchObject({
      status: 409,
      body: { message: 'Limit reached: 1,541 bytes of text and rows per member' },
    })
    expect((await writer.get(`/books/${id}/edition`)).body).toEqual({ bookId: id, ...NO_EDITION, title: 'A' })
    expect((await send(1542, texts)).status).toBe(200)
    // Texts that do not grow are always accepted.
    expect((await send(0, { series: '시집', isbn: '8936434128' })).status).toBe(200)
    expect((await send(0, { series: '시집!' })).status).toBe(409)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })
})

describe('GET /books/by-isbn/{isbn}', () => {
  it('lists the books with an ISBN-10 or ISBN-13, newest first, with the fields of the library', async () => {
    const owner = await signUp()
    const titles = ['소년이 온다', 'Human Acts', 'Другая книга']
    for (const title of titles)
      await owner.createBook({ title, isbn: title.startsWith('Д') ? '080442957X' : EDITION.isbn })
    const { body } = await owner.get('/books/library?page=1&size=10&bookStatus=YET')
    for (const isbn of ['9788936434120', '89-364-3412-8', '%20978-89-364-3412-0']) {
      expect((await owner.get(`/books/by-isbn/${isbn}`)).body).toEqual(body.item.slice(1))
    }
    expect((await owner.get('/books/by-isbn/9780804429573')).body).toEqual(body.item.slice(0, 1))
    expect(await owner.get('/books/by-isbn/9791190090018')).toMatchObject({ status: 200, body: [] })
    expect((await (await signUp()).get('/books/by-isbn/9788936434120')).body).toEqual([])
  })

  it('lists at most 100 books', async () => {
    const owner = await signUp()
    await fillShelf(await memberIdOf(owner), 101)
    await select(`update books set isbn = '9788936434120' where memberId = ?`, await memberIdOf(owner))
    const { body } = await owner.get('/books/by-isbn/9788936434120')
    expect(body).toHaveLength(100)
    expect(body[0].title).toBe('Book 101')
  })

  it.each([...NOT_ISBN.map(([isbn]) => isbn), '0', ' ', 'edition', '%00'])('rejects %j', async (isbn) => {
    const path = isbn === '%00' ? isbn : encodeURIComponent(isbn)
    expect(await reader.get(`/books/by-isbn/${path}`)).toMatchObject(violation('isbn', decodeURIComponent(path)))
  })
})

describe('POST /books with an ISBN', () => {
  const created = { bookId: expect.any(Number), title: 'Demian', author: null, cover: null, bookStatus: 'YET' }
  it.each(ISBNS)('stores %s as %s, and does not change the response', async (isbn, stored) => {
    const { status, body } = await reader.post('/books', { title: 'Demian', isbn })
    expect([status, body]).toEqual([201, created])
    expect((await getEdition(body.bookId)).isbn).toBe(stored)
  })

  it.each([...NOT_ISBN.map(([isbn]) => isbn), '', ' ', null, 0, 9788936434120, 1e300, true, [], ['9788936434120'], {}])(
    'ignores %j',
    async (isbn) => {
      const { status, body } = await reader.post('/books', { title: 'Demian', isbn })
      expect([status, body]).toEqual([201, created])
      expect((await getEdition(body.bookId)).isbn).toBe(null)
    },
  )
})

describe('one database call, at a cost independent of the size of the library', () => {
  const createLibrary = async (books: number) => {
    const owner = await signUp()
    const { bookId: id } = await owner.createBook({ isbn: EDITION.isbn })
    await fillShelf(await memberIdOf(owner), books)
    await select(
      `update books set isbn = '9780000000' || (100 + bookId % 900) where memberId = ? and bookId > ?`,
      await memberIdOf(owner),
      id,
    )
    return { owner, id }
  }
  type Library = Awaited<ReturnType<typeof createLibrary>>
  let small: Library
  let large: Library
  beforeAll(async () => {
    small = await createLibrary(30)
    large = await createLibrary(3000)
  })

  const REQUESTS: [string, (library: Library) => Promise<unknown>, written: number][] = [
    ['the edition', ({ owner, id }) => owner.get(`/books/${id}/edition`), 0],
    ['the books with an ISBN', ({ owner }) => owner.get('/books/by-isbn/9788936434120'), 0],
    ['an empty update', ({ owner, id }) => owner.patch(`/books/${id}/edition`, {}), 0],
    // The book, its entries in the indexes of titles, formats and series, and the member, whose text grows.
    ['an update', ({ owner, id }) => owner.patch(`/books/${id}/edition`, { ...EDITION, isbn: undefined }), 5],
    // The book, and its entries in the index, the former and the new one.
    ['an update of the ISBN', ({ owner, id }) => owner.patch(`/books/${id}/edition`, { isbn: '080442957X' }), 3],
  ]
  it.each(REQUESTS)('%s', async (_, request, written) => {
    const [inSmall, inLarge] = [await measure(() => request(small)), await measure(() => request(large))]
    expect(inLarge).toEqual(inSmall)
    expect(inSmall).toMatchObject({ calls: 1 })
    expect(inSmall.written).toBeLessThanOrEqual(written)
  })

  it('writes one row more to register a book with an ISBN', async () => {
    const register = (book: object) => small.owner.post('/books', { title: 'T', ...book })
    const without = await measure(() => register({}))
    expect((await measure(() => register({ isbn: EDITION.isbn }))).written).toBe(without.written + 1)
  })
})
