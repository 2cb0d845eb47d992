import { deepEqual, equal } from 'node:assert/strict'
import { answers, having, now, violationErrors } from './answer.ts'
import { check, each } from './check.ts'
import type { Member, Service } from './client.ts'
import { fieldOf, listed, register, write } from './shelf.ts'

const cover = 'https://covers.example/1.jpg'

// Old, and not old, whatever ABANDON_AFTER_DAYS is.
const FIRST = '1900-01-01T00:00:00'
const SECOND = '1901-01-01T00:00:00'
const TO_COME = '2999-01-01T00:00:00'

const EMPTY_PAGE = { item: [], pageInfo: { page: 1, size: 20, totalElements: 0, totalPages: 0 } }
const VIEWS = ['library?bookStatus=ING&', 'calender?', 'abandon?', 'memo-books?'] as const

const checkLists = async (viewer: Member, newcomer: Member) => {
  const get = (view: string) => viewer.send('GET', `/books/${view}`)
  for (const view of VIEWS) {
    await check(`GET /books/${view.split('?')[0]}: nothing at all is no page`, async () =>
      answers(await newcomer.send('GET', `/books/${view}page=1&size=20`), 200, EMPTY_PAGE),
    )
  }
  const done = (readEndDate?: string) => register(viewer, { bookStatus: 'DONE', readEndDate, cover })
  const late = await done('2026-03-03T00:00:00')
  const early = await done('2026-01-01T00:00:00')
  const sameDay = await done('2026-01-01T00:00:00')
  const undated = await done()
  await register(viewer, { bookStatus: 'ING', readEndDate: '2026-02-02T00:00:00' })
  const unread = await Promise.all([register(viewer), register(viewer), register(viewer), register(viewer)])
  const [old = 0, older = 0, sameAge = 0, toCome = 0] = unread.toSorted((one, other) => one - other)
  const dates: [number, string][] = [
    [old, SECOND],
    [older, FIRST],
    [sameAge, SECOND],
    [late, FIRST],
    [toCome, TO_COME],
  ]
  for (const [bookId, date] of dates) await viewer.send('PATCH', `/books/created-date/${bookId}`, date)
  for (const bookId of [early, early, old]) await write(viewer, bookId)

  const dones = [undated, sameDay, early, late]
  await check('GET /books/library: one status, newest first, ten fields', async () => {
    const answer = await get('library?page=1&size=20&bookStatus=DONE')
    deepEqual(listed(answer, 'bookId'), dones)
    const item = dones.map((bookId) => ({
      bookId,
      title: 'Demian',
      cover,
      author: null,
      createdAt: bookId === late ? FIRST : now,
      star: 0,
      currentPage: 0,
      itemPage: null,
      bookStatus: 'DONE',
      memoCount: bookId === early ? 2 : 0,
    }))
    answers(answer, 200, { item, pageInfo: { page: 1, size: 20, totalElements: 4, totalPages: 1 } })
    deepEqual(listed(await get('library?page=1&size=20&bookStatus=YET'), 'bookId'), [toCome, sameAge, older, old])
  })
  await check('GET /books/calender: DONE with an end, latest first, ties by id, three fields', async () => {
    const answer = await get('calender?page=1&size=20')
    deepEqual(listed(answer, 'bookId'), [late, sameDay, early])
    const entry = (bookId: number, readEndDate: string) => ({ bookId, readEndDate, cover })
    const [day, last] = ['2026-01-01T00:00:00', '2026-03-03T00:00:00']
    const item = [entry(late, last), entry(sameDay, day), entry(early, day)]
    answers(answer, 200, { item, pageInfo: { page: 1, size: 20, totalElements: 3, totalPages: 1 } })
  })
  await check('GET /books/abandon: YET and registered long ago, oldest first, ties by id, four fields', async () => {
    const answer = await get('abandon?page=1&size=20')
    deepEqual(listed(answer, 'bookId'), [older, old, sameAge])
    const entry = (bookId: number, createdAt: string) => ({ bookId, createdAt, title: 'Demian', cover: null })
    const item = [older, old, sameAge].map((bookId) => entry(bookId, bookId === older ? FIRST : SECOND))
    answers(answer, 200, { item, pageInfo: { page: 1, size: 20, totalElements: 3, totalPages: 1 } })
  })
  await check('GET /books/memo-books: books with memos, newest first, four fields', async () => {
    const answer = await get('memo-books?page=1&size=20')
    const item = [
      { bookId: old, title: 'Demian', cover: null, memoCount: 1 },
      { bookId: early, title: 'Demian', cover, memoCount: 2 },
    ]
    answers(answer, 200, { item, pageInfo: { page: 1, size: 20, totalElements: 2, totalPages: 1 } })
  })
}

