// Every authenticated endpoint: what is asked, and what counts as the right answer.
import type { Answer, Ask } from '../support/http-client.ts'
import type { Shelf } from './seed.ts'

export type Endpoint = {
  name: string
  status: number
  /** The nth request. */
  ask: (shelf: Shelf, n: number) => Ask
  /** What two answers to it have in common: all, unless it makes something new or draws. */
  common: (body: string) => string
  /** Whether the floor and the peers have it. */
  compared?: true
  /** Asked a tenth as often, since it costs by what it counts or changes. */
  dear?: true
  /** Why its rows may grow with the library. */
  grows?: string
}

const all = (body: string) => body
const shape = (body: string) => body.replace(/\d+/g, '0')
const drawn = (body: string) => body.slice(0, '[{"memoId":'.length)
const nothing = () => ''

const MAKER = 'The quick brown fox'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const BOUNDARY = 'bench-boundary'
const IMAGE = Buffer.concat([
  Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`,
  ),
  PNG,
  Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
])

const get = (path: (shelf: Shelf) => string) => (shelf: Shelf) => ({
  method: 'GET',
  path: path(shelf),
  token: shelf.token,
})
const send =
  (method: string, path: (shelf: Shelf) => string, body: (n: number) => unknown) => (shelf: Shelf, n: number) => ({
    method,
    path: path(shelf),
    token: shelf.token,
    body: JSON.stringify(body(n)),
  })
const take = (ids: number[]) => {
  const id = ids.shift()
  if (id === undefined) throw new Error('The shelf has no more to delete: ask for fewer rounds')
  return id
}

const page = '?page=1&size=20'

export const endpoints: Endpoint[] = [
  {
    name: 'library',
    status: 200,
    compared: true,
    common: all,
    ask: get(() => `/books/library${page}&bookStatus=DONE`),
  },
  {
    name: 'detail',
    status: 200,
    compared: true,
    common: all,
    ask: get(({ book }) => `/books/${book}?memoAuthority=ALL`),
  },
  {
    name: 'memos',
    status: 200,
    compared: true,
    common: all,
    ask: get(({ memoBook }) => `/books/${memoBook}/memos${page}&memoType=ALL`),
  },
  { name: 'random', status: 200, compared: true, common: drawn, ask: get(() => '/memos/random') },
  {
    name: 'register',
    status: 201,
    compared: true,
    common: shape,
    ask: send(
      'POST',
      () => '/books',
      (n) => ({
        title: `Book ${n}`,
        author: MAKER,
        publisher: MAKER,
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
    common: shape,
    ask: send(
      'POST',
      ({ memoBook }) => `/memos?bookId=${memoBook}`,
      (n) => ({
        memoBookPage: n % 300,
        memoContent: 'What one wanted to remember of this page.',
        memoType: 'THOUGHT',
        memoAuthority: 'PUBLIC',
      }),
    ),
  },
  { name: 'calender', status: 200, common: all, ask: get(() => `/books/calender${page}`) },
  { name: 'memo-books', status: 200, common: all, ask: get(() => '/books/memo-books?page=1&size=5') },
  {
    name: 'abandon',
    status: 200,
    common: all,
    dear: true,
    grows: 'counts the old unread books',
    ask: get(() => `/books/abandon${page}`),
  },
  {
    name: 'memos of a type',
    status: 200,
    common: all,
    ask: get(({ memoBook }) => `/books/${memoBook}/memos?page=1&size=5&memoType=SUMMARY`),
  },
  {
    name: 'update',
    status: 200,
    common: shape,
    ask: send(
      'PATCH',
      ({ changedBook }) => `/books/${changedBook}`,
      (n) => ({ star: n % 6, currentPage: n % 300 }),
    ),
  },
  {
    name: 'created-date',
    status: 200,
    common: shape,
    ask: ({ changedBook, token }, n) => ({
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
    dear: true,
    ask: ({ spareBooks, token }) => ({ method: 'DELETE', path: `/books/${take(spareBooks)}`, token }),
  },
  {
    name: 'memo update',
    status: 200,
    common: shape,
    ask: send(
      'PATCH',
      ({ changedMemo }) => `/memos/${changedMemo}`,
      (n) => ({ memoBookPage: n % 300, memoContent: 'Changed' }),
    ),
  },
  {
    name: 'delete memo',
    status: 204,
    common: nothing,
    dear: true,
    ask: ({ spareMemos, token }) => ({ method: 'DELETE', path: `/memos/${take(spareMemos)}`, token }),
  },
  {
    name: 'image upload',
    status: 201,
    common: (body) => body.slice(0, '"http'.length),
    dear: true,
    ask: ({ token }) => ({
      method: 'POST',
      path: '/memos/image-memo',
      token,
      body: IMAGE,
      type: `multipart/form-data; boundary=${BOUNDARY}`,
    }),
  },
  { name: 'profile', status: 200, common: all, ask: get(() => '/members/me') },
  {
    name: 'rename',
    status: 200,
    common: shape,
    ask: send(
      'PATCH',
      () => '/members/me',
      () => ({ name: 'Renamed' }),
    ),
  },
]

/** Sees to it that each answer is the expected one, and like the first. */
export const expectAnswers = ({ name, status, common }: Endpoint) => {
  let first: string | undefined
  return (answer: Answer) => {
    if (answer.status !== status) throw new Error(`${name}: ${answer.status} instead of ${status}: ${answer.body}`)
    const seen = common(answer.body)
    first ??= seen
    if (seen !== first) throw new Error(`${name}: answered ${seen} after ${first}`)
  }
}
