// The baseline: a minimal Worker with the same responses to valid requests. No framework, no validation, only the
// headers that a client needs. It checks the token and trusts every path, query and body.

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

const json = (body: unknown, status = 200, location?: string) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', ...(location && { Location: location }) },
  })
const refuse = (status: number) => json({ status, message: null, fieldErrors: null, violationErrors: null }, status)

const toPage = (item: unknown[], query: URLSearchParams, totalElements: number) => {
  const size = Number(query.get('size'))
  const totalPages = Math.ceil(totalElements / size)
  return json({ item, pageInfo: { page: Number(query.get('page')), size, totalElements, totalPages } })
}
const localTime = () => new Date().toISOString().slice(0, 19)

export default {
  async fetch(request, { DB, JWT_SECRET }) {
    const claims = await verify(request, JWT_SECRET)
    if (!claims) return refuse(401)
    const me = Number(claims.sub)
    const caller = [me, claims.sid]
    const batch = async (...statements: [string, unknown[]][]) => {
      const results = await DB.batch<Record<string, unknown>>(
        statements.map(([query, values]) => DB.prepare(query).bind(...values)),
      )
      return results.map(({ results }) => results)
    }
    const { pathname, searchParams: query } = new URL(request.url)
    const size = Number(query.get('size'))
    const offset = (Number(query.get('page')) - 1) * size

    if (request.method === 'POST' && pathname === '/books') {
      const { title, author, cover, publisher, itemPage, currentPage, bookStatus } =
        await request.json<Record<string, unknown>>()
      const details = [title, author ?? null, cover ?? null, publisher ?? null, itemPage ?? null, currentPage ?? 0]
      const [rows] = await batch([NEW_BOOK, [...caller, ...details, bookStatus ?? 'YET', localTime()]])
      const book = rows?.[0]
      return book ? json(book, 201, `/books/${book.bookId}`) : refuse(401)
    }
    if (request.method === 'POST') {
      const { memoType, memoContent, memoBookPage, memoAuthority } = await request.json<Record<string, unknown>>()
      const details = [memoType ?? 'BOOK_CONTENT', memoContent, memoBookPage, memoAuthority ?? 'PRIVATE']
      const values = [...caller, Number(query.get('bookId')), ...details, localTime()]
      const [self, rows] = await batch([CALLER, caller], [NEW_MEMO, values])
      const memo = rows?.[0]
      if (!self?.[0]) return refuse(401)
      return memo ? json(memo, 201, `/memos/${memo.memoId}`) : refuse(404)
    }
    if (pathname === '/books/library') {
      const status = query.get('bookStatus') ?? ''
      const [self, item = []] = await batch([TOTALS, caller], [LIBRARY, [me, status, size, offset]])
      return self?.[0] ? toPage(item, query, Number(self[0][status])) : refuse(401)
    }
    if (pathname === '/memos/random') {
      const [self, item] = await batch([CALLER, caller], [RANDOM, [me, Math.random()]])
      return self?.[0] ? json(item) : refuse(401)
    }
    const bookId = Number(pathname.split('/')[2])
    const isPage = pathname.endsWith('/memos')
    const memos: [string, unknown[]] = isPage ? [MEMOS_PAGE, [bookId, size, offset]] : [MEMOS_LIST, [bookId]]
    const [self, books, list = []] = await batch([CALLER, caller], [BOOK, [bookId, me]], memos)
    const book = books?.[0]
    if (!self?.[0]) return refuse(401)
    if (!book) return refuse(404)
    if (isPage) return toPage(list, query, Number(book.memoCount))
    return json({ ...book, memosList: list.sort((one, other) => Number(other.memoId) - Number(one.memoId)) })
  },
} satisfies ExportedHandler<Env>
