import { sql } from 'drizzle-orm'
import { type Caller, callerId, isOwnRow, queryAll, runAsCaller } from '../../db/caller'
import { type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { selectOwnBook } from '../../db/own-book'
import { limit } from '../../db/parameters'
import { books } from '../../db/schema/book-tables'
import { ApiError } from '../../errors'
import { type List, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { toMinutes } from '../../values/time'
import { applyPosition } from './apply'
import { hasBook, ofDocument } from './conditions'
import type { Document } from './responses'
import type { DocumentBook, DocumentQuery } from './schema'

type Row = Omit<Document, 'authors' | 'book' | 'setByMember' | 'pushedAt' | 'minutes'> & {
  seconds: number
  createdAt: number
  authors: string | null
  bookId: number | null
  bookTitle: string | null
  isByHand: number
  pushedAt: number | null
}
// While the book is in the trash, the document waits with it.
const state = sql`iif(${hasBook}, 'LINKED', documents.isByHand and documents.bookId is null, 'NONE', 'WAITING')`
const columns = sql`
  documents.document as documentId, ${state} as state, documents.createdAt, documents.title, authors, filename,
  books.bookId, books.title as bookTitle, isByHand, percentage, nullif(device, '') as device, position.tokenId, accessTokens.name as tokenName,
  position.at as pushedAt, documents.seconds`
const joined = sql`documents
  left join books on books.bookId = documents.bookId and books.memberId = documents.memberId
  left join positions as position on position.memberId = documents.memberId and position.document = documents.document
    and position.tokenId = (
      select tokenId from positions as newest
      where newest.memberId = documents.memberId and newest.document = documents.document order by newest.at desc limit 1
    )
  left join accessTokens on accessTokens.memberId = position.memberId and accessTokens.tokenId = position.tokenId`

const toDocument = ({
  createdAt: _,
  authors,
  bookId,
  bookTitle,
  isByHand,
  pushedAt,
  seconds,
  ...row
}: Row): Document => ({
  ...row,
  authors: authors === null ? null : authors.split('\n'),
  book: bookId === null ? null : { bookId, title: bookTitle ?? '' },
  setByMember: isByHand === 1,
  pushedAt: pushedAt === null ? null : toInstant(pushedAt),
  minutes: toMinutes(seconds),
})

const selectDocuments = sqlStatement<Row>`
  select ${columns} from ${joined}
  where documents.memberId = ${callerId} and (documents.createdAt, documents.document) < (:before, :last)
    and (:state is null or ${state} = :state)
  order by documents.createdAt desc, documents.document desc limit ${limit}`

/** The documents of the caller's devices, first pushed last. */
export const listDocuments = async (
  db: Db,
  caller: Caller,
  { cursor: [before, last] = [Number.MAX_SAFE_INTEGER, ''], size, state }: DocumentQuery,
): Promise<List<Document>> => {
  const rows = await queryAll(db, caller, selectDocuments({ before, last, state: state ?? null, limit: size + 1 }))
  const page = rows.slice(0, size)
  const end = page.at(-1)
  return {
    item: page.map(toDocument),
    next: rows.length > size && end ? toCursor([end.createdAt, end.documentId]) : null,
  }
}

const isOwnBook = sql`exists (select 1 from books where ${isOwnRow(books.bookId, books.memberId)})`
const updateBook = sqlStatement`
  update documents set bookId = :bookId, isByHand = 1, tokenId = null
  where ${ofDocument} and (:bookId is null or ${isOwnBook})`
const selectDocument = sqlStatement<Row>`select ${columns} from ${joined} where ${ofDocument}`
const applyNewest = applyPosition(sql`:bookId is not null`)

/**
 * Sets the book of a document, and applies the newest position in the document to it. Returns undefined if the caller
 * has no such document.
 * @throws BOOK_NOT_FOUND
 */
export const setDocumentBook = async (db: Db, caller: Caller, document: string, { bookId }: DocumentBook) => {
  const values = { document, bookId }
  const { guard, row } = await runAsCaller(db, caller, {
    guard: selectOwnBook()({ bookId: bookId ?? 0 }),
    linked: idempotent(updateBook(values)),
    applied: applyNewest(values),
    row: firstRow(selectDocument({ document })),
  })
  if (row && bookId !== null && guard.bookId === null) throw new ApiError('BOOK_NOT_FOUND')
  return row && toDocument(row)
}
