import { and, eq, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, queryOne, runAsCaller, selectCaller } from '../db/caller'
import { type Db, dynamicStatement, idempotent, sqlStatement, statement } from '../db/client'
import { nextId } from '../db/next-id'
import { books, members } from '../db/schema'
import { newestFirst, selectMemosList } from '../memos/store'
import type { BookDetail, BookPatch, CreatedDate, DetailQuery, NewBook, RegisteredBook, UpdatedBook } from './schema'

const { placeholder } = sql

const isOwn = and(eq(books.bookId, placeholder('bookId')), eq(books.memberId, callerId))

const selectDetail = statement((db) =>
  db
    .select({
      bookId: books.bookId,
      title: books.title,
      cover: books.cover,
      author: books.author,
      publisher: books.publisher,
      createdAt: books.createdAt,
      star: books.star,
      currentPage: books.currentPage,
      itemPage: books.itemPage,
      bookStatus: books.bookStatus,
      readStartDate: books.readStartDate,
      readEndDate: books.readEndDate,
      memoCount: books.memoCount,
    })
    .from(books)
    .where(isOwn),
)

/** A book with its memos of the given visibility. Returns undefined if the caller has no such book. */
export const getBook = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoAuthority }: DetailQuery,
): Promise<BookDetail | undefined> => {
  const list = selectMemosList({ bookId, memoAuthority })
  const [, [book], memosList] = await runAsCaller(db, caller, selectCaller(), selectDetail({ bookId }), list)
  return book && { ...book, memosList: newestFirst(memosList) }
}

const insertBook = sqlStatement<RegisteredBook>(sql`
  insert into books (
    bookId, memberId, title, cover, author, publisher, createdAt,
    currentPage, itemPage, bookStatus, readStartDate, readEndDate
  )
  select
    ${nextId(books.bookId)}, ${members.memberId}, ${placeholder('title')}, ${placeholder('cover')},
    ${placeholder('author')}, ${placeholder('publisher')}, ${placeholder('createdAt')},
    ${placeholder('currentPage')}, ${placeholder('itemPage')}, ${placeholder('bookStatus')},
    ${placeholder('readStartDate')}, ${placeholder('readEndDate')}
  from ${members} where ${isCaller}
  returning bookId, title, author, cover, bookStatus`)

const DEFAULTS = { author: null, cover: null, publisher: null, itemPage: null, readStartDate: null, readEndDate: null }

/**
 * Registers a book for the caller.
 * @param createdAt the local time to record
 */
export const createBook = async (db: Db, caller: Caller, book: NewBook, createdAt: string): Promise<RegisteredBook> => {
  const [registered] = await runAsCaller(db, caller, insertBook({ ...DEFAULTS, ...book, createdAt }))
  return registered
}

const updatedColumns = {
  author: books.author,
  publisher: books.publisher,
  itemPage: books.itemPage,
  readStartDate: books.readStartDate,
  readEndDate: books.readEndDate,
  bookStatus: books.bookStatus,
  star: books.star,
  currentPage: books.currentPage,
}
const selectUpdated = statement((db) => db.select(updatedColumns).from(books).where(isOwn))

/** Updates the given fields of a book. Returns undefined if the caller has no such book. */
export const updateBook = (
  db: Db,
  caller: Caller,
  bookId: number,
  patch: BookPatch,
): Promise<UpdatedBook | undefined> => {
  if (Object.keys(patch).length === 0) return queryOne(db, caller, selectUpdated({ bookId }))
  const update = dynamicStatement(
    (builder) => builder.update(books).set(patch).where(isOwn).returning(updatedColumns),
    { bookId },
  )
  return queryOne(db, caller, idempotent(update))
}

const updateCreatedAt = statement((db) =>
  db
    .update(books)
    .set({ createdAt: sql`${placeholder('createdAt')}` })
    .where(isOwn)
    .returning({ bookId: books.bookId, createdAt: books.createdAt }),
)

/** Overwrites the registration date of a book. Returns undefined if the caller has no such book. */
export const setCreatedDate = (
  db: Db,
  caller: Caller,
  bookId: number,
  createdAt: string,
): Promise<CreatedDate | undefined> => queryOne(db, caller, idempotent(updateCreatedAt({ bookId, createdAt })))

const removeBook = statement((db) => db.delete(books).where(isOwn).returning({ bookId: books.bookId }))

/** Deletes a book with its memos. Returns undefined if the caller has no such book. */
export const deleteBook = (db: Db, caller: Caller, bookId: number) => queryOne(db, caller, removeBook({ bookId }))
