// The SQL of the Express and Fastify peers: statements prepared once, the same rows as the service's.
import { openDatabase } from './database.ts'

export type Claims = { sub: string; sid: string }
/** A row, or the fields of a valid body. */
export type Fields = Record<string, unknown>
export type Paging = { page: number; size: number }

const database = openDatabase()
const prepare = (query: string) => database.prepare<unknown[], Fields>(query)

const MEMO = 'memoId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt'
const selectCaller = prepare(
  `select memberId, yetBooks as YET, ingBooks as ING, doneBooks as DONE from members
  where memberId = (select memberId from sessions where memberId = ? and sessionId = ?)`,
)
const selectLibrary = prepare(
  `select bookId, title, cover, author, createdAt, star, currentPage, itemPage, bookStatus, memoCount
  from books where memberId = ? and bookStatus = (? || '') order by bookId desc limit (? + 0) offset (? + 0)`,
)
const selectBook = prepare(
  `select bookId, title, cover, author, publisher, createdAt, star, currentPage, itemPage, bookStatus, readStartDate,
  readEndDate, memoCount from books where bookId = ? and memberId = ?`,
)
const ofType = (type: string) => `select ${MEMO} from memos where bookId = @bookId and memoType = '${type}'`
const MEMOS = `${['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'].map(ofType).join(' union all ')} order by memoId desc`
const selectMemos = prepare(`select ${MEMO} from memos where bookId = @bookId order by memoId desc`)
const selectMemosPage = prepare(`${MEMOS} limit (@size + 0) offset (@offset + 0)`)
const selectRandom = prepare(
  `select memoId, memoContent, memoType, memoBookPage from memos where memberId = @memberId
  and position = (select 1 + cast(@fraction * max(position) as integer) from memos where memberId = @memberId)`,
)
const insertBook = prepare(
  `insert into books (memberId, title, author, cover, publisher, itemPage, currentPage, bookStatus, createdAt)
  values (@memberId, @title, @author, @cover, @publisher, @itemPage, @currentPage, @bookStatus, @now)
  returning bookId, title, author, cover, bookStatus`,
)
const insertMemo = prepare(
  `insert into memos (bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  values (@bookId, @memberId, (select coalesce(max(position), 0) + 1 from memos where memberId = @memberId),
    @memoType, @memoContent, @memoBookPage, @memoAuthority, @now, @now) returning ${MEMO}`,
)

const localTime = () => new Date().toISOString().slice(0, 19)
const offsetOf = ({ page, size }: Paging) => (page - 1) * size
const toPage = (item: unknown[], total: unknown, { page, size }: Paging) => ({
  item,
  pageInfo: { page, size, totalElements: Number(total), totalPages: Math.ceil(Number(total) / size) },
})

/** The caller's row with its totals; undefined if the session has ended. */
export const findCaller = ({ sub, sid }: Claims) => selectCaller.get(Number(sub), sid)

export const listLibrary = (member: Fields, query: Paging & { bookStatus: string }) => {
  const { bookStatus, size } = query
  return toPage(selectLibrary.all(member.memberId, bookStatus, size, offsetOf(query)), member[bookStatus], query)
}

export const getBook = ({ memberId }: Fields, bookId: number) => {
  const book = selectBook.get(bookId, memberId)
  return book && { ...book, memosList: selectMemos.all({ bookId }) }
}

export const listMemos = ({ memberId }: Fields, bookId: number, query: Paging) => {
  const book = selectBook.get(bookId, memberId)
  const { size } = query
  return book && toPage(selectMemosPage.all({ bookId, size, offset: offsetOf(query) }), book.memoCount, query)
}

export const drawMemo = ({ memberId }: Fields) => selectRandom.all({ memberId, fraction: Math.random() })

const DETAILS = { author: null, cover: null, publisher: null, itemPage: null, currentPage: 0, bookStatus: 'YET' }

export const createBook = ({ memberId }: Fields, book: Fields) =>
  insertBook.get({ ...DETAILS, ...book, memberId, now: localTime() })

export const createMemo = ({ memberId }: Fields, bookId: number, memo: Fields) => {
  if (!selectBook.get(bookId, memberId)) return undefined
  const defaults = { memoType: 'BOOK_CONTENT', memoAuthority: 'PRIVATE' }
  return insertMemo.get({ ...defaults, ...memo, bookId, memberId, now: localTime() })
}
