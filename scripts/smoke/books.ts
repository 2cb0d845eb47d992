import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { answers, error, fieldErrors, having, id, now } from './answer.ts'
import { check, each } from './check.ts'
import type { Member, Service } from './client.ts'
import {
  ABSENT,
  BLANK,
  checkRefusals,
  checkTexts,
  longerThan,
  NOT_INT,
  NOT_TEXT,
  NOT_TIMESTAMP,
  NOT_WEB_ADDRESS,
  NULL,
  notOneOf,
  QUOTED,
} from './fields.ts'
import {
  checkIdentifiers,
  checkNothingStored,
  checkStranger,
  detailOf,
  fieldOf,
  listed,
  type Route,
  register,
  write,
} from './shelf.ts'

const STATUSES = ['YET', 'ING', 'DONE'] as const

const NOT_PERSON = { ...NOT_TEXT, ...longerThan(500) }
const NOT_STATUS = { ...notOneOf(STATUSES), ...NULL, 'an empty text': '""' }

const FULL_BOOK = {
  title: 'Grande Sertão: Veredas',
  author: 'João Guimarães Rosa',
  cover: 'https://covers.example/1.jpg?size=L&x=%20#top',
  publisher: 'Companhia das Letras',
  itemPage: 552,
  currentPage: 12,
  bookStatus: 'DONE',
  readStartDate: '2024-02-29T00:00:00',
  readEndDate: '2025-12-31T23:59:59',
}

const BARE_DETAIL = {
  bookId: id,
  title: 'Demian',
  cover: null,
  author: null,
  publisher: null,
  createdAt: now,
  star: 0,
  currentPage: 0,
  itemPage: null,
  bookStatus: 'YET',
  readStartDate: null,
  readEndDate: null,
  memoCount: 0,
  memosList: [],
}

/** What both registration and update take, and what becomes of it. */
const TAKEN: [what: string, sent: Record<string, unknown>, kept: Record<string, unknown>][] = [
  ...STATUSES.flatMap((bookStatus, code): typeof TAKEN => [
    [`status ${bookStatus}`, { bookStatus }, { bookStatus }],
    [`status ${code}`, { bookStatus: code }, { bookStatus }],
    [`status "${code}"`, { bookStatus: `${code}` }, { bookStatus }],
  ]),
  ['a quoted itemPage', { itemPage: '350' }, { itemPage: 350 }],
  ['pages of 0', { itemPage: 0, currentPage: 0 }, { itemPage: 0, currentPage: 0 }],
  ['pages of 2^31-1', { itemPage: 2 ** 31 - 1, currentPage: 2 ** 31 - 1 }, { itemPage: 2 ** 31 - 1 }],
  ['empty texts as null', { author: '', publisher: '' }, { author: null, publisher: null }],
  ['null texts', { author: null, publisher: null }, { author: null, publisher: null }],
  ['a null itemPage', { itemPage: null }, { itemPage: null }],
  ['null dates', { readStartDate: null, readEndDate: null }, { readStartDate: null, readEndDate: null }],
  ['500 characters', { author: '가'.repeat(500) }, { author: '가'.repeat(500) }],
  [
    'a fraction of a second, dropped',
    { readEndDate: '2025-01-01T10:20:30.98' },
    { readEndDate: '2025-01-01T10:20:30' },
  ],
  ['an end before the start', { readEndDate: '1999-01-01T00:00:00' }, { readEndDate: '1999-01-01T00:00:00' }],
]

