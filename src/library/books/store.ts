import { sql } from 'drizzle-orm'
import { type Caller, isCaller, queryOne, runAsCaller } from '../../db/caller'
import { isUnchanged, toUnchangedSince } from '../../db/change-log'
import { assignments, type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { findCreated, insertOnce, rowOf } from '../../db/idempotency'
import { nextId } from '../../db/next-id'
import { isOwnBook, selectOwnBook } from '../../db/own-book'
import { MAX_WHOLE_BYTES } from '../../db/parts'
import { bookLimit, type OwnQuotas, ownQuotaExceeded, quotasOf, roomOf, textLimit } from '../../db/quotas'
import { books } from '../../db/schema/book-tables'
import type { CallerRequest } from '../../env'
import { ApiError, quotaExceeded } from '../../errors'
import { fieldsOf } from '../../values/book-fields'
import type { ChangesPosition } from '../../values/cursor'
import { BOOK_PRICE, textPrice } from '../../values/prices'
import { limitsOf, priceOfTexts } from '../../values/quotas'
import { toFolded } from '../../values/text/folded-columns'
import { localTime } from '../../values/time'
import { loadInParts, newestFirst, selectMemosList } from '../memos/memo-lists'
import { activeNow } from '../readings/blocks'
import { bookToTrash, evictOldest } from '../trash/removal'
import type { CreatedDate, RegisteredBook, UpdatedBook } from './responses'
import type { BookPatch, DetailQuery, TitledBook } from './schema'
import { changeStatus } from './status'

/** The columns of LibraryBook, in the order of its fields. */
export const LIBRARY_COLUMNS = sql.raw(['bookId', ...fieldsOf('library')].join(', '))

/** The columns of ListedBook. */
export const LISTED_COLUMNS = ['bookId', ...fieldsOf('detail')]

const selectDetail = selectOwnBook(...fieldsOf('detail'), 'memoBytes')

/** A book with its memos of the given visibility. Returns undefined if the caller has no such book. */
export const getBook = async (db: Db, caller: Caller, bookId: number, { memoAuthority }: DetailQuery) => {
  const { guard: detail, memosList } = await runAsCaller(db, caller, {
    guard: selectDetail({ bookId }),
    memosList: selectMemosList({ bookId, memoAuthority }),
  })
  if (detail.bookId === null) return undefined
  const { memoBytes, ...book } = detail
  if (memoBytes <= MAX_WHOLE_BYTES) return { ...book, memosList: newestFirst(memosList) }
  return { ...book, memosList: await loadInParts(db, caller, { bookId, memoType: 'ALL', memoAuthority }) }
}

type Book = typeof books.$inferSelect
const bookCount = sql`yetBooks + ingBooks + doneBooks`
const selectBookRoom = sqlStatement<{ books: number } & OwnQuotas>`
  select ${bookCount} as books, maxBooks, maxTextBytes from members where ${isCaller}`
const registeredColumns = sql.raw('bookId, title, author, cover, bookStatus')
/** What registration returns. */
export const registeredRow = rowOf(books.bookId, registeredColumns)
const insertBook = insertOnce(
  (condition) => sqlStatement<RegisteredBook>`
  insert into books (
    bookId, memberId, title, titleFolded, cover, author, authorFolded, publisher, publisherFolded, createdAt,
    currentPage, itemPage, bookStatus, readStartDate, readEndDate, isbn, subtitle, subtitleFolded, language, publishedYear,
    sourceIds, activityAt
  )
  select
    ${nextId(books.bookId)}, memberId, :title, :titleFolded, :cover, :author, :authorFolded, :publisher, :publisherFolded,
    :createdAt, :currentPage, :itemPage, :bookStatus, :readStartDate, :readEndDate, :isbn, :subtitle, :subtitleFolded,
    :language, :publishedYear, :sourceIds, iif(:bookStatus = 'YET', null, :callerNow)
  from members
  where ${isCaller} and ${bookCount} < ${bookLimit} and textBytes + :bytes <= ${textLimit} ${condition}
  returning ${registeredColumns}`,
  registeredRow,
)

const DEFAULTS = { author: null, cover: null, publisher: null, itemPage: null, readStartDate: null, readEndDate: null }
const NO_EDITION = { subtitle: null, isbn: null, language: null, publishedYear: null, sourceIds: null }
type CompleteBook = Omit<TitledBook, 'isbn'> & Partial<Pick<Book, keyof typeof NO_EDITION>>

/** @throws MAX_BOOKS or MAX_MEMBER_TEXT_BYTES when that quota is full; the errors of `findCreated` */
export const createBook = async ({ db, caller, config, key }: CallerRequest, book: CompleteBook) => {
  const whole = { ...DEFAULTS, ...NO_EDITION, ...book }
  const { title, author, cover, publisher, subtitle, language, sourceIds } = whole
  const bytes = BOOK_PRICE + priceOfTexts({ title, author, cover, publisher, subtitle, language, sourceIds })
  const createdAt = localTime(config.TIME_ZONE)
  const values = { ...whole, ...toFolded(whole), createdAt, bytes, ...limitsOf(config) }
  const batch = { guard: selectBookRoom(), ...insertBook(values, key, config) }
  const { guard: usage, created, used } = await runAsCaller(db, caller, batch)
  const registered = created ?? findCreated(used, key, config)
  if (registered) return registered
  const own = quotasOf(config, usage)
  throw quotaExceeded(usage.books < own.MAX_BOOKS ? 'MAX_MEMBER_TEXT_BYTES' : 'MAX_BOOKS', own)
}

/** Columns of a book for `updateColumns` to return, and a statement that selects them. */
export const viewOf = <Name extends keyof Book>(...names: Name[]) => {
  const columns = sql.raw(names.join(', '))
  return { columns, select: sqlStatement<Pick<Book, Name>>`select ${columns} from books where ${isOwnBook}` }
}

/** Whether new values of some text columns fit the quota. Those that do not grow always do. */
const fits = (columns: string[]) => {
  const growth = sql`:bytes - (${sql.raw(textPrice(columns))})`
  return sql`(${growth} <= 0 or ${growth} <= ${roomOf(sql`members.memberId = books.memberId`)})`
}

/** A stopped book stays stopped only if it is DONE already. A book that becomes DONE was read to its end. */
const staysStopped = sql`iif(bookStatus = 'DONE', isStopped, 0)`

/** Progress and a change of status are activity. */
const toActivity = ({ currentPage, bookStatus }: Partial<Book>) => {
  if (currentPage === undefined && bookStatus === undefined) return {}
  const isChanged = sql`currentPage <> ${currentPage ?? sql`currentPage`} or bookStatus <> ${bookStatus ?? sql`bookStatus`}`
  return { activityAt: sql`iif(${isChanged}, ${activeNow}, activityAt)` }
}

/** What an update of columns sets: what follows from them, too. */
export const withDerived = <Patch extends Partial<Book>>(patch: Patch) => ({
  ...patch,
  ...toFolded(patch),
  ...toActivity(patch),
  ...(patch.bookStatus && patch.bookStatus !== 'YET' && { isStopped: staysStopped }),
})

/** Of the columns that are set, the texts, with the bytes that their new values count. */
export const textsOf = (patch: Partial<Book>) => {
  const texts = fieldsOf('text').filter((name) => patch[name] !== undefined)
  return { texts, bytes: priceOfTexts(Object.fromEntries(texts.map((name) => [name, patch[name]]))) }
}

/**
 * Updates columns of a book, and returns those of the view. Returns undefined if the caller has no such book.
 * @throws MAX_MEMBER_TEXT_BYTES when the texts grow and that quota is full
 */
export const updateColumns = async <Name extends keyof Book>(
  { db, caller, config }: CallerRequest,
  bookId: number,
  patch: Partial<Book>,
  { columns, select }: ReturnType<typeof viewOf<Name>>,
): Promise<Pick<Book, Name> | undefined> => {
  const changes = withDerived(patch)
  if (Object.keys(changes).length === 0) return queryOne(db, caller, select({ bookId }))
  const { texts, bytes } = textsOf(patch)
  const condition = texts.length > 0 ? sql`${isOwnBook} and ${fits(texts)}` : isOwnBook
  const update = sqlStatement<Pick<Book, Name>>`
    update books set ${assignments(changes)} where ${condition} returning ${columns}`
  const readings = changeStatus(sql`select bookId from books where ${condition}`, patch, sql`${bytes}`)
  const values = { bookId, bytes, ...limitsOf(config) }
  const { stored, updated } = await runAsCaller(db, caller, {
    stored: texts.length > 0 ? firstRow(select({ bookId })) : undefined,
    readings: readings.map((change) => idempotent(sqlStatement`${change}`(values))),
    updated: firstRow(idempotent(update(values))),
  })
  if (stored && !updated) throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_TEXT_BYTES', config)
  return updated
}

// biome-ignore format: one line is easier to compare
const updatedView = viewOf(
  'author', 'publisher', 'itemPage', 'readStartDate', 'readEndDate', 'bookStatus', 'star', 'currentPage',
)

/**
 * Updates the given fields of a book. Returns undefined if the caller has no such book.
 * @throws MAX_MEMBER_TEXT_BYTES when the texts grow and that quota is full
 */
export const updateBook = (
  request: CallerRequest,
  bookId: number,
  patch: BookPatch,
): Promise<UpdatedBook | undefined> => updateColumns(request, bookId, patch, updatedView)

const updateCreatedAt = sqlStatement<CreatedDate>`
  update books set createdAt = :createdAt where ${isOwnBook} returning bookId, createdAt`

/** Overwrites the registration date of a book. Returns undefined if the caller has no such book. */
export const setCreatedDate = (db: Db, caller: Caller, bookId: number, createdAt: string) =>
  queryOne(db, caller, idempotent(updateCreatedAt({ bookId, createdAt })))

const CHANGED_SINCE =
  'The book may have changed since the cursor in If-Unchanged-Since: request the changes, and delete it with the new cursor'
const putIntoTrash = bookToTrash(sql`${isOwnBook} and ${isUnchanged}`)
const removeBook = sqlStatement<{ bookId: number }>`
  delete from books where ${isOwnBook} and exists (select 1 from trash where trashId = :bookId) returning bookId`
const { select: selectLeft } = viewOf('bookId')

/**
 * Puts a book with its memos into the trash. Returns undefined if the caller has no such book.
 * @param since the changes that the caller has seen; without, the book is deleted whatever has changed
 * @throws PRECONDITION_FAILED when the book, or anything of it, may have changed since
 */
export const deleteBook = async ({ db, caller, config }: CallerRequest, bookId: number, since?: ChangesPosition) => {
  const values = { bookId, trashIds: JSON.stringify([bookId]), ...limitsOf(config) }
  const { removed, left } = await runAsCaller(db, caller, {
    trashed: putIntoTrash({ ...values, ...toUnchangedSince(since) }),
    removed: firstRow(removeBook(values)),
    evicted: evictOldest(values),
    left: since && firstRow(selectLeft(values)),
  })
  if (left) throw new ApiError('PRECONDITION_FAILED', { message: CHANGED_SINCE })
  return removed
}