const NOT_PAGES = ['0', '-1', '1.5', 'one', '', '1e2', '0x1', '2147483648', '9007199254740993', '%00', '%201', 'NULL']

/** What tells the entries of a list apart. */
const idOf = (path: string) => (path.endsWith('/memos') ? 'memoId' : 'bookId')

/** Walks through a paged list, and sends each of its parameters wrong; `closed` is one that takes only some names. */
export const checkPaging = async (
  member: Member,
  route: string,
  path: string,
  closed?: { name: string; right: string; wrong: string[] },
) => {
  const right = { page: '1', size: '20', ...(closed && { [closed.name]: closed.right }) }
  const get = (parameters: Record<string, string | undefined>) => {
    const query = Object.entries({ ...right, ...parameters }).filter(([, value]) => value !== undefined)
    return member.send('GET', `${path}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`)
  }
  await check(
    `GET ${route}: its pages are the whole in order; one past the end is empty, with true totals`,
    async () => {
      const whole = listed(await get({ size: '1000' }), idOf(path))
      equal(whole.length > 1, true, 'there is too little to page through')
      const totalElements = whole.length
      const walked: unknown[] = []
      for (let page = 1; page <= totalElements; page++) {
        const answer = await get({ page: `${page}`, size: '1' })
        answers(answer, 200, having({ pageInfo: { page, size: 1, totalElements, totalPages: totalElements } }))
        walked.push(...listed(answer, idOf(path)))
      }
      deepEqual(walked, whole)
      const size = totalElements - 1
      answers(
        await get({ size: `${size}` }),
        200,
        having({ pageInfo: { page: 1, size, totalElements, totalPages: 2 } }),
      )
      const pageInfo = { page: 2_147_483_647, size: 1000, totalElements, totalPages: 1 }
      answers(await get({ page: '2147483647', size: '1000' }), 200, { item: [], pageInfo })
    },
  )
  const refused: [name: string, values: string[]][] = [
    ['page', NOT_PAGES],
    ['size', [...NOT_PAGES, '1001']],
    ...(closed ? ([[closed.name, closed.wrong]] as [string, string[]][]) : []),
  ]
  for (const [name, values] of refused) {
    await check(`GET ${route}: ${name} is a violation when absent, twice, or ${values.join(', ')}`, async () => {
      await each(values, async (value) =>
        answers(await get({ [name]: value }), 400, violationErrors([name, decodeURIComponent(value)])),
      )
      answers(await get({ [name]: undefined }), 400, violationErrors([name, null]))
      answers(await get({ [name]: `1&${name}=2` }), 400, having({ status: 0, message: null, fieldErrors: null }))
    })
  }
  await check(`GET ${route}: one violation for each parameter that is absent`, async () => {
    const answer = await member.send('GET', path)
    answers(answer, 400)
    const violations = fieldOf(answer, 'violationErrors') as { propertyPath: string }[]
    deepEqual(violations.map(({ propertyPath }) => propertyPath).sort(), Object.keys(right).sort())
  })
}

export const checkViews = async ({ signUp }: Service) => {
  const viewer = await signUp()
  await checkLists(viewer, await signUp())
  const wrong = ['', 'ALL', 'done', 'OTHER', '3', '%00']
  await checkPaging(viewer, '/books/library', '/books/library', { name: 'bookStatus', right: 'DONE', wrong })
  for (const view of ['calender', 'abandon', 'memo-books']) {
    await checkPaging(viewer, `/books/${view}`, `/books/${view}`)
  }
}