const checkRegistration = async (reader: Member) => {
  const post = (body: unknown) => reader.send('POST', '/books', body)
  await check('POST /books: a title alone is 201 with Location and five fields, as YET', async () => {
    const answer = await post({ title: 'Demian' })
    answers(answer, 201, { bookId: id, title: 'Demian', author: null, cover: null, bookStatus: 'YET' })
    const bookId = fieldOf(answer, 'bookId')
    const location = new URL(answer.headers.get('Location') ?? '', 'https://service.example').pathname
    equal(location, `/books/${bookId}`)
    answers(await reader.send('GET', `${location}?memoAuthority=ALL`), 200, { ...BARE_DETAIL, bookId })
  })
  await check('POST /books: every field is kept as sent, and no date follows from a status', async () => {
    const { title, author, cover, bookStatus } = FULL_BOOK
    const answer = await post(FULL_BOOK)
    answers(answer, 201, { bookId: id, title, author, cover, bookStatus })
    const detail = await detailOf(reader, Number(fieldOf(answer, 'bookId')))
    deepEqual({ ...detail, ...FULL_BOOK }, detail)
    const undated = await detailOf(reader, await register(reader, { bookStatus: 'DONE' }))
    deepEqual([undated.readStartDate, undated.readEndDate, undated.currentPage], [null, null, 0])
  })
  await check(`POST /books: takes ${TAKEN.map(([what]) => what).join(', ')}`, () =>
    each(TAKEN, async ([, sent, kept]) => {
      const detail = await detailOf(reader, await register(reader, sent))
      deepEqual({ ...detail, ...kept }, detail)
    }),
  )
  await check(
    'POST /books: takes a cover of http or https and up to 2,048 characters; an empty or null one is null',
    () =>
      each(['http://covers.example/x', 'https://covers.example/'.padEnd(2048, 'x'), '', null], async (cover) =>
        answers(await post({ title: 'x', cover }), 201, having({ cover: cover || null })),
      ),
  )
  await check('POST /books: keys it does not know set nothing', async () => {
    const own = { bookId: 1, memberId: 1, star: 5, memoCount: 9, createdAt: '2000-01-01T00:00:00', hasMemos: 1 }
    const bookId = await register(reader, { ...own, constructor: {}, ['__proto__']: { star: 5 } })
    answers(await reader.send('GET', `/books/${bookId}?memoAuthority=ALL`), 200, BARE_DETAIL)
  })
  await check('POST /books: the same title twice is two books', async () => {
    notEqual(await register(reader), await register(reader))
  })
  await checkNothingStored('POST /books', reader, () =>
    checkRefusals(
      'POST /books',
      post,
      { title: 'Refused' },
      {
        title: { ...NOT_PERSON, ...NULL, ...BLANK, ...ABSENT },
        author: NOT_PERSON,
        publisher: NOT_PERSON,
        cover: NOT_WEB_ADDRESS,
        itemPage: NOT_INT,
        currentPage: { ...NOT_INT, ...QUOTED, ...NULL },
        bookStatus: NOT_STATUS,
        readStartDate: NOT_TIMESTAMP,
        readEndDate: NOT_TIMESTAMP,
      },
    ),
  )
  for (const field of ['title', 'author', 'publisher']) {
    await checkTexts(
      'POST /books',
      field,
      (fields) => post({ title: 'x', ...fields }),
      async (answer) => (await detailOf(reader, Number(fieldOf(answer, 'bookId'))))[field],
    )
  }
}

const checkUpdate = async (reader: Member) => {
  const { title, cover, ...updatable } = FULL_BOOK
  const updated = { ...updatable, star: 0 }
  const bookId = await register(reader, FULL_BOOK)
  const patch = (body: unknown) => reader.send('PATCH', `/books/${bookId}`, body)
  await check('PATCH /books/{book-id}: {} changes nothing and is 200 with eight fields', async () =>
    answers(await patch({}), 200, updated),
  )
  await check('PATCH /books/{book-id}: changes what is sent, keeps what is absent, clears what is null', async () => {
    const changes = { author: null, itemPage: null, readStartDate: null, star: 5, currentPage: 0, bookStatus: 'ING' }
    answers(await patch(changes), 200, { ...updated, ...changes })
    const detail = await detailOf(reader, bookId)
    deepEqual({ ...detail, ...changes, title, cover }, detail)
    answers(await patch({ star: 0 }), 200, { ...updated, ...changes, star: 0 })
    answers(await patch(updated), 200, updated)
  })
  await check('PATCH /books/{book-id}: readStratDate is readStartDate, which wins where both are sent', async () => {
    const [one, other] = ['2025-01-01T00:00:00', '2025-02-02T00:00:00']
    answers(await patch({ readStratDate: one }), 200, { ...updated, readStartDate: one })
    answers(await patch({ readStratDate: one, readStartDate: other }), 200, { ...updated, readStartDate: other })
    answers(await patch({ readStartDate: null, readStratDate: one }), 200, { ...updated, readStartDate: null })
    answers(await patch({ readStartDate: one }), 200, { ...updated, readStartDate: one })
    answers(await patch({ readStratDate: null }), 200, { ...updated, readStartDate: null })
  })
  await check(`PATCH /books/{book-id}: takes ${TAKEN.map(([what]) => what).join(', ')}`, () =>
    each(TAKEN, async ([, sent, kept]) => answers(await patch(sent), 200, having(kept))),
  )
  await check('PATCH /books/{book-id}: keys it does not know set nothing', async () => {
    const before = await detailOf(reader, bookId)
    answers(await patch({ title: 'x', cover: null, bookId: 1, memoCount: 9, createdAt: '2000-01-01T00:00:00' }), 200)
    deepEqual(await detailOf(reader, bookId), before)
  })
  await checkNothingStored('PATCH /books/{book-id}', reader, () =>
    checkRefusals(
      'PATCH /books/{book-id}',
      patch,
      { publisher: 'Refused' },
      {
        author: NOT_PERSON,
        publisher: NOT_PERSON,
        itemPage: NOT_INT,
        currentPage: { ...NOT_INT, ...QUOTED, ...NULL },
        star: { ...NOT_INT, ...QUOTED, ...NULL, 6: '6' },
        bookStatus: NOT_STATUS,
        readStartDate: NOT_TIMESTAMP,
        readStratDate: NOT_TIMESTAMP,
        readEndDate: NOT_TIMESTAMP,
      },
    ),
  )
  for (const field of ['author', 'publisher']) {
    await checkTexts('PATCH /books/{book-id}', field, patch, async () => (await detailOf(reader, bookId))[field])
  }
}

