import { and, desc, eq, sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../db/caller'
import { type Db, statement } from '../../db/client'
import { comparedText } from '../../db/parameters'
import { books } from '../../db/schema/book-tables'
import type { Quotas } from '../../values/quotas'
import { libraryColumns } from '../books/columns'
import type { LibraryBook } from '../books/responses'
import { updateColumns, viewOf } from '../books/store'
import type { Edition } from './responses'
import type { EditionPatch } from './schema'

const editionView = viewOf({
  bookId: books.bookId,
  isbn: books.isbn,
  language: books.language,
  format: books.format,
  publishedYear: books.publishedYear,
  series: books.series,
  seriesNumber: books.seriesNumber,
  sourceIds: books.sourceIds,
})
type Row = Omit<Edition, 'sourceIds'> & { sourceIds: string | null }

const toEdition = (row: Row | undefined): Edition | undefined =>
  row && { ...row, sourceIds: JSON.parse(row.sourceIds ?? '[]') }

/** The edition of a book. Returns undefined if the caller has no such book. */
export const getEdition = async (db: Db, caller: Caller, bookId: number) =>
  toEdition(await queryOne(db, caller, editionView.select({ bookId })))

/**
 * Updates the given fields of an edition. Returns undefined if the caller has no such book.
 * @throws MAX_MEMBER_TEXT_BYTES when the texts grow and that quota is full
 */
export const updateEdition = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { sourceIds, ...patch }: EditionPatch,
  quotas: Quotas,
) => {
  const ids = sourceIds === undefined ? {} : { sourceIds: sourceIds?.length ? JSON.stringify(sourceIds) : null }
  return toEdition(await updateColumns(db, caller, bookId, { ...patch, ...ids }, editionView, quotas))
}

/** The most books that `listByIsbn` returns. */
export const MAX_SAME_ISBN = 100

const selectByIsbn = statement((db) =>
  db
    .select(libraryColumns)
    .from(books)
    .where(and(eq(books.memberId, callerId), sql`${books.isbn} = ${comparedText('isbn')}`))
    .orderBy(desc(books.bookId))
    .limit(MAX_SAME_ISBN),
)

/** The caller's books with an ISBN-13, newest first. */
export const listByIsbn = async (db: Db, caller: Caller, isbn: string): Promise<LibraryBook[]> => {
  const { items } = await runAsCaller(db, caller, { items: selectByIsbn({ isbn }) })
  return items
}
