import { and, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { type Caller, isCaller, queryOne, runAsCaller } from '../../db/caller'
import {
  type Db,
  dynamicStatement,
  firstRow,
  idempotent,
  type Statement,
  sqlStatement,
  statement,
} from '../../db/client'
import { nextId } from '../../db/next-id'
import { isOwnBook, selectOwnBook } from '../../db/own-book'
import { MAX_WHOLE_BYTES } from '../../db/parts'
import { books } from '../../db/schema/book-tables'
import { members } from '../../db/schema/member-tables'
import { quotaExceeded } from '../../errors'
import { toFoldedColumn } from '../../values/fold'
import { type Quotas, utf8Bytes } from '../../values/quotas'
import { loadInParts, type MemoList, newestFirst, selectMemosList } from '../memos/memo-lists'
import { bookColumns } from './columns'
import type { BookDetail, CreatedDate, RegisteredBook, UpdatedBook } from './responses'
import type { BookPatch, DetailQuery, NewBook } from './schema'

const { placeholder } = sql

/** Selects a book of the caller, or no row. */
export const selectBook = statement((db) => db.select({ bookId: books.bookId }).from(books).where(isOwnBook))

const selectDetail = selectOwnBook({ ...bookColumns, memoBytes: books.memoBytes })

/** A book with its memos of the given visibility. Returns undefined if the caller has no such book. */
export const getBook = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoAuthority }: DetailQuery,
): Promise<(Omit<BookDetail, 'memosList'> & { memosList: MemoList }) | undefined> => {
  const { guard: detail, memosList } = await runAsCaller(db, caller, {
    guard: selectDetail({ bookId }),
    memosList: selectMemosList({ bookId, memoAuthority }),
  })
  if (detail.bookId === null) return undefined
  const { memoBytes, ...book } = detail
  if (memoBytes <= MAX_WHOLE_BYTES) return { ...book, memosList: newestFirst(memosList) }
  return { ...book, memosList: await loadInParts(db, caller, { bookId, memoType: 'ALL', memoAuthority }) }
}

const bookCount = sql<number>`${members.yetBooks} + ${members.ingBooks} + ${members.doneBooks}`
const selectUsage = statement((db) =>
  db
    .select({ books: bookCount.as('books') })
    .from(members)
    .where(isCaller),
)
const insertBook = sqlStatement<RegisteredBook>`
  insert into books (
    bookId, memberId, title, titleFolded, cover, author, authorFolded, publisher, createdAt,
    currentPage, itemPage, bookStatus, readStartDate, readEndDate, isbn
  )
  select
    ${nextId(books.bookId)}, ${members.memberId}, :title, :titleFolded,
    :cover, :author, :authorFolded, :publisher,
    :createdAt,
    :currentPage, :itemPage, :bookStatus,
    :readStartDate, :readEndDate, :isbn
  from ${members} where ${isCaller}
    and ${bookCount} < ${placeholder('MAX_BOOKS')}
    and ${members.textBytes} + :bytes <= ${placeholder('MAX_MEMBER_TEXT_BYTES')}
  returning bookId, title, author, cover, bookStatus`

const DEFAULTS = {
  author: null,
  cover: null,
  publisher: null,
  itemPage: null,
  readStartDate: null,
  readEndDate: null,
  isbn: null,
}

/**
 * Registers a book for the caller.
 * @param createdAt the local time to record
 * @throws MAX_BOOKS or MAX_MEMBER_TEXT_BYTES when that quota is full
 */
export const createBook = async (
  db: Db,
  caller: Caller,
  book: NewBook,
  createdAt: string,
  quotas: Quotas,
): Promise<RegisteredBook> => {
  const { MAX_BOOKS, MAX_MEMBER_TEXT_BYTES } = quotas
  const bytes = utf8Bytes(book.title, book.cover, book.author, book.publisher)
  const folded = { titleFolded: toFoldedColumn(book.title), authorFolded: toFoldedColumn(book.author) }
  const insert = insertBook({ ...DEFAULTS, ...book, ...folded, createdAt, bytes, MAX_BOOKS, MAX_MEMBER_TEXT_BYTES })
  const { guard: usage, registered } = await runAsCaller(db, caller, {
    guard: selectUsage(),
    registered: firstRow(insert),
  })
  if (registered) return registered
  throw quotaExceeded(usage.books < MAX_BOOKS ? 'MAX_MEMBER_TEXT_BYTES' : 'MAX_BOOKS', quotas)
}

