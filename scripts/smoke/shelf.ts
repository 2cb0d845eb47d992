import { deepEqual } from 'node:assert/strict'
import { type Answer, answers, violationErrors } from './answer.ts'
import { check, each } from './check.ts'
import type { Member } from './client.ts'

/** An identifier that nobody has, and that a deployment will not reach. */
export const ABSENT_ID = 900_000_000_000_000

type Fields = Record<string, unknown>

export const fieldOf = (answer: Answer, name: string) => (answer.body as Fields | null)?.[name]

/** Registers a book; its identifier. */
export const register = async (member: Member, book: Fields = {}) => {
  const answer = await member.send('POST', '/books', { title: 'Demian', ...book })
  answers(answer, 201)
  return Number(fieldOf(answer, 'bookId'))
}

/** Writes a memo; its identifier. */
export const write = async (member: Member, bookId: number, memo: Fields = {}) => {
  const answer = await member.send('POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x', ...memo })
  answers(answer, 201)
  return Number(fieldOf(answer, 'memoId'))
}

export const detailOf = async (member: Member, bookId: number, memoAuthority = 'ALL') => {
  const answer = await member.send('GET', `/books/${bookId}?memoAuthority=${memoAuthority}`)
  answers(answer, 200)
  return answer.body as Fields & { memosList: Fields[] }
}

/** What an answer's page lists, by the values of one field. */
export const listed = (answer: Answer, name: string) => {
  answers(answer, 200)
  return (fieldOf(answer, 'item') as Fields[]).map((item) => item[name])
}

const LISTS = [
  ...['YET', 'ING', 'DONE'].map((status) => `library?bookStatus=${status}&`),
  'calender?',
  'abandon?',
  'memo-books?',
].map((view) => `/books/${view}page=1&size=1000`)

/** Everything that a member can see, as it came. */
const viewsOf = async (member: Member) => {
  const lists = await Promise.all(LISTS.map((path) => member.send('GET', path)))
  const books = lists.slice(0, 3).flatMap((library) => listed(library, 'bookId'))
  const rest = ['/members/me', ...books.map((bookId) => `/books/${bookId}?memoAuthority=ALL`)]
  const others = await Promise.all(rest.map((path) => member.send('GET', path)))
  return [...lists, ...others].map(({ path, text }) => `${path}: ${text}`)
}

/** Of two lists of views only those that differ are shown. */
const sameViews = (before: string[], after: string[]) =>
  deepEqual(
    after.filter((view) => !before.includes(view)),
    before.filter((view) => !after.includes(view)),
  )

/** Makes checks, and then one more: that all that the member sees is as it was before. */
export const checkNothingStored = async (endpoint: string, member: Member, checks: () => Promise<unknown>) => {
  const before = await viewsOf(member)
  await checks()
  await check(`${endpoint}: nothing that was refused is stored`, async () => sameViews(before, await viewsOf(member)))
}

/** An endpoint that names a thing by its identifier. */
export type Route = [method: string, path: (id: number | string) => string, body?: unknown]

const inWords = ([method, path, body]: Route) => {
  const sent = body === undefined ? '' : ` ${JSON.stringify(body)}`
  return `${method} ${path('{id}')}${sent}`
}

const OF_ONE_REQUEST = /^(x-request-id|date|cf-ray|report-to|nel|server-timing|alt-svc|keep-alive)$/

/** Another member's thing answers, to the byte, as one that is absent, and stays as it is. */
export const checkStranger = async (owner: Member, stranger: Member, theirId: number, routes: Route[]) => {
  const seen = async (method: string, path: string, body: unknown) => {
    const { status, headers, text } = await stranger.send(method, path, body)
    return { status, text, headers: [...headers].filter(([name]) => !OF_ONE_REQUEST.test(name)) }
  }
  const before = await viewsOf(owner)
  for (const route of routes) {
    const [method, path, body] = route
    await check(`${inWords(route)}: another member’s is, to the byte, as one that is absent: 404`, async () => {
      const absent = await seen(method, path(ABSENT_ID), body)
      deepEqual(await seen(method, path(theirId), body), absent)
      deepEqual(absent.status, 404)
    })
  }
  await check('all of these: nothing of another member’s is changed', async () =>
    sameViews(before, await viewsOf(owner)),
  )
}

const NOT_IDS = ['0', '-1', '1.5', 'x', '1e3', '0x1', '%201', '%00', '1%2F2', '%EF%BC%91', "1'%20or%201=1--"]
const BEYOND_IDS = ['9007199254740993', '9223372036854775808', '99999999999999999999']

/** What no identifier can be is a violation, wherever one is named. */
export const checkIdentifiers = async (member: Member, routes: Route[]) => {
  for (const route of routes) {
    const [method, path, body] = route
    await check(`${inWords(route)}: ${[...NOT_IDS, ...BEYOND_IDS].join(', ')} are violations`, () =>
      each([...NOT_IDS, ...BEYOND_IDS], async (wrong) => {
        const name = path('').startsWith('/books') ? 'book-id' : path('').includes('?bookId=') ? 'bookId' : 'memo-id'
        const answer = await member.send(method, path(wrong), body)
        answers(answer, 400, violationErrors([name, decodeURIComponent(wrong)]))
      }),
    )
  }
}
