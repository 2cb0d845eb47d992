import { sql } from 'drizzle-orm'
import { type Caller, callerId, queryAll, queryOne } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import type { CallerRequest } from '../../env'
import { fieldsOf } from '../../values/book-fields'
import type { LibraryBook } from '../books/responses'
import { LIBRARY_COLUMNS, updateColumns, viewOf } from '../books/store'
import type { Edition } from './responses'
import { type EditionPatch, MAX_SAME_ISBN } from './schema'

const editionView = viewOf('bookId', ...fieldsOf('edition'))

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
export const updateEdition = async (request: CallerRequest, bookId: number, { sourceIds, ...patch }: EditionPatch) => {
  const ids = sourceIds === undefined ? {} : { sourceIds: sourceIds?.length ? JSON.stringify(sourceIds) : null }
  return toEdition(await updateColumns(request, bookId, { ...patch, ...ids }, editionView))
}

/** Selects the caller's books with an ISBN-13, newest first. */
// Why an expression around the parameter: db/parameters.ts.
export const selectByIsbn = sqlStatement<LibraryBook>`
  select ${LIBRARY_COLUMNS} from books where memberId = ${callerId} and isbn = (:isbn || '')
  order by bookId desc limit ${sql.raw(String(MAX_SAME_ISBN))}`

/** The caller's books with an ISBN-13, newest first. */
export const listByIsbn = (db: Db, caller: Caller, isbn: string) => queryAll(db, caller, selectByIsbn({ isbn }))
