import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Reader, signUp } from '../../support/api'
import { NOT_POSITIVE, violation } from '../../support/inputs/invalid-values'
import { TIMESTAMP } from '../../support/library'

// Dates that are old whatever ABANDON_AFTER_DAYS is, and one that never is.
const OLDEST = '1900-01-01T00:00:00'
const OLD = '1901-01-01T00:00:00'
const FUTURE = '2999-01-01T00:00:00'
const COVER = 'https://covers.example/a'

const BOOKS = {
  'done late': { bookStatus: 'DONE', readEndDate: '2026-03-03T00:00:00' },
  'done early': { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00', cover: COVER },
  'done same day': { bookStatus: 'DONE', readEndDate: '2026-01-01T00:00:00' },
  'done undated': { bookStatus: 'DONE' },
  'reading with an end date': { bookStatus: 'ING', readEndDate: '2026-02-02T00:00:00' },
  'unread old': {},
  'unread oldest': {},
  'unread as old': {},
  'unread new': {},
  'unread future': {},
}
type Title = keyof typeof BOOKS

let viewer: Reader
const ids = {} as Record<Title, number>
beforeAll(async () => {
  viewer = await signUp()
  for (const [title, book] of Object.entries(BOOKS)) {
    ids[title as Title] = (await viewer.createBook({ title, ...book })).bookId
  }
  const dates = { 'unread old': OLD, 'unread oldest': OLDEST, 'unread as old': OLD, 'unread future': FUTURE }
  for (const [title, raw] of Object.entries({ ...dates, 'done late': OLDEST })) {
    await viewer.send('PATCH', `/books/created-date/${ids[title as Title]}`, { raw })
  }
  for (const memoType of ['SUMMARY', 'THOUGHT', 'SUMMARY']) {
    await viewer.createMemo(ids['done early'], { memoType })
  }
  await viewer.createMemo(ids['unread old'])
})

const titles = ({ body }: Answer) =>
  body.item.map(({ bookId }: { bookId: number }) => Object.keys(ids).find((title) => ids[title as Title] === bookId))

it('GET /books/library lists the books of one status, newest first', async () => {
  const answer = await viewer.get('/books/library?page=1&size=3&bookStatus=DONE')
  expect(titles(answer)).toEqual(['done undated', 'done same day', 'done early'])
  expect(answer.body.pageInfo).toEqual({ page: 1, size: 3, totalElements: 4, totalPages: 2 })
  expect(answer.body.item[2]).toEqual({
    bookId: ids['done early'],
    title: 'done early',
    cover: COVER,
    author: null,
    createdAt: TIMESTAMP,
    star: 0,
    currentPage: 0,
    itemPage: null,
    bookStatus: 'DONE',
    memoCount: 3,
  })
  expect(titles(await viewer.get('/books/library?page=2&size=3&bookStatus=2'))).toEqual(['done late'])
  const unread = await viewer.get('/books/library?page=1&size=9&bookStatus=YET')
  const oldToNew = ['unread old', 'unread oldest', 'unread as old', 'unread new', 'unread future']
  expect(titles(unread)).toEqual(oldToNew.toReversed())
})

it('GET /books/calender lists finished books by end date, latest first, then newest first', async () => {
  const answer = await viewer.get('/books/calender?page=1&size=10')
  expect(titles(answer)).toEqual(['done late', 'done same day', 'done early'])
  const early = { bookId: ids['done early'], readEndDate: '2026-01-01T00:00:00', cover: COVER }
  expect(answer.body.item[2]).toEqual(early)
  expect(answer.body.pageInfo).toEqual({ page: 1, size: 10, totalElements: 3, totalPages: 1 })
})

it('GET /books/abandon lists unread books registered long ago, oldest first', async () => {
  const answer = await viewer.get('/books/abandon?page=1&size=10')
  expect(titles(answer)).toEqual(['unread oldest', 'unread old', 'unread as old'])
  const bookId = ids['unread oldest']
  expect(answer.body.item[0]).toEqual({ bookId, createdAt: OLDEST, title: 'unread oldest', cover: null })
  expect(answer.body.pageInfo).toEqual({ page: 1, size: 10, totalElements: 3, totalPages: 1 })
})

it('GET /books/memo-books lists books with memos, newest first', async () => {
  const { body } = await viewer.get('/books/memo-books?page=1&size=10')
  expect(body).toEqual({
    item: [
      { bookId: ids['unread old'], title: 'unread old', cover: null, memoCount: 1 },
      { bookId: ids['done early'], title: 'done early', cover: COVER, memoCount: 3 },
    ],
    pageInfo: { page: 1, size: 10, totalElements: 2, totalPages: 1 },
  })
})

it('shows a new member empty lists', async () => {
  const newcomer = await signUp()
  for (const view of ['library?bookStatus=ING&', 'calender?', 'abandon?', 'memo-books?']) {
    const pageInfo = { page: 1, size: 20, totalElements: 0, totalPages: 0 }
    expect((await newcomer.get(`/books/${view}page=1&size=20`)).body, view).toEqual({ item: [], pageInfo })
  }
})

it('links from an empty list to its only page', async () => {
  const newcomer = await signUp()
  const linksOf = async (page: number) =>
    (await newcomer.get(`/books/calender?page=${page}&size=20`)).headers.get('Link')
  const link = (relation: string) => `</books/calender?page=1&size=20>; rel="${relation}"`
  expect(await linksOf(1)).toBe([link('first'), link('last')].join(', '))
  expect(await linksOf(2)).toBe([link('first'), link('prev'), link('last')].join(', '))
})

it('builds links from what a parameter means, not from what was sent', async () => {
  const answer = await viewer.get('/books/library?bookStatus=2&unknown=%3E%3B&size=0004&page=01')
  const link = (relation: string) => `</books/library?page=1&size=4&bookStatus=DONE>; rel="${relation}"`
  expect(answer.headers.get('Link')).toBe([link('first'), link('last')].join(', '))
})

type Filter = { name: string; value: string; invalid: string[] }
const byStatus = { name: 'bookStatus', value: 'DONE', invalid: ['', 'ALL', 'done', 'OTHER', '3', '%00'] }
const byType = { name: 'memoType', value: 'ALL', invalid: ['', 'all', 'OTHER', '4', '%00'] }
const INVALID_PAGES = [...NOT_POSITIVE, '', '2147483648', 'NULL']

describe.each<[path: string, maxSize: number, filter?: Filter]>([
  ['/books/library', 1000, byStatus],
  ['/books/calender', 1000],
  ['/books/abandon', 1000],
  ['/books/memo-books', 1000],
  ['/books/{book-id}/memos', 10_000, byType],
])('the pages of %s', (template, maxSize, filter) => {
  const path = () => template.replace('{book-id}', `${ids['done early']}`)
  const valid = { page: '1', size: '20', ...(filter && { [filter.name]: filter.value }) }
  const get = (parameters: Record<string, string | undefined> = {}) => {
    const query = Object.entries({ ...valid, ...parameters }).filter(([, value]) => value !== undefined)
    return viewer.get(`${path()}?${query.map(([name, value]) => `${name}=${value}`).join('&')}`)
  }
  const idsOf = ({ body }: Answer): number[] =>
    body.item.map(({ memoId, bookId }: Record<string, number>) => memoId ?? bookId)

  it('make up the whole list, in order', async () => {
    const whole = idsOf(await get())
    const totalElements = whole.length
    expect(totalElements).toBeGreaterThan(1)
    for (const [index, id] of whole.entries()) {
      const page = index + 1
      const answer = await get({ page: `${page}`, size: '1' })
      expect(answer.body.pageInfo).toEqual({ page, size: 1, totalElements, totalPages: totalElements })
      expect(idsOf(answer)).toEqual([id])
    }
    const size = totalElements - 1
    expect((await get({ size: `${size}` })).body.pageInfo).toEqual({ page: 1, size, totalElements, totalPages: 2 })
  })

  it('link to each other', async () => {
    const whole = idsOf(await get())
    const last = whole.length
    const linksOf = async (page: number) => (await get({ page: `${page}`, size: '1' })).headers.get('Link')
    const rest = filter ? `&${filter.name}=${filter.value}` : ''
    const link = (relation: string, page: number) => `<${path()}?page=${page}&size=1${rest}>; rel="${relation}"`
    for (let page = 1; page <= last; page++) {
      const [prev, next] = [page > 1 && link('prev', page - 1), page < last && link('next', page + 1)]
      const links = [link('first', 1), prev, next, link('last', last)].filter(Boolean)
      expect(await linksOf(page)).toBe(links.join(', '))
    }
    const pastTheEnd = [link('first', 1), link('prev', last), link('last', last)].join(', ')
    for (const page of [last + 1, last + 2, 2_147_483_647]) expect(await linksOf(page)).toBe(pastTheEnd)

    const followed: number[] = []
    for (let next: string | undefined = `${path()}?page=1&size=1${rest}`; next; ) {
      const answer: Answer = await viewer.get(next)
      followed.push(...idsOf(answer))
      next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
    }
    expect(followed).toEqual(whole)
  })

  it('are empty past the end, with the true totals', async () => {
    const totalElements = (await get()).body.item.length
    const pageInfo = { page: 2_147_483_647, size: maxSize, totalElements, totalPages: 1 }
    expect((await get({ page: '2147483647', size: `${maxSize}` })).body).toEqual({ item: [], pageInfo })
  })

  it.each([
    { name: 'page', invalid: INVALID_PAGES },
    { name: 'size', invalid: [...INVALID_PAGES, `${maxSize + 1}`] },
    ...(filter ? [filter] : []),
  ])('require one valid $name', async ({ name, invalid }) => {
    for (const value of invalid) {
      expect(await get({ [name]: value }), value).toMatchObject(violation(name, decodeURIComponent(value)))
    }
    expect(await get({ [name]: undefined })).toMatchObject(violation(name, null))
    expect(await get({ [name]: `1&${name}=2` })).toMatchObject(violation(name, ['1', '2']))
  })

  it('report every missing parameter', async () => {
    const { violationErrors } = (await viewer.get(path())).body
    const names = violationErrors.map(({ propertyPath }: { propertyPath: string }) => propertyPath)
    expect(names.sort()).toEqual(Object.keys(valid).sort())
  })
})
