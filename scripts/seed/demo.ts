import { DETAILS } from './details.ts'
import { drawCover, drawPage } from './pictures.ts'
import { SHELF, type ShelfBook, type ShelfMemo } from './shelf.ts'

export const DEMO = { email: 'demo@example.com', password: 'read-more-1', name: 'Demo Reader' }

const DAY_MS = 86_400_000
/** Every fourth book gets a cover: the service accepts 30 uploads a minute. */
const BOOKS_PER_COVER = 4

export type Fetch = (request: Request) => Promise<Response>
/**
 * Sends FormData as it is and anything else as JSON.
 * @throws Error if the response is neither successful nor of an `expected` status
 */
type Send = (method: string, path: string, body?: unknown, ...expected: number[]) => Promise<Response>

const createClient =
  (fetch: Fetch, base: string, token?: string): Send =>
  async (method, path, body, ...expected) => {
    const isJson = body !== undefined && !(body instanceof FormData)
    const headers = { ...(token && { Authorization: token }), ...(isJson && { 'Content-Type': 'application/json' }) }
    const request = { method, headers, body: isJson ? JSON.stringify(body) : body }
    const response = await fetch(new Request(base + path, request))
    if (response.ok || expected.includes(response.status)) return response
    throw new Error(`${method} ${path} failed with ${response.status}: ${await response.text()}`)
  }

const readJson = async <T>(response: Promise<Response>) => (await (await response).json()) as T

/** @throws Error that says what to do, if the service cannot be seeded */
const checkService = async (fetch: Fetch, base: string) => {
  const health = await fetch(new Request(`${base}/health`)).catch((error) => {
    throw new Error(`No service at ${base}. Start it with \`npm run dev\`, or pass --url.`, { cause: error })
  })
  const { status } = (await health.json().catch(() => ({}))) as { status?: unknown }
  if (status === 'ok') return
  if (status !== health.status) throw new Error(`The service at ${base} is not the Reading Library.`)
  throw new Error(`The service at ${base} is not ready (${status}): its log says what to do.`)
}

/** Signs the demo member up. Returns false if it exists. */
const signUp = async (send: Send) => {
  const response = await send('POST', '/join', { ...DEMO, authenticationCode: '000000' }, 400, 409)
  if (response.status === 400) {
    throw new Error('Sign-up requires a mailed code. Seed a service that runs with EMAIL_VERIFICATION=off.')
  }
  return response.ok
}

const logIn = async (send: Send) => {
  const { email, password } = DEMO
  const { headers } = await send('POST', '/login', { email, password }, 401)
  const token = headers.get('Authorization')
  if (!token) throw new Error(`A member ${email} with another password exists.`)
  return token
}

const upload = async (send: Send, picture: Uint8Array<ArrayBuffer>) => {
  const form = new FormData()
  form.append('file', new Blob([picture], { type: 'image/png' }), 'picture.png')
  return readJson<string>(send('POST', '/memos/image-memo', form))
}

const addMemo = async (send: Send, bookId: number, { markedLine, ...memo }: ShelfMemo) => {
  const photo = markedLine ? `<p><img src="${await upload(send, drawPage(markedLine))}"></p>` : ''
  await send('POST', `/memos?bookId=${bookId}`, { ...memo, memoContent: memo.memoContent + photo })
}

/** How many times the progress in a book was recorded while it was read. */
const PROGRESS_STEPS = 4

const addProgress = async (send: Send, bookId: number, lastPage: number, from: number, to: number) => {
  for (let step = 1; step <= PROGRESS_STEPS; step++) {
    const at = `${new Date(from + ((to - from) * step) / PROGRESS_STEPS).toISOString().slice(0, 19)}Z`
    await send('POST', `/books/${bookId}/progress`, { page: Math.round((lastPage * step) / PROGRESS_STEPS), at })
  }
}

const addDetails = async (send: Send, bookId: number, title: string) => {
  const { tags, readings = [], ...edition } = DETAILS[title] ?? {}
  if (Object.keys(edition).length > 0) await send('PATCH', `/books/${bookId}/edition`, edition)
  if (tags) await send('PUT', `/books/${bookId}/tags`, { tags })
  for (const reading of readings) await send('POST', `/books/${bookId}/readings`, reading)
}

