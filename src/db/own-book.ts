import { sql } from 'drizzle-orm'
import { callerId, isOwnRow } from './caller'
import { sqlStatement } from './client'
import { books } from './schema/book-tables'

/** Matches the book of the parameter `bookId`, if it is the caller's. */
export const isOwnBook = isOwnRow(books.bookId, books.memberId)

/** Matches the rows of a table that belong to a book, in queries on `books`. */
export const ofBook = (table: string) =>
  sql.raw(`${table}.memberId = books.memberId and ${table}.bookId = books.bookId`)
/** The number of a book's progress events, which the latest one has. */
export const eventCount = sql`coalesce((select total from progress where ${ofBook('progress')} order by at desc limit 1), 0)`

/** Selects `memberId` and `bookId` of the caller's books among `:ids`, a JSON array, with their `place` in it. */
export const selectOwnBooks = sql`
  select memberId, bookId, key as place from json_each(:ids) as wanted
    cross join books on ${isOwnRow(books.bookId, books.memberId, callerId, sql.raw('wanted.value'))}`

/** What recorded a progress event: one of PROGRESS_SOURCES, or null. */
export const progressSource = `iif(tokenId is null, null, 'DEVICE')`

/** How far a progress event of a book is, as a percentage of the length of the book. Null if that is unknown. */
export const percent = sql.raw(
  'round(min(100.0, coalesce(100.0 * progress.seconds / books.seconds, 100.0 * progress.page / books.itemPage)), 1)',
)

type OwnBook = { bookId: number }
export const selectOwnIds = sqlStatement<OwnBook>`select bookId from (${selectOwnBooks})`

/** Splits identifiers into those of books that a statement has written, those of other own books, and the rest. */
export const splitIds = (ids: number[], own: OwnBook[], written: OwnBook[]) => {
  const [found, done] = [own, written].map((books) => new Set(books.map(({ bookId }) => bookId)))
  const kindOf = (id: number) => (done?.has(id) ? 'done' : found?.has(id) ? 'left' : 'missing')
  const { done: first = [], left = [], missing = [] } = Object.groupBy(ids, kindOf)
  return { done: first, left, missing }
}

const isBookOfCaller = isOwnRow(books.bookId, books.memberId, sql`caller.id`)

type Book = typeof books.$inferSelect

/** One row, the caller's: its book is null if the caller has no such book. */
export const FROM_OWN_BOOK = sql`
  from (select ${callerId} as id limit 1) as caller left join ${books} on ${isBookOfCaller} where caller.id is not null`

/**
 * As the guard of `runAsCaller`: selects `bookId` and other columns of the caller's book. They are null if the caller
 * has no such book. It saves a statement: a batch takes time for each.
 */
export const selectOwnBook = <Name extends keyof Book>(...others: Name[]) =>
  sqlStatement<Pick<Book, 'bookId' | Name> | Record<'bookId' | Name, null>>`
    select ${sql.raw(['bookId', ...others].join(', '))} ${FROM_OWN_BOOK}`

/** Only selects whether the caller has the book. */
export const selectBook = selectOwnBook()
