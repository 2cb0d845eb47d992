import { and, asc, desc, eq, lt, sql } from 'drizzle-orm'
import { asCaller, type Caller, callerId, isCaller, once, whoever } from '../db/caller'
import { type Db, dynamic, given, statement } from '../db/client'
import { nextId } from '../db/ids'
import { books, isFinished, isUnread, isWithMemos, members } from '../db/schema'
import { type Page, type Paging, toLimit, toPage } from '../http/paging'
import { selectMemosList } from '../memos/store'
import type {
  AbandonedBook,
  BookDetail,
  BookPatch,
  CalenderBook,
  CreatedDate,
  DetailQuery,
  LibraryBook,
  LibraryQuery,
  MemoBook,
  NewBook,
  RegisteredBook,
  UpdatedBook,
} from './schema'

const limit = sql.placeholder('limit')
const offset = sql.placeholder('offset')
const isCallers = eq(books.memberId, callerId)
const isOwn = and(eq(books.bookId, sql.placeholder('bookId')), isCallers)

const selectTotals = statement((db) =>
  db
    .select({
      yetBooks: members.yetBooks,
      ingBooks: members.ingBooks,
      doneBooks: members.doneBooks,
      finishedBooks: members.finishedBooks,
      memoBooks: members.memoBooks,
    })
    .from(members)
    .where(isCaller),
)

const selectLibrary = statement((db) =>
  db
    .select({
      bookId: books.bookId,
      title: books.title,
      cover: books.cover,
      author: books.author,
      createdAt: books.createdAt,
      star: books.star,
      currentPage: books.currentPage,
      itemPage: books.itemPage,
      bookStatus: books.bookStatus,
      memoCount: books.memoCount,
    })
    .from(books)
    .where(and(isCallers, eq(books.bookStatus, sql.placeholder('bookStatus'))))
    .orderBy(desc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** The books of one status, newest first. */
export const listLibrary = async (
  db: Db,
  caller: Caller,
  { bookStatus, ...paging }: LibraryQuery,
): Promise<Page<LibraryBook>> => {
  const library = selectLibrary({ bookStatus, ...toLimit(paging) })
  const [totals, items] = await asCaller(db, caller, selectTotals(), library)
  const total = { YET: totals.yetBooks, ING: totals.ingBooks, DONE: totals.doneBooks }[bookStatus]
  return toPage(items, total, paging)
}

const selectCalender = statement((db) =>
  db
    .select({
      bookId: books.bookId,
      readEndDate: sql<string>`${books.readEndDate}`.as('readEndDate'),
      cover: books.cover,
    })
    .from(books)
    .where(and(isCallers, isFinished))
    .orderBy(desc(books.readEndDate), desc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** The finished books that have an end date, latest first. */
export const listCalender = async (db: Db, caller: Caller, paging: Paging): Promise<Page<CalenderBook>> => {
  const [totals, items] = await asCaller(db, caller, selectTotals(), selectCalender(toLimit(paging)))
  return toPage(items, totals.finishedBooks, paging)
}

const isAbandoned = and(isCallers, isUnread, lt(books.createdAt, sql.placeholder('before')))

// Which books are old changes with the clock, so no counter can hold this total: it reads the index of unread books.
const countAbandoned = statement((db) =>
  db
    .select({ totalElements: sql<number>`count(*)`.as('totalElements') })
    .from(books)
    .where(isAbandoned),
)
const selectAbandoned = statement((db) =>
  db
    .select({ bookId: books.bookId, createdAt: books.createdAt, title: books.title, cover: books.cover })
    .from(books)
    .where(isAbandoned)
    .orderBy(asc(books.createdAt), asc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** The unread books that were registered before a local time, oldest first. */
export const listAbandoned = async (
  db: Db,
  caller: Caller,
  before: string,
  paging: Paging,
): Promise<Page<AbandonedBook>> => {
  const page = selectAbandoned({ before, ...toLimit(paging) })
  const [, [count], items] = await asCaller(db, caller, whoever(), countAbandoned({ before }), page)
  return toPage(items, count?.totalElements ?? 0, paging)
}

const selectWithMemos = statement((db) =>
  db
    .select({ bookId: books.bookId, title: books.title, cover: books.cover, memoCount: books.memoCount })
    .from(books)
    .where(and(isCallers, isWithMemos))
    .orderBy(desc(books.bookId))
    .limit(limit)
    .offset(offset),
)

/** The books that have at least one memo, newest first. */
export const listWithMemos = async (db: Db, caller: Caller, paging: Paging): Promise<Page<MemoBook>> => {
  const [totals, items] = await asCaller(db, caller, selectTotals(), selectWithMemos(toLimit(paging)))
  return toPage(items, totals.memoBooks, paging)
}

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

/** A book with those of its memos that the authority lets through; undefined when the caller has no such book. */
export const getBook = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { memoAuthority }: DetailQuery,
): Promise<BookDetail | undefined> => {
  const list = selectMemosList({ bookId, memoAuthority })
  const [, [book], memosList] = await asCaller(db, caller, whoever(), selectDetail({ bookId }), list)
  return book && { ...book, memosList }
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
  const update = (builder: Db) => builder.update(books).set(patch).where(isOwn).returning(updatedColumns)
  const own = Object.keys(patch).length === 0 ? selectUpdated({ bookId }) : dynamic(update, { bookId })
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
): Promise<CreatedDate | undefined> => once(db, caller, updateCreatedAt({ bookId, createdAt }))

const removeBook = statement((db) => db.delete(books).where(isOwn).returning({ bookId: books.bookId }))

/** Deletes a book with its memos; undefined when the caller has no such book. */
export const deleteBook = (db: Db, caller: Caller, bookId: number) => once(db, caller, removeBook({ bookId }))
