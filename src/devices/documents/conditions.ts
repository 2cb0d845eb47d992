import { sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'

/** Matches the caller's document of the parameter `document`. */
export const ofDocument = sql`documents.memberId = ${callerId} and documents.document = :document`

const isIn = (table: string, id: string) =>
  sql.raw(`exists (select 1 from ${table} where ${id} = documents.bookId and ${table}.memberId = documents.memberId)`)
/** Whether the book of a document is in the library. */
export const hasBook = isIn('books', 'bookId')
const isNone = sql`(documents.isByHand and documents.bookId is null)`
/** Whether a push may find a book for a document. A book in the trash keeps its documents, as it may be restored. */
export const isOpen = sql`not ${isNone} and not ${hasBook} and not ${isIn('trash', 'trashId')}`
