// A common alternative to one batch: three queries in sequence, for the caller, the ownership and the data. Only its time
// is measured, so it returns raw rows.
import { type Env, withDelay } from './delay.ts'

type Route = [method: string, path: RegExp, owner: string, data: string, status?: number]

const BOOK = 'memberId = ?1 and bookId = ?2'
const MEMO = 'memberId = ?1 and memoId = ?2'
const OWN_BOOK = `select bookId from books where ${BOOK}`
const OWN_MEMO = `select memoId from memos where ${MEMO}`
const MEMOS = `select * from memos where ${BOOK}`
const MAX_POSITION = 'select max(position) from memos where memberId = ?1'
const COUNTS = 'select yetBooks, ingBooks, doneBooks, finishedBooks, memoBooks from members where memberId = ?1'
const NOW = `strftime('%Y-%m-%dT%H:%M:%S', 'now')`
const OLD_UNREAD = `from books where memberId = ?1 and bookStatus = 'YET' and createdAt < ${NOW}`
const NEW_BOOK = `insert into books (memberId, title, createdAt) values (?1, 'T', ${NOW}) returning *`
const NEW_MEMO = `insert into memos (bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  select ?2, ?1, max(position) + 1, 'SUMMARY', 'x', 1, 'PRIVATE', ${NOW}, ${NOW} from memos where memberId = ?1 returning *`
const page = (where: string) => `select * from books where memberId = ?1 and ${where} order by bookId desc limit 20`

const routes: Route[] = [
  ['GET', /^\/books\/library$/, COUNTS, page(`bookStatus = 'DONE'`)],
  ['GET', /^\/books\/calender$/, COUNTS, page(`bookStatus = 'DONE' and readEndDate is not null`)],
  ['GET', /^\/books\/memo-books$/, COUNTS, page('hasMemos = 1')],
  ['GET', /^\/books\/abandon$/, `select count(*) ${OLD_UNREAD}`, `select * ${OLD_UNREAD} order by createdAt limit 20`],
  ['GET', /^\/books\/(\d+)\/memos$/, OWN_BOOK, `${MEMOS} and memoType = 'SUMMARY' order by memoId desc limit 20`],
  ['GET', /^\/books\/(\d+)$/, OWN_BOOK, MEMOS],
  ['POST', /^\/books$/, COUNTS, NEW_BOOK, 201],
  ['PATCH', /^\/books\/(?:created-date\/)?(\d+)$/, OWN_BOOK, `update books set star = 3 where ${BOOK} returning *`],
  ['DELETE', /^\/books\/(\d+)$/, OWN_BOOK, `delete from books where ${BOOK}`, 204],
  ['GET', /^\/memos\/random$/, MAX_POSITION, 'select * from memos where memberId = ?1 and position = 1'],
  ['POST', /^\/memos\/image-memo$/, COUNTS, COUNTS, 201],
  ['POST', /^\/memos$/, OWN_BOOK, NEW_MEMO, 201],
  ['GET', /^\/memos\/(\d+)$/, OWN_MEMO, `select * from memos where ${MEMO}`],
  ['PATCH', /^\/memos\/(\d+)$/, OWN_MEMO, `update memos set memoBookPage = 3 where ${MEMO} returning *`],
  ['DELETE', /^\/memos\/(\d+)$/, OWN_MEMO, `delete from memos where ${MEMO}`, 204],
  ['GET', /^\/members\/me$/, COUNTS, 'select email, name from members where memberId = ?1'],
  ['PATCH', /^\/members\/me$/, COUNTS, `update members set name = 'N' where memberId = ?1 returning email, name`],
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
    for (const [method, path, owner, data, status = 200] of routes) {
      const match = method === request.method && path.exec(pathname)
      if (!match) continue
      const memberId = memberOf(request)
      const id = Number(match[1] ?? searchParams.get('bookId') ?? 0)
      const run = (query: string) => {
        const statement = database.prepare(query)
        return (query.includes('?2') ? statement.bind(memberId, id) : statement.bind(memberId)).run()
      }
      await run('select memberId from members where memberId = ?1')
      await run(owner)
      const { results } = await run(data)
      return status === 204 ? new Response(null, { status }) : Response.json(results, { status })
    }
    return new Response(null, { status: 404 })
  },
} satisfies ExportedHandler<Env>
