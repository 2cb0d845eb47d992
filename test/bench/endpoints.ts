// Every authenticated endpoint: its requests, and the expected responses.
import { PIXEL, toFileForm } from '../support/file-form.ts'
import type { HttpRequest, HttpResponse } from '../support/http-client.ts'
import type { Library } from './seed.ts'

export type Endpoint = {
  name: string
  status: number
  /** The nth request. */
  toRequest: (library: Library, n: number) => HttpRequest
  /** The part of the body that is the same in every response. */
  common: (body: string) => string
  /** Whether the baseline and the peers implement it. */
  compared?: true
  /** Requested a tenth as often. */
  slow?: true
  /** Why its rows may grow with the library. */
  grows?: string
}

const whole = (body: string) => body
const withoutNumbers = (body: string) => body.replace(/\d+/g, '0')
const start = (text: string) => (body: string) => body.slice(0, text.length)
const nothing = () => ''

const NAME = 'The quick brown fox'
const get = (path: (library: Library) => string) => (library: Library) => ({
  method: 'GET',
  path: path(library),
  token: library.token,
})
const send =
  (method: string, path: (library: Library) => string, body: (n: number) => unknown) =>
  (library: Library, n: number) => ({
    method,
    path: path(library),
    token: library.token,
    body: JSON.stringify(body(n)),
  })
const take = (ids: number[]) => {
  const id = ids.shift()
  if (id === undefined) throw new Error('The library has nothing left to delete: use fewer rounds')
  return id
}

const page = '?page=1&size=20'

export const endpoints: Endpoint[] = [
  {
    name: 'library',
    status: 200,
    compared: true,
    common: whole,
    toRequest: get(() => `/books/library${page}&bookStatus=DONE`),
  },
  {
    name: 'detail',
    status: 200,
    compared: true,
    common: whole,
    toRequest: get(({ book }) => `/books/${book}?memoAuthority=ALL`),
  },
  {
    name: 'memos',
    status: 200,
    compared: true,
    common: whole,
    toRequest: get(({ memoBook }) => `/books/${memoBook}/memos${page}&memoType=ALL`),
  },
  { name: 'random', status: 200, compared: true, common: start('[{"memoId":'), toRequest: get(() => '/memos/random') },
  {
    name: 'register',
    status: 201,
    compared: true,
    common: withoutNumbers,
    toRequest: send(
      'POST',
      () => '/books',
      (n) => ({
        title: `Book ${n}`,
        author: NAME,
        publisher: NAME,
        cover: 'https://covers.example.com/1.jpg',
        itemPage: 300,
        bookStatus: 'YET',
      }),
    ),
  },
  {
    name: 'memo creation',
    status: 201,
    compared: true,
    common: withoutNumbers,
    toRequest: send(
      'POST',
      ({ memoBook }) => `/memos?bookId=${memoBook}`,
      (n) => ({
        memoBookPage: n % 300,
        memoContent: 'Something worth remembering on this page.',
        memoType: 'THOUGHT',
        memoAuthority: 'PUBLIC',
      }),
    ),
  },
  { name: 'calender', status: 200, common: whole, toRequest: get(() => `/books/calender${page}`) },
  { name: 'memo-books', status: 200, common: whole, toRequest: get(() => '/books/memo-books?page=1&size=5') },
  {
    name: 'abandon',
    status: 200,
    common: whole,
    slow: true,
    grows: 'counts the old unread books',
    toRequest: get(() => `/books/abandon${page}`),
  },
  {
    name: 'memos of a type',
    status: 200,
    common: whole,
    toRequest: get(({ memoBook }) => `/books/${memoBook}/memos?page=1&size=5&memoType=SUMMARY`),
  },
  {
    name: 'update',
    status: 200,
    common: withoutNumbers,
    toRequest: send(
      'PATCH',
      ({ changedBook }) => `/books/${changedBook}`,
      (n) => ({ star: n % 6, currentPage: n % 300 }),
    ),
  },
  {
    name: 'created-date',
    status: 200,
    common: withoutNumbers,
    toRequest: ({ changedBook, token }, n) => ({
      method: 'PATCH',
      path: `/books/created-date/${changedBook}`,
      token,
      body: `2021-01-01T00:00:${String(n % 60).padStart(2, '0')}`,
      type: 'text/plain',
    }),
  },
  {
    name: 'delete book',
    status: 204,
    common: nothing,
    slow: true,
    toRequest: ({ spareBooks, token }) => ({ method: 'DELETE', path: `/books/${take(spareBooks)}`, token }),
  },
  {
    name: 'memo update',
    status: 200,
    common: withoutNumbers,
    toRequest: send(
      'PATCH',
      ({ changedMemo }) => `/memos/${changedMemo}`,
      (n) => ({ memoBookPage: n % 300, memoContent: 'Changed' }),
    ),
  },
  {
    name: 'delete memo',
    status: 204,
    common: nothing,
    slow: true,
    toRequest: ({ spareMemos, token }) => ({ method: 'DELETE', path: `/memos/${take(spareMemos)}`, token }),
  },
  {
    name: 'image upload',
    status: 201,
    common: start('"http'),
    slow: true,
    toRequest: ({ token }) => ({
      method: 'POST',
      path: '/memos/image-memo',
      token,
      ...toFileForm(PIXEL),
    }),
  },
  { name: 'profile', status: 200, common: whole, toRequest: get(() => '/members/me') },
  {
    name: 'rename',
    status: 200,
    common: withoutNumbers,
    toRequest: send(
      'PATCH',
      () => '/members/me',
      () => ({ name: 'Renamed' }),
    ),
  },
]

/** Returns a check that throws unless a response is as expected and agrees with the first one. */
export const createCheck = ({ name, status, common }: Endpoint) => {
  let first: string | undefined
  return (response: HttpResponse) => {
    if (response.status !== status) throw new Error(`${name}: ${response.status}, not ${status}: ${response.body}`)
    const seen = common(response.body)
    first ??= seen
    if (seen !== first) throw new Error(`${name}: responded ${seen} after ${first}`)
  }
}
