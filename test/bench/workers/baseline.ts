// The baseline: a minimal Worker with the same responses to valid requests, headers included. No framework, no validation.
// It checks the token and trusts every path, query and body.
import { SECURITY } from '../../../src/http/security-headers.ts'

type Env = { DB: D1Database; JWT_SECRET: string }
type Claims = { sub: string; exp: number; sid: string }

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const fromBase64Url = (text: string) => Uint8Array.fromBase64(text, { alphabet: 'base64url' })

let key: Promise<CryptoKey> | undefined

const verify = async (request: Request, secret: string): Promise<Claims | undefined> => {
  const token = request.headers.get('Authorization')?.slice('Bearer '.length) ?? ''
  const end = token.lastIndexOf('.')
  key ??= crypto.subtle.importKey('raw', encoder.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  const signature = fromBase64Url(token.slice(end + 1))
  if (!(await crypto.subtle.verify('HMAC', await key, signature, encoder.encode(token.slice(0, end))))) return undefined
  const claims: Claims = JSON.parse(decoder.decode(fromBase64Url(token.slice(token.indexOf('.') + 1, end))))
  return claims.exp > Date.now() / 1000 ? claims : undefined
}

const CALLER = 'select memberId from sessions where memberId = ?1 and sessionId = ?2'
const IS_CALLER = `memberId = (${CALLER})`
const MEMO = 'memoId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt'

const TOTALS = `select yetBooks as YET, ingBooks as ING, doneBooks as DONE from members where ${IS_CALLER}`
const LIBRARY = `select bookId, title, cover, author, createdAt, star, currentPage, itemPage, bookStatus, memoCount
  from books where memberId = ?1 and bookStatus = (?2 || '') order by bookId desc limit (?3 + 0) offset (?4 + 0)`
const BOOK = `select bookId, title, cover, author, publisher, createdAt, star, currentPage, itemPage, bookStatus,
  readStartDate, readEndDate, memoCount from books where bookId = ?1 and memberId = ?2`
const MEMOS_LIST = `select ${MEMO} from memos where bookId = ?1`
// Merges the index's four parts, so that no page sorts the whole book.
const MEMOS_PAGE = ['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION']
  .map((type) => `select ${MEMO} from memos where bookId = ?1 and memoType = '${type}'`)
  .join(' union all ')
  .concat(' order by memoId desc limit (?2 + 0) offset (?3 + 0)')
const RANDOM = `select memoId, memoContent, memoType, memoBookPage from memos where memberId = ?1
  and position = (select 1 + cast(?2 * max(position) as integer) from memos where memberId = ?1)`
const NEW_BOOK = `insert into books (memberId, title, author, cover, publisher, itemPage, currentPage, bookStatus, createdAt)
  select memberId, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 from members where ${IS_CALLER}
  returning bookId, title, author, cover, bookStatus`
const NEW_MEMO = `insert into memos (bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  select bookId, memberId, (select coalesce(max(position), 0) + 1 from memos where memberId = ?1), ?4, ?5, ?6, ?7, ?8, ?8
  from books where bookId = ?3 and memberId = (${CALLER}) returning ${MEMO}`

const HEADERS = { ...Object.fromEntries(SECURITY), Vary: 'Origin', 'Content-Type': 'application/json' }

const json = (body: unknown, status: number, headers: Record<string, string>) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...HEADERS, 'X-Request-Id': crypto.randomUUID(), ...headers },
  })
const refuse = (status: number) => json({ status, message: null, fieldErrors: null, violationErrors: null }, status, {})

const toPage = (item: unknown[], query: URLSearchParams, totalElements: number) => {
  const [page, size] = [Number(query.get('page')), Number(query.get('size'))]
  return { item, pageInfo: { page, size, totalElements, totalPages: Math.ceil(totalElements / size) } }
}
/** `rest`: the parameters after `page`. */
const toLinks = (path: string, rest: string, { page, totalPages }: ReturnType<typeof toPage>['pageInfo']) => {
  const link = (relation: string, to: number) => `<${path}?page=${to}${rest}>; rel="${relation}"`
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', page - 1))
  if (page < totalPages) links.push(link('next', page + 1))
  return [...links, link('last', Math.max(totalPages, 1))].join(', ')
}
const localTime = () => new Date().toISOString().slice(0, 19)

