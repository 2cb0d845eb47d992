// Every authenticated endpoint: its requests, and the expected responses.
import { PIXEL, toFileForm } from '../../support/inputs/file-form.ts'
import { type HttpRequest, type HttpResponse, sendRequest } from '../../support/service/http-client.ts'
import { type Endpoint, get, remove, start, type ToPath, withoutNumbers, write } from './endpoint.ts'
import { libraryEndpoints } from './library-endpoints.ts'

/** Seven books in turn, because of the quota of memos per book. Reads are timed with other books. */
const anotherBook: ToPath = ({ book }, n) => `/memos?bookId=${book + 1 + (n % 7)}`

const NAME = 'The quick brown fox'

const COMPARED = { compared: true } as const

const details = { cover: 'https://covers.example.com/1.jpg', itemPage: 300, bookStatus: 'YET' }
const newBook = (n: number) => ({ title: `Book ${n}`, author: NAME, publisher: NAME, ...details })
const memo = { memoContent: 'Something worth remembering on this page.', memoType: 'THOUGHT', memoAuthority: 'PUBLIC' }
const newMemo = (n: number) => ({ memoBookPage: n % 300, ...memo })

const progress = (n: number) => ({ star: n % 6, currentPage: n % 300 })
const changes = (n: number) => ({ memoBookPage: n % 300, memoContent: 'Changed' })
const newName = () => ({ name: 'Renamed' })

const page = '?page=1&size=20'

/** Also implemented by the Worker `chain`. */
export const contractEndpoints: [Endpoint, ...Endpoint[]] = [
  get('library', () => `/books/library${page}&bookStatus=DONE`, COMPARED),
  get('detail', ({ book }) => `/books/${book}?memoAuthority=ALL`, COMPARED),
  get('memos', ({ memoBook }) => `/books/${memoBook}/memos${page}&memoType=ALL`, COMPARED),
  get('random', () => '/memos/random', { ...COMPARED, common: start('[{"memoId":') }),
  { ...write('register', 'POST', () => '/books', newBook), ...COMPARED },
  { ...write('memo creation', 'POST', anotherBook, newMemo), ...COMPARED },
  get('calender', () => `/books/calender${page}`),
  get('memo-books', () => '/books/memo-books?page=1&size=5'),
  get('abandon', () => `/books/abandon${page}`, { slow: true, grows: 'counts the old unread books' }),
  get('memos of a type', ({ memoBook }) => `/books/${memoBook}/memos?page=1&size=5&memoType=SUMMARY`),
  write('update', 'PATCH', ({ changedBook }) => `/books/${changedBook}`, progress),
  {
    name: 'created-date',
    status: 200,
    common: withoutNumbers,
    toRequest: ({ changedBook, token }, n) => {
      const body = `2021-01-01T00:00:${String(n % 60).padStart(2, '0')}`
      return { method: 'PATCH', path: `/books/created-date/${changedBook}`, token, body, type: 'text/plain' }
    },
  },
  remove('delete book', '/books', ({ spareBooks }) => spareBooks),
  get('memo', ({ changedMemo }) => `/memos/${changedMemo}`),
  write('memo update', 'PATCH', ({ changedMemo }) => `/memos/${changedMemo}`, changes),
  remove('delete memo', '/memos', ({ spareMemos }) => spareMemos),
  {
    name: 'image upload',
    status: 201,
    slow: true,
    common: start('"http'),
    toRequest: ({ token }) => ({ method: 'POST', path: '/memos/image-memo', token, ...toFileForm(PIXEL) }),
  },
  get('profile', () => '/members/me'),
  write('rename', 'PATCH', () => '/members/me', newName),
]

export const endpoints: [Endpoint, ...Endpoint[]] = [...contractEndpoints, ...libraryEndpoints]

/** Returns a check that passes a response on if it has the status, and throws otherwise. */
export const checkStatus = (name: string, expected: number) => (response: HttpResponse) => {
  const { status, body } = response
  if (status !== expected) throw new Error(`${name}: ${status}, not ${expected}: ${body}`)
  return response
}

/** Sends a request. @throws Error unless the response has the status */
export const sendExpecting = async (url: URL, request: HttpRequest, status: number) =>
  checkStatus(request.path, status)(await sendRequest(url, request))

/** Returns a check that throws unless a response is as expected and agrees with the first one. */
export const createCheck = ({ name, status, common }: Endpoint) => {
  const check = checkStatus(name, status)
  let first: string | undefined
  return (response: HttpResponse) => {
    const seen = common(check(response).body)
    first ??= seen
    if (seen !== first) throw new Error(`${name}: responded ${seen} after ${first}`)
  }
}
