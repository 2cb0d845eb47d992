import { deepEqual, equal, ok } from 'node:assert/strict'
import { answers, error, having, id, now, violationErrors } from './answer.ts'
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
  NULL,
  notOneOf,
  QUOTED,
} from './fields.ts'
import {
  ABSENT_ID,
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
import { checkPaging } from './views.ts'

const TYPES = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'] as const
const AUTHORITIES = ['PRIVATE', 'PUBLIC'] as const

const MEMO = { memoBookPage: 12, memoContent: '<p>새는 알에서 나오려고 투쟁한다.</p>' }
const STORED = {
  ...MEMO,
  memoId: id,
  memoType: 'BOOK_CONTENT',
  memoAuthority: 'PRIVATE',
  memoLikesCount: 0,
  createdAt: now,
  updatedAt: now,
}

const NOT_CONTENT = { ...NOT_TEXT, ...NULL, ...BLANK, ...longerThan(65_535) }
const NOT_PAGE = { ...NOT_INT, ...QUOTED, ...NULL }

/** What both creation and update take, and what becomes of it. */
const TAKEN: [sent: Record<string, unknown>, kept: Record<string, unknown>][] = [
  ...TYPES.flatMap((memoType, code): typeof TAKEN =>
    [memoType, code, `${code}`].map((sent) => [{ memoType: sent }, { memoType }]),
  ),
  ...AUTHORITIES.flatMap((memoAuthority, code): typeof TAKEN =>
    [memoAuthority, code, `${code}`].map((sent) => [{ memoAuthority: sent }, { memoAuthority }]),
  ),
  [{ memoBookPage: 0 }, { memoBookPage: 0 }],
  [{ memoBookPage: 2 ** 31 - 1 }, { memoBookPage: 2 ** 31 - 1 }],
  [{ memoContent: '가'.repeat(65_535) }, { memoContent: '가'.repeat(65_535) }],
  [
    { memoId: 1, bookId: 1, memoLikesCount: 7, createdAt: '2000-01-01T00:00:00' },
    { memoLikesCount: 0, createdAt: now },
  ],
]
const NAMES = 'every type and authority by name and code, pages of 0 and 2^31-1, 65,535 characters, unknown keys'

const checkCreation = async (writer: Member, bookId: number) => {
  const post = (body: unknown) => writer.send('POST', `/memos?bookId=${bookId}`, body)
  await check('POST /memos: 201 with Location and eight fields, private and of the book’s content', async () => {
    const answer = await post(MEMO)
    answers(answer, 201, STORED)
    const location = new URL(answer.headers.get('Location') ?? '', 'https://service.example').pathname
    equal(location, `/memos/${fieldOf(answer, 'memoId')}`)
    deepEqual((await detailOf(writer, bookId)).memosList, [answer.body])
  })
  await check(`POST /memos: takes ${NAMES}`, () =>
    each(TAKEN, async ([sent, kept]) => answers(await post({ ...MEMO, ...sent }), 201, { ...STORED, ...kept })),
  )
  await check('POST /memos: a type or an authority that is null or empty takes its default', () =>
    each(
      [
        { memoType: null, memoAuthority: '' },
        { memoType: '', memoAuthority: null },
      ],
      async (sent) => answers(await post({ ...MEMO, ...sent }), 201, STORED),
    ),
  )
  await check('POST /memos: no bookId is a violation, an unknown one is 404', async () => {
    answers(await writer.send('POST', '/memos', MEMO), 400, violationErrors(['bookId', null]))
    answers(await writer.send('POST', `/memos?bookId=${ABSENT_ID}`, MEMO), 404, error(404))
  })
  await checkNothingStored('POST /memos', writer, () =>
    checkRefusals('POST /memos', post, MEMO, {
      memoBookPage: { ...NOT_PAGE, ...ABSENT },
      memoContent: { ...NOT_CONTENT, ...ABSENT },
      memoType: notOneOf(TYPES),
      memoAuthority: notOneOf(AUTHORITIES),
    }),
  )
  await checkTexts(
    'POST /memos',
    'memoContent',
    (fields) => post({ ...MEMO, ...fields }),
    async (answer) => {
      const memo = (await detailOf(writer, bookId)).memosList.find(({ memoId }) => memoId === fieldOf(answer, 'memoId'))
      return memo?.memoContent
    },
  )
}

const checkUpdate = async (writer: Member, bookId: number) => {
  const memoId = await write(writer, bookId, MEMO)
  const patch = (body: unknown) => writer.send('PATCH', `/memos/${memoId}`, body)
  const stored = { ...STORED, memoId }
  await check('PATCH /memos/{memo-id}: {} changes nothing and is 200 with eight fields', async () =>
    answers(await patch({}), 200, stored),
  )
  await check('PATCH /memos/{memo-id}: changes what is sent and keeps what is absent', async () => {
    const changes = { memoType: 'QUESTION', memoAuthority: 'PUBLIC' }
    answers(await patch(changes), 200, { ...stored, ...changes })
    const answer = await patch({ memoBookPage: 0 })
    answers(answer, 200, { ...stored, ...changes, memoBookPage: 0 })
    ok(String(fieldOf(answer, 'updatedAt')) >= String(fieldOf(answer, 'createdAt')))
    ok((await detailOf(writer, bookId)).memosList.some((memo) => memo.memoId === memoId && memo.memoBookPage === 0))
    answers(await patch({ ...MEMO, memoType: 0, memoAuthority: 0 }), 200, stored)
  })
  await check(`PATCH /memos/{memo-id}: takes ${NAMES}`, () =>
    each(TAKEN, async ([sent, kept]) => answers(await patch(sent), 200, having({ memoId, ...kept }))),
  )
  const empty = { 'an empty text': '""' }
  await checkNothingStored('PATCH /memos/{memo-id}', writer, () =>
    checkRefusals(
      'PATCH /memos/{memo-id}',
      patch,
      { memoBookPage: 99 },
      {
        memoBookPage: NOT_PAGE,
        memoContent: NOT_CONTENT,
        memoType: { ...notOneOf(TYPES), ...NULL, ...empty },
        memoAuthority: { ...notOneOf(AUTHORITIES), ...NULL, ...empty },
      },
    ),
  )
  await checkTexts('PATCH /memos/{memo-id}', 'memoContent', patch, async () => {
    const memo = (await detailOf(writer, bookId)).memosList.find((memo) => memo.memoId === memoId)
    return memo?.memoContent
  })
}

const checkDeletion = async (writer: Member, bookId: number) => {
  await check('DELETE /memos/{memo-id}: 204, and the book counts one less; a second time 404', async () => {
    const memoId = await write(writer, bookId)
    const { memoCount } = await detailOf(writer, bookId)
    answers(await writer.send('DELETE', `/memos/${memoId}`), 204, null)
    answers(await writer.send('DELETE', `/memos/${memoId}`), 404, error(404))
    answers(await writer.send('PATCH', `/memos/${memoId}`, {}), 404, error(404))
    equal((await detailOf(writer, bookId)).memoCount, Number(memoCount) - 1)
  })
}

const checkLists = async (writer: Member) => {
  const bookId = await register(writer)
  const memos: { memoId: number; memoType: string; memoAuthority: string }[] = []
  for (const memoType of [...TYPES, ...TYPES, 'THOUGHT']) {
    const memoAuthority = AUTHORITIES[memos.length % 3 === 0 ? 1 : 0] ?? ''
    memos.unshift({ memoType, memoAuthority, memoId: await write(writer, bookId, { memoType, memoAuthority }) })
  }
  const ids = (keep: (memo: (typeof memos)[number]) => boolean) => memos.filter(keep).map(({ memoId }) => memoId)

  for (const authority of ['ALL', ...AUTHORITIES]) {
    await check(
      `GET /books/{book-id}?memoAuthority=${authority}: those memos, newest first; memoCount counts all`,
      async () => {
        const { memosList, memoCount } = await detailOf(writer, bookId, authority)
        const wanted = ids(({ memoAuthority }) => authority === 'ALL' || memoAuthority === authority)
        deepEqual(
          memosList.map(({ memoId }) => memoId),
          wanted,
        )
        equal(memoCount, memos.length)
      },
    )
  }
  await check('GET /books/{book-id}: memoAuthority is a violation when absent, or what it cannot be', async () => {
    const path = `/books/${bookId}`
    answers(await writer.send('GET', path), 400, violationErrors(['memoAuthority', null]))
    for (const wrong of ['', 'all', 'OTHER', '2']) {
      const answer = await writer.send('GET', `${path}?memoAuthority=${wrong}`)
      answers(answer, 400, violationErrors(['memoAuthority', wrong]))
    }
  })
  const route = '/books/{book-id}/memos'
  const path = `/books/${bookId}/memos`
  for (const type of ['ALL', ...TYPES]) {
    await check(`GET ${route}?memoType=${type}: those memos, newest first, eight fields`, async () => {
      const answer = await writer.send('GET', `${path}?page=1&size=20&memoType=${type}`)
      const wanted = ids(({ memoType }) => type === 'ALL' || memoType === type)
      deepEqual(listed(answer, 'memoId'), wanted)
      const pageInfo = { page: 1, size: 20, totalElements: wanted.length, totalPages: 1 }
      const item = memos
        .filter(({ memoId }) => wanted.includes(memoId))
        .map((memo) => ({ ...STORED, memoBookPage: 1, memoContent: 'x', ...memo }))
      answers(answer, 200, { item, pageInfo })
    })
  }
  await check(`GET ${route}: of a book without memos an empty page`, async () => {
    const answer = await writer.send('GET', `/books/${await register(writer)}/memos?page=1&size=20&memoType=ALL`)
    answers(answer, 200, { item: [], pageInfo: { page: 1, size: 20, totalElements: 0, totalPages: 0 } })
  })
  await checkPaging(writer, route, path, { name: 'memoType', right: 'ALL', wrong: ['', 'all', 'OTHER', '4', '%00'] })
}

const DRAWS = 80

const checkRandom = async ({ signUp }: Service) => {
  const drawer = await signUp()
  const draw = () => drawer.send('GET', '/memos/random')
  await check('GET /memos/random: an empty array when there is none', async () => answers(await draw(), 200, []))
  await check(
    'GET /memos/random: an array of one memo of one’s own, four fields, and in time each of them',
    async () => {
      const bookId = await register(drawer)
      const ids: number[] = []
      for (let n = 0; n < 4; n++) ids.push(await write(drawer, bookId, { ...MEMO, memoType: 'SUMMARY' }))
      // After a deletion from the middle, that of three memos one is never drawn has a chance of one in 10^13.
      answers(await drawer.send('DELETE', `/memos/${ids.splice(1, 1)[0]}`), 204)
      const drawn = await Promise.all(Array.from({ length: DRAWS }, draw))
      for (const answer of drawn) answers(answer, 200, [{ ...MEMO, memoId: id, memoType: 'SUMMARY' }])
      const seen = drawn.map(({ body }) => (body as { memoId: number }[])[0]?.memoId)
      deepEqual([...new Set(seen)].sort(), ids.sort())
    },
  )
}

const ROUTES: Route[] = [
  ['PATCH', (memoId) => `/memos/${memoId}`, { memoContent: 'theirs' }],
  ['PATCH', (memoId) => `/memos/${memoId}`, {}],
  ['DELETE', (memoId) => `/memos/${memoId}`],
]

export const checkMemos = async (service: Service) => {
  const writer = await service.signUp()
  const bookId = await register(writer)
  await checkCreation(writer, bookId)
  await checkUpdate(writer, bookId)
  await checkDeletion(writer, bookId)
  await checkLists(writer)
  await checkRandom(service)
  await checkIdentifiers(writer, ROUTES)
  await checkStranger(writer, await service.signUp(), await write(writer, bookId), ROUTES)
}