export default {
  async fetch(request, { DB, JWT_SECRET }) {
    const claims = await verify(request, JWT_SECRET)
    if (!claims) return refuse(401)
    const me = Number(claims.sub)
    const caller = [me, claims.sid]
    const session = DB.withSession('first-primary')
    const batch = async (...statements: [string, unknown[]][]) => {
      const results = await session.batch<Record<string, unknown>>(
        statements.map(([query, values]) => session.prepare(query).bind(...values)),
      )
      return results.map(({ results }) => results)
    }
    const send = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
      json(body, status, { 'X-D1-Bookmark': session.getBookmark() ?? '', ...headers })
    const { pathname, searchParams: query } = new URL(request.url)
    const size = Number(query.get('size'))
    const offset = (Number(query.get('page')) - 1) * size
    const sendPage = (item: unknown[], totalElements: number, filter: string) => {
      const page = toPage(item, query, totalElements)
      return send(page, 200, { Link: toLinks(pathname, `&size=${size}&${filter}=${query.get(filter)}`, page.pageInfo) })
    }

    if (request.method === 'POST' && pathname === '/books') {
      const { title, author, cover, publisher, itemPage, currentPage, bookStatus } =
        await request.json<Record<string, unknown>>()
      const details = [title, author ?? null, cover ?? null, publisher ?? null, itemPage ?? null, currentPage ?? 0]
      const [rows] = await batch([NEW_BOOK, [...caller, ...details, bookStatus ?? 'YET', localTime()]])
      const book = rows?.[0]
      return book ? send(book, 201, { Location: `/books/${book.bookId}?memoAuthority=ALL` }) : refuse(401)
    }
    if (request.method === 'POST') {
      const { memoType, memoContent, memoBookPage, memoAuthority } = await request.json<Record<string, unknown>>()
      const details = [memoType ?? 'BOOK_CONTENT', memoContent, memoBookPage, memoAuthority ?? 'PRIVATE']
      const values = [...caller, Number(query.get('bookId')), ...details, localTime()]
      const [self, rows] = await batch([CALLER, caller], [NEW_MEMO, values])
      const memo = rows?.[0]
      if (!self?.[0]) return refuse(401)
      return memo ? send(memo, 201, { Location: `/memos/${memo.memoId}`, ETag: `"${memo.memoId}"` }) : refuse(404)
    }
    if (pathname === '/books/library') {
      const status = query.get('bookStatus') ?? ''
      const [self, item = []] = await batch([TOTALS, caller], [LIBRARY, [me, status, size, offset]])
      return self?.[0] ? sendPage(item, Number(self[0][status]), 'bookStatus') : refuse(401)
    }
    if (pathname === '/memos/random') {
      const [self, item] = await batch([CALLER, caller], [RANDOM, [me, Math.random()]])
      return self?.[0] ? send(item) : refuse(401)
    }
    const bookId = Number(pathname.split('/')[2])
    const isPage = pathname.endsWith('/memos')
    const memos: [string, unknown[]] = isPage ? [MEMOS_PAGE, [bookId, size, offset]] : [MEMOS_LIST, [bookId]]
    const [self, books, list = []] = await batch([CALLER, caller], [BOOK, [bookId, me]], memos)
    const book = books?.[0]
    if (!self?.[0]) return refuse(401)
    if (!book) return refuse(404)
    if (isPage) return sendPage(list, Number(book.memoCount), 'memoType')
    return send({ ...book, memosList: list.sort((one, other) => Number(other.memoId) - Number(one.memoId)) })
  },
} satisfies ExportedHandler<Env>