/** Columns of a book for `updateColumns` to return, and a statement that selects them. */
export const viewOf = <Columns extends Record<string, SQLiteColumn>>(columns: Columns) => ({
  columns,
  select: statement((db) => db.select(columns).from(books).where(isOwnBook)),
})

/** Whether new values of some text columns fit the quota. Those that do not grow always do. */
const fits = (columns: SQLiteColumn[]) => {
  const growth = sql`:bytes - octet_length(concat(${sql.join(columns, sql`, `)}))`
  const textBytes = sql`(select ${members.textBytes} from ${members} where ${members.memberId} = ${books.memberId})`
  return sql`(${growth} <= 0 or ${textBytes} + ${growth} <= ${placeholder('MAX_MEMBER_TEXT_BYTES')})`
}

/** The columns that `updateColumns` can change and that count towards MAX_MEMBER_TEXT_BYTES. */
const TEXTS = ['author', 'publisher', 'language', 'series', 'sourceIds'] as const

/**
 * Updates columns of a book, and returns those of the view. Returns undefined if the caller has no such book.
 * @throws MAX_MEMBER_TEXT_BYTES when the texts grow and that quota is full
 */
export const updateColumns = async <Columns extends Record<string, SQLiteColumn>, Row>(
  db: Db,
  caller: Caller,
  bookId: number,
  changes: Partial<typeof books.$inferInsert>,
  { columns, select }: { columns: Columns; select: (values: { bookId: number }) => Statement<Row> },
  quotas: Quotas,
): Promise<Row | undefined> => {
  if (Object.keys(changes).length === 0) return queryOne(db, caller, select({ bookId }))
  const texts = TEXTS.filter((name) => changes[name] !== undefined)
  const hasTexts = texts.length > 0
  const { MAX_MEMBER_TEXT_BYTES } = quotas
  const values = { bookId, bytes: utf8Bytes(...texts.map((name) => changes[name])), MAX_MEMBER_TEXT_BYTES }
  const condition = hasTexts ? and(isOwnBook, fits(texts.map((name) => books[name]))) : isOwnBook
  const update = idempotent(
    dynamicStatement((builder) => builder.update(books).set(changes).where(condition).returning(columns), values),
  ) as Statement<Row>
  if (!hasTexts) return queryOne(db, caller, update)
  const { stored, updated } = await runAsCaller(db, caller, {
    stored: firstRow(select({ bookId })),
    updated: firstRow(update),
  })
  if (stored && !updated) throw quotaExceeded('MAX_MEMBER_TEXT_BYTES', quotas)
  return updated
}

const updatedView = viewOf({
  author: books.author,
  publisher: books.publisher,
  itemPage: books.itemPage,
  readStartDate: books.readStartDate,
  readEndDate: books.readEndDate,
  bookStatus: books.bookStatus,
  star: books.star,
  currentPage: books.currentPage,
})

/**
 * Updates the given fields of a book. Returns undefined if the caller has no such book.
 * @throws MAX_MEMBER_TEXT_BYTES when the texts grow and that quota is full
 */
export const updateBook = (
  db: Db,
  caller: Caller,
  bookId: number,
  patch: BookPatch,
  quotas: Quotas,
): Promise<UpdatedBook | undefined> => {
  const folded = patch.author === undefined ? {} : { authorFolded: toFoldedColumn(patch.author) }
  return updateColumns(db, caller, bookId, { ...patch, ...folded }, updatedView, quotas)
}

const updateCreatedAt = statement((db) =>
  db
    .update(books)
    .set({ createdAt: sql`:createdAt` })
    .where(isOwnBook)
    .returning({ bookId: books.bookId, createdAt: books.createdAt }),
)

/** Overwrites the registration date of a book. Returns undefined if the caller has no such book. */
export const setCreatedDate = (
  db: Db,
  caller: Caller,
  bookId: number,
  createdAt: string,
): Promise<CreatedDate | undefined> => queryOne(db, caller, idempotent(updateCreatedAt({ bookId, createdAt })))

const removeBook = statement((db) => db.delete(books).where(isOwnBook).returning({ bookId: books.bookId }))

/** Deletes a book with its memos. Returns undefined if the caller has no such book. */
export const deleteBook = (db: Db, caller: Caller, bookId: number) => queryOne(db, caller, removeBook({ bookId }))
