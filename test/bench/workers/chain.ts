// A common alternative to one batch: three queries in sequence, for the caller, the ownership and the data. Only its time
// is measured, so it returns raw rows.
import { type Env, withDelay } from './delay.ts'

type Route = { method: string; path: RegExp; owner: string; data: string; status?: number }

const OWN_BOOK = 'select bookId from books where bookId = ?2 and memberId = ?1'
const OWN_MEMO = 'select memoId from memos where memoId = ?2 and memberId = ?1'
const COUNTS = 'select yetBooks, ingBooks, doneBooks, finishedBooks, memoBooks from members where memberId = ?1'
const NOW = `strftime('%Y-%m-%dT%H:%M:%S', 'now')`
const page = (where: string) => `select * from books where memberId = ?1 and ${where} order by bookId desc limit 20`

const routes: Route[] = [
  { method: 'GET', path: /^\/books\/library$/, owner: COUNTS, data: page(`bookStatus = 'DONE'`) },
  {
    method: 'GET',
    path: /^\/books\/calender$/,
    owner: COUNTS,
    data: page(`bookStatus = 'DONE' and readEndDate is not null`),
  },
  { method: 'GET', path: /^\/books\/memo-books$/, owner: COUNTS, data: page('hasMemos = 1') },
  {
    method: 'GET',
    path: /^\/books\/abandon$/,
    owner: `select count(*) from books where memberId = ?1 and bookStatus = 'YET' and createdAt < ${NOW}`,
    data: `select * from books where memberId = ?1 and bookStatus = 'YET' and createdAt < ${NOW} order by createdAt limit 20`,
  },
  {
    method: 'GET',
    path: /^\/books\/(\d+)\/memos$/,
    owner: OWN_BOOK,
    data: `select * from memos where memberId = ?1 and bookId = ?2 and memoType = 'SUMMARY' order by memoId desc limit 20`,
  },
  {
    method: 'GET',
    path: /^\/books\/(\d+)$/,
    owner: OWN_BOOK,
    data: 'select * from memos where memberId = ?1 and bookId = ?2',
  },
  {
    method: 'POST',
    path: /^\/books$/,
    owner: COUNTS,
    data: `insert into books (memberId, title, createdAt) values (?1, 'T', ${NOW}) returning *`,
    status: 201,
  },
  {
    method: 'PATCH',
    path: /^\/books\/(?:created-date\/)?(\d+)$/,
    owner: OWN_BOOK,
    data: 'update books set star = 3 where memberId = ?1 and bookId = ?2 returning *',
  },
  {
    method: 'DELETE',
    path: /^\/books\/(\d+)$/,
    owner: OWN_BOOK,
    data: 'delete from books where memberId = ?1 and bookId = ?2',
    status: 204,
  },
  {
    method: 'GET',
    path: /^\/memos\/random$/,
    owner: 'select max(position) from memos where memberId = ?1',
    data: 'select * from memos where memberId = ?1 and position = 1',
  },
  { method: 'POST', path: /^\/memos\/image-memo$/, owner: COUNTS, data: COUNTS, status: 201 },
  {
    method: 'POST',
    path: /^\/memos$/,
    owner: OWN_BOOK,
    data: `insert into memos (bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select ?2, ?1, max(position) + 1, 'SUMMARY', 'x', 1, 'PRIVATE', ${NOW}, ${NOW} from memos where memberId = ?1 returning *`,
    status: 201,
  },
  {
    method: 'PATCH',
    path: /^\/memos\/(\d+)$/,
    owner: OWN_MEMO,
    data: 'update memos set memoBookPage = 3 where memberId = ?1 and memoId = ?2 returning *',
  },
  {
    method: 'DELETE',
    path: /^\/memos\/(\d+)$/,
    owner: OWN_MEMO,
    data: 'delete from memos where memberId = ?1 and memoId = ?2',
    status: 204,
  },
  {
    method: 'GET',
    path: /^\/members\/me$/,
    owner: COUNTS,
    data: 'select email, name from members where memberId = ?1',
  },
  {
    method: 'PATCH',
    path: /^\/members\/me$/,
    owner: COUNTS,
    data: `update members set name = 'N' where memberId = ?1 returning email, name`,
  },
]

const memberOf = (request: Request) => {
  const payload = request.headers.get('Authorization')?.split('.')[1] ?? ''
  return Number(JSON.parse(atob(payload)).sub)
}

export default {
  async fetch(request, env) {
    const database = withDelay(env).DB
    const { pathname, searchParams } = new URL(request.url)
    await request.arrayBuffer()
    for (const { method, path, owner, data, status = 200 } of routes) {
      const match = method === request.method && path.exec(pathname)
      if (!match) continue
      const memberId = memberOf(request)
      const id = Number(match[1] ?? searchParams.get('bookId') ?? 0)
      const run = (query: string) =>
        database
          .prepare(query)
          .bind(...(query.includes('?2') ? [memberId, id] : [memberId]))
          .run()
      await run('select memberId from members where memberId = ?1')
      await run(owner)
      const { results } = await run(data)
      return status === 204 ? new Response(null, { status }) : Response.json(results, { status })
    }
    return new Response(null, { status: 404 })
  },
} satisfies ExportedHandler<Env>
