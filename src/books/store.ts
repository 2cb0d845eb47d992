import { and, eq, sql } from 'drizzle-orm'
import { asCaller, type Caller, callerId, callerMemberId, isCaller, once, whoever } from '../db/caller'
import { type Builder, type Db, dynamic, given, repeatable, statement } from '../db/client'
import { nextId } from '../db/ids'
import { books, members } from '../db/schema'
import { newestFirst, selectMemosList } from '../memos/store'
import type { BookDetail, BookPatch, CreatedDate, DetailQuery, NewBook, RegisteredBook, UpdatedBook } from './schema'

const isOwn = and(eq(books.bookId, sql.placeholder('bookId')), eq(books.memberId, callerId))

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
    .where(and(eq(books.bookId, sql.placeholder('bookId')), eq(books.memberId, callerMemberId))),
)

/** A book with those of its memos that the authority lets through; undefined when the caller has no such book. */
export const getBook = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoAuthority }: DetailQuery,
): Promise<BookDetail | undefined> => {
  const list = selectMemosList({ bookId, memoAuthority })
  const [, [book], memosList] = await asCaller(db, caller, whoever(), selectDetail({ bookId }), list)
  return book && { ...book, memosList: newestFirst(memosList) }
}

const none = (counter: string) => sql<number>`0`.as(counter)

const insertBook = statement((db) =>
  db
    .insert(books)
    .select(
      db
        .select({
          bookId: nextId(books.bookId).as('bookId'),
          memberId: members.memberId,
          title: given<string>('title'),
          cover: given<string | null>('cover'),
          author: given<string | null>('author'),
          publisher: given<string | null>('publisher'),
          createdAt: given<string>('createdAt'),
          star: none('star'),
          currentPage: given<number>('currentPage'),
          itemPage: given<number | null>('itemPage'),
          bookStatus: given<NewBook['bookStatus']>('bookStatus'),
          readStartDate: given<string | null>('readStartDate'),
          readEndDate: given<string | null>('readEndDate'),
          contentMemos: none('contentMemos'),
          summaryMemos: none('summaryMemos'),
          thoughtMemos: none('thoughtMemos'),
          questionMemos: none('questionMemos'),
          memoCount: none('memoCount'),
          hasMemos: none('hasMemos'),
        })
        .from(members)
        .where(isCaller),
    )
    .returning({
      bookId: books.bookId,
      title: books.title,
      author: books.author,
      cover: books.cover,
      bookStatus: books.bookStatus,
    }),
)

const NOTHING = { author: null, cover: null, publisher: null, itemPage: null, readStartDate: null, readEndDate: null }

/** Registers a book for the caller. */
export const createBook = async (db: Db, caller: Caller, book: NewBook, createdAt: string): Promise<RegisteredBook> => {
  const [registered] = await asCaller(db, caller, insertBook({ ...NOTHING, ...book, createdAt }))
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

/** Changes what is given of a book; undefined when the caller has no such book. */
export const updateBook = (
  db: Db,
  caller: Caller,
  bookId: number,
  patch: BookPatch,
): Promise<UpdatedBook | undefined> => {
  const update = (builder: Builder) => builder.update(books).set(patch).where(isOwn).returning(updatedColumns)
  const own = Object.keys(patch).length === 0 ? selectUpdated({ bookId }) : repeatable(dynamic(update, { bookId }))
  return once(db, caller, own)
}

const updateCreatedAt = statement((db) =>
  db
    .update(books)
    .set({ createdAt: given<string>('createdAt').sql })
    .where(isOwn)
    .returning({ bookId: books.bookId, createdAt: books.createdAt }),
)

/** Overwrites the registration date of a book; undefined when the caller has no such book. */
export const setCreatedDate = (
  db: Db,
  caller: Caller,
  bookId: number,
  createdAt: string,
): Promise<CreatedDate | undefined> => once(db, caller, repeatable(updateCreatedAt({ bookId, createdAt })))

const removeBook = statement((db) => db.delete(books).where(isOwn).returning({ bookId: books.bookId }))

/** Deletes a book with its memos; undefined when the caller has no such book. */
export const deleteBook = (db: Db, caller: Caller, bookId: number) => once(db, caller, removeBook({ bookId }))