const checkCreatedDate = async (reader: Member) => {
  const route = 'PATCH /books/created-date/{book-id}'
  const bookId = await register(reader)
  const patch = (body: string, type?: string) =>
    reader.send('PATCH', `/books/created-date/${bookId}`, body, { 'Content-Type': type })
  const date = '2020-05-06T07:08:09'
  const taken: [what: string, body: string, type?: string][] = [
    ['bare text', date, 'text/plain'],
    ['bare text with a charset', date, 'text/plain;charset=UTF-8'],
    ['bare text of no type', date],
    ['bare text as JSON', date, 'application/json'],
    ['a JSON string', `"${date}"`, 'application/json'],
    ['a fraction of a second', `${date}.999`, 'text/plain'],
  ]
  for (const [what, body, type] of taken) {
    await check(`${route}: takes ${what}; 200 with bookId and createdAt`, async () => {
      answers(await patch('2001-01-01T00:00:00', 'text/plain'), 200)
      answers(await patch(body, type), 200, { bookId, createdAt: date })
      equal((await detailOf(reader, bookId)).createdAt, date)
    })
  }
  await checkNothingStored(route, reader, async () => {
    const refused = Object.values(NOT_TIMESTAMP).filter((json) => json.startsWith('"'))
    await check(`${route}: what is no date is a field error, bare or as a JSON string`, () =>
      each(refused, async (json) => {
        const broken = fieldErrors(['createdAt', JSON.parse(json)])
        answers(await patch(json, 'application/json'), 400, broken)
        if (json !== '""') answers(await patch(JSON.parse(json), 'text/plain'), 400, broken)
      }),
    )
    await check(`${route}: an object, an array, a number, null, half a string and SQL are 400`, () =>
      each(
        [`{"createdAt":"${date}"}`, `["${date}"]`, '2020', 'null', '"2020', "'); drop table books"],
        async (body) => {
          answers(await patch(body, 'application/json'), 400)
          answers(await patch(body, 'text/plain'), 400)
        },
      ),
    )
  })
}

const ROUTES: Route[] = [
  ['GET', (bookId) => `/books/${bookId}?memoAuthority=ALL`],
  ['GET', (bookId) => `/books/${bookId}/memos?page=1&size=9&memoType=ALL`],
  ['PATCH', (bookId) => `/books/${bookId}`, { star: 1 }],
  ['PATCH', (bookId) => `/books/${bookId}`, {}],
  ['PATCH', (bookId) => `/books/created-date/${bookId}`, '2020-01-01T00:00:00'],
  ['DELETE', (bookId) => `/books/${bookId}`],
  ['POST', (bookId) => `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' }],
]

const checkDeletion = async (reader: Member) => {
  await check('DELETE /books/{book-id}: 204, memos and all; a second time 404', async () => {
    const [bookId, other] = [await register(reader), await register(reader)]
    const [memoId, kept] = [await write(reader, bookId), await write(reader, other)]
    answers(await reader.send('DELETE', `/books/${bookId}`), 204, null)
    for (const [method, path, body] of ROUTES) answers(await reader.send(method, path(bookId), body), 404, error(404))
    answers(await reader.send('PATCH', `/memos/${memoId}`, {}), 404, error(404))
    answers(await reader.send('PATCH', `/memos/${kept}`, {}), 200)
    const left = listed(await reader.send('GET', '/books/memo-books?page=1&size=1000'), 'bookId')
    deepEqual([left.includes(bookId), left.includes(other)], [false, true])
  })
}

export const checkBooks = async ({ signUp }: Service) => {
  const reader = await signUp()
  await checkRegistration(reader)
  await checkUpdate(reader)
  await checkCreatedDate(reader)
  await checkDeletion(reader)
  await checkIdentifiers(reader, ROUTES)
  await checkStranger(reader, await signUp(), await register(reader, FULL_BOOK), ROUTES)
}
