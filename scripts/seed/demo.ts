import { drawCover, drawPage } from './pictures.ts'
import { SHELF, type ShelfBook, type ShelfMemo } from './shelf.ts'

export const DEMO = { email: 'demo@example.com', password: 'read-more-1', name: 'Demo Reader' }

const DAY = 86_400_000
/** Of so many books, one has a picture for a cover: the service takes 30 uploads a minute. */
const COVERED = 4

export type Fetch = (request: Request) => Promise<Response>
/** Sends a form as it is and all else as JSON; fails at every answer that is none of `expected`, or else no success. */
type Send = (method: string, path: string, body?: unknown, ...expected: number[]) => Promise<Response>

const connect = (fetch: Fetch, base: string, token?: string): Send => {
  return async (method, path, body, ...expected) => {
    const headers = new Headers(token ? { Authorization: token } : {})
    if (body !== undefined && !(body instanceof FormData)) headers.set('Content-Type', 'application/json')
    const payload = body === undefined || body instanceof FormData ? body : JSON.stringify(body)
    const response = await fetch(new Request(base + path, { method, headers, body: payload }))
    if (response.ok || expected.includes(response.status)) return response
    throw new Error(`${method} ${path} was answered with ${response.status}: ${await response.text()}`)
  }
}

const read = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T

/** @throws Error that says what to do, when there is no service that could be seeded */
const findService = async (fetch: Fetch, base: string) => {
  const health = await fetch(new Request(`${base}/health`)).catch((error) => {
    throw new Error(`Nothing answers at ${base}. Start the service with \`npm run dev\`.`, { cause: error })
  })
  const { status } = (await health.json().catch(() => ({}))) as { status?: unknown }
  if (status === 'ok') return
  if (status !== health.status) throw new Error(`What answers at ${base} is not the Reading Library.`)
  throw new Error(`The service at ${base} is not ready (${status}): its log says what to do.`)
}

/** Signs the demo member up; false when there is one. */
const join = async (send: Send) => {
  const answer = await send('POST', '/join', { ...DEMO, authenticationCode: '000000' }, 400, 409)
  if (answer.status === 400) {
    throw new Error('Sign-up wants a code by mail here. Seed a service that runs with EMAIL_VERIFICATION=off.')
  }
  return answer.ok
}

const logIn = async (send: Send) => {
  const { email, password } = DEMO
  const { headers } = await send('POST', '/login', { email, password }, 401)
  const token = headers.get('Authorization')
  if (!token) throw new Error(`There is a member ${email} with another password.`)
  return token
}

const upload = async (send: Send, picture: Uint8Array<ArrayBuffer>) => {
  const form = new FormData()
  form.append('file', new Blob([picture], { type: 'image/png' }), 'picture.png')
  return read<string>(send('POST', '/memos/image-memo', form))
}

const writeMemo = async (send: Send, bookId: number, { marked, ...memo }: ShelfMemo) => {
  const picture = marked && `<p><img src="${await upload(send, await drawPage(marked))}"></p>`
  const memoContent = memo.memoContent + (picture ?? '')
  await send('POST', `/memos?bookId=${bookId}`, { ...memo, memoContent })
}

/** Registers a book as if it had been done on its day, with all that is known of it. */
const shelve = async (send: Send, book: ShelfBook, number: number, now: number) => {
  const { registered, started, finished, star, memos, ...rest } = book
  const dateOf = (daysAgo: number | undefined, hour: number) =>
    daysAgo && `${new Date(now - daysAgo * DAY).toISOString().slice(0, 10)}T${String(hour).padStart(2, '0')}:15:00`
  const { bookId } = await read<{ bookId: number }>(
    send('POST', '/books', {
      ...rest,
      cover: number % COVERED === 0 ? await upload(send, await drawCover(number)) : null,
      readStartDate: dateOf(started, 8),
      readEndDate: dateOf(finished, 22),
    }),
  )
  await send('PATCH', `/books/created-date/${bookId}`, dateOf(registered, 7 + (number % 12)))
  if (star) await send('PATCH', `/books/${bookId}`, { star })
  for (const memo of memos) await writeMemo(send, bookId, memo)
}

const PAGE = 'page=1&size=5'
const VIEWS = [
  ...['YET', 'ING', 'DONE'].map((status) => `/books/library?${PAGE}&bookStatus=${status}`),
  ...['calender', 'abandon', 'memo-books'].map((view) => `/books/${view}?${PAGE}`),
]
const MEMO_TYPES = ['ALL', 'BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
const AUTHORITIES = ['ALL', 'PUBLIC', 'PRIVATE']

type MemoBooks = { item: { bookId: number; memoCount: number }[] }
type Shown = { pageInfo: { totalElements: number } } | { memosList: unknown[] } | unknown[]
const count = (shown: Shown) => {
  if (Array.isArray(shown)) return shown.length
  return 'memosList' in shown ? shown.memosList.length : shown.pageInfo.totalElements
}

/** Looks at every view, and at the book with the most memos; answers what was asked and how much it showed. */
const look = async (send: Send) => {
  const { item } = await read<MemoBooks>(send('GET', '/books/memo-books?page=1&size=1000'))
  const [fullest] = item.toSorted((one, other) => other.memoCount - one.memoCount)
  const ofBook = fullest
    ? [
        ...AUTHORITIES.map((authority) => `/books/${fullest.bookId}?memoAuthority=${authority}`),
        ...MEMO_TYPES.map((type) => `/books/${fullest.bookId}/memos?${PAGE}&memoType=${type}`),
      ]
    : []
  const views: { path: string; shown: number }[] = []
  for (const path of [...VIEWS, ...ofBook, '/memos/random']) {
    views.push({ path, shown: count(await read<Shown>(send('GET', path))) })
  }
  return views
}

/**
 * Sees to it that the demo member is there with a library, over HTTP as any client would. One who is there already is
 * left as is, or with `renew` withdrawn and made anew. Answers whether the library is new, and what each view shows.
 * @throws Error that says what to do, when there is no service that could be seeded
 */
export const seed = async (fetch: Fetch, base: string, { renew = false, now = Date.now() } = {}) => {
  await findService(fetch, base)
  const anonymous = connect(fetch, base)
  let isNew = await join(anonymous)
  let send = connect(fetch, base, await logIn(anonymous))
  if (!isNew && renew) {
    await send('DELETE', '/members/me')
    isNew = await join(anonymous)
    send = connect(fetch, base, await logIn(anonymous))
  }
  if (isNew) {
    // In the order in which they were registered, so that the newest is the newest by every order.
    const shelf = SHELF.toSorted((one, other) => other.registered - one.registered)
    for (const [number, book] of shelf.entries()) await shelve(send, book, number, now)
  }
  return { isNew, views: await look(send) }
}
