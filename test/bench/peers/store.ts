// The SQL of the Express and Fastify peers: statements prepared once, the same rows as the service's.
import { openDatabase } from './database.ts'

export type Claims = { sub: string; ver: number; jti: string }
export type NewBook = {
  title: string
  author?: string | null | undefined
  cover?: string | null | undefined
  publisher?: string | null | undefined
  itemPage?: number | null | undefined
  currentPage?: number | undefined
  bookStatus?: string | undefined
}
export type NewMemo = {
  memoBookPage: number
  memoContent: string
  memoType?: string | undefined
  memoAuthority?: string | undefined
}
type Paging = { page: number; size: number }
type Row = Record<string, unknown>

const database = openDatabase()
const prepare = (query: string) => database.prepare<unknown[], Row>(query)

const MEMO = 'memoId, memoType, memoContent, memoBookPage, memoAuthority, memoLikesCount, createdAt, updatedAt'
const selectCaller = prepare(
  `select memberId, yetBooks as YET, ingBooks as ING, doneBooks as DONE from members
  where memberId = ? and (tokenVersion = ? or keptTokenId = ?)`,
)
const selectLibrary = prepare(
  `select bookId, title, cover, author, createdAt, star, currentPage, itemPage, bookStatus, memoCount
  from books where memberId = ? and bookStatus = ? order by bookId desc limit ? offset ?`,
)
const selectBook = prepare(
  `select bookId, title, cover, author, publisher, createdAt, star, currentPage, itemPage, bookStatus, readStartDate,
  readEndDate, memoCount from books where bookId = ? and memberId = ?`,
)
const ofType = (type: string) => `select ${MEMO} from memos where bookId = @bookId and memoType = '${type}'`
const MEMOS = `${['BOOK_CONTENT', 'SUMMARY', 'THOUGHT', 'QUESTION'].map(ofType).join(' union all ')} order by memoId desc`
const selectMemos = prepare(`select ${MEMO} from memos where bookId = @bookId order by memoId desc`)
const selectMemosPage = prepare(`${MEMOS} limit @size offset @offset`)
const selectRandom = prepare(
  `select memoId, memoContent, memoType, memoBookPage from memos where memberId = @memberId
  and position = (select 1 + cast(@fraction * max(position) as integer) from memos where memberId = @memberId)`,
)
const insertBook = prepare(
  `insert into books (memberId, title, author, cover, publisher, itemPage, currentPage, bookStatus, createdAt)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning bookId, title, author, cover, bookStatus`,
)
const insertMemo = prepare(
  `insert into memos (bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  values (@bookId, @memberId, (select coalesce(max(position), 0) + 1 from memos where memberId = @memberId),
    @memoType, @memoContent, @memoBookPage, @memoAuthority, @now, @now) returning ${MEMO}`,
)

const localTime = () => new Date().toISOString().slice(0, 19)
const toPage = (item: Row[], totalElements: number, { page, size }: Paging) => ({
  item,
  pageInfo: { page, size, totalElements, totalPages: Math.ceil(totalElements / size) },
})

/** The caller's row with its totals; undefined if the token was revoked. */
export const findCaller = ({ sub, ver, jti }: Claims) => selectCaller.get(Number(sub), ver, jti)

export const listLibrary = (member: Row, { bookStatus, page, size }: Paging & { bookStatus: string }) =>
  toPage(selectLibrary.all(member.memberId, bookStatus, size, (page - 1) * size), Number(member[bookStatus]), {
    page,
    size,
  })

export const getBook = (member: Row, bookId: number) => {
  const book = selectBook.get(bookId, member.memberId)
  return book && { ...book, memosList: selectMemos.all({ bookId }) }
}

export const listMemos = (member: Row, bookId: number, { page, size }: Paging) => {
  const book = selectBook.get(bookId, member.memberId)
  return (
    book &&
    toPage(selectMemosPage.all({ bookId, size, offset: (page - 1) * size }), Number(book.memoCount), { page, size })
  )
}

export const drawMemo = (member: Row) => selectRandom.all({ memberId: member.memberId, fraction: Math.random() })

export const createBook = (member: Row, book: NewBook) => {
  const { title, author = null, cover = null, publisher = null, itemPage = null, currentPage = 0 } = book
  const status = book.bookStatus ?? 'YET'
  return insertBook.get(member.memberId, title, author, cover, publisher, itemPage, currentPage, status, localTime())
}

export const createMemo = (member: Row, bookId: number, memo: NewMemo) => {
  if (!selectBook.get(bookId, member.memberId)) return undefined
  const { memoType = 'BOOK_CONTENT', memoContent, memoBookPage, memoAuthority = 'PRIVATE' } = memo
  return insertMemo.get({
    bookId,
    memberId: member.memberId,
    memoType,
    memoContent,
    memoBookPage,
    memoAuthority,
    now: localTime(),
  })
}