/** Adds a book with its memos, dated back from `now`. */
const addBook = async (send: Send, { days, star, memos, ...book }: ShelfBook, index: number, now: number) => {
  const [registered, started, finished] = days
  const dateOf = (daysAgo: number | undefined, hour: number) =>
    daysAgo && `${new Date(now - daysAgo * DAY_MS).toISOString().slice(0, 10)}T${String(hour).padStart(2, '0')}:15:00`
  const cover = index % BOOKS_PER_COVER === 0 ? await upload(send, drawCover(index)) : null
  const dates = { readStartDate: dateOf(started, 8), readEndDate: dateOf(finished, 22) }
  const { bookId } = await readJson<{ bookId: number }>(send('POST', '/books', { ...book, cover, ...dates }))
  await send('PATCH', `/books/created-date/${bookId}`, dateOf(registered, 7 + (index % 12)))
  if (star) await send('PATCH', `/books/${bookId}`, { star })
  for (const memo of memos) await addMemo(send, bookId, memo)
  if (started) {
    await addProgress(send, bookId, book.currentPage, now - started * DAY_MS, now - (finished ?? 1) * DAY_MS)
  }
  await addDetails(send, bookId, book.title)
}

const PAGE = 'page=1&size=5'
const VIEWS = [
  ...['YET', 'ING', 'DONE'].map((status) => `/books/library?${PAGE}&bookStatus=${status}`),
  ...['calender', 'abandon', 'memo-books'].map((view) => `/books/${view}?${PAGE}`),
  ...['-created', 'title', 'author', '-finished', '-rating'].map((sort) => `/books?sort=${sort}&size=100`),
  '/books?status=DONE&tag=classic&sort=-rating',
  '/books/search?q=pride',
  '/memos/search?q=%EB%8B%A4%EC%8B%9C',
  '/books/by-isbn/9780141439518',
  '/authors?size=100',
  '/tags',
  `/books/tagged?tag=classic&${PAGE}`,
  '/stats',
]
const MEMO_TYPES = ['ALL', 'BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
const AUTHORITIES = ['ALL', 'PUBLIC', 'PRIVATE']

type MemoBooks = { item: { bookId: number; memoCount: number }[] }
type Lists = Partial<Record<'memosList' | 'tags' | 'years' | 'item', unknown[]>>
type View = unknown[] | (Lists & { pageInfo?: { totalElements: number } })
const countEntries = (view: View) => {
  if (Array.isArray(view)) return view.length
  const { pageInfo, memosList, tags, years, item } = view
  return pageInfo?.totalElements ?? (memosList ?? tags ?? years ?? item)?.length ?? 0
}

/**
 * Counts the entries of every view, at most 100 of a list with a cursor, including those of the book with the most
 * memos.
 */
const countViews = async (send: Send) => {
  const { item } = await readJson<MemoBooks>(send('GET', '/books/memo-books?page=1&size=1000'))
  const fullest = item.toSorted((a, b) => b.memoCount - a.memoCount).slice(0, 1)
  const ofBook = fullest.flatMap(({ bookId }) => [
    ...AUTHORITIES.map((authority) => `/books/${bookId}?memoAuthority=${authority}`),
    ...MEMO_TYPES.map((type) => `/books/${bookId}/memos?${PAGE}&memoType=${type}`),
    ...['readings', 'progress', 'tags'].map((details) => `/books/${bookId}/${details}`),
  ])
  const views: { path: string; count: number }[] = []
  for (const path of [...VIEWS, ...ofBook, '/memos/random']) {
    views.push({ path, count: countEntries(await readJson<View>(send('GET', path))) })
  }
  return views
}

/**
 * Creates the demo member and its library over HTTP. An existing demo member is kept, or with `reset` deleted and
 * created again. Returns whether it was created, and the number of entries in each view.
 * @throws Error that says what to do, if the service cannot be seeded
 */
export const seed = async (fetch: Fetch, base: string, { reset = false, now = Date.now() } = {}) => {
  await checkService(fetch, base)
  const anonymous = createClient(fetch, base)
  let isNew = await signUp(anonymous)
  let send = createClient(fetch, base, await logIn(anonymous))
  if (!isNew && reset) {
    await send('DELETE', '/members/me')
    isNew = await signUp(anonymous)
    send = createClient(fetch, base, await logIn(anonymous))
  }
  if (isNew) {
    // Oldest first, so that identifiers and registration dates sort alike.
    const shelf = SHELF.toSorted((a, b) => b.days[0] - a.days[0])
    for (const [index, book] of shelf.entries()) await addBook(send, book, index, now)
    await send('PATCH', '/members/me', { timeZone: 'Asia/Seoul' })
    await send('PUT', `/goals/${new Date(now).getUTCFullYear()}`, { metric: 'BOOKS', target: 24 })
  }
  return { isNew, views: await countViews(send) }
}
