import { requireMember, runAsCaller } from '../../db/caller'
import { type ConfirmedMember, sqlStatement } from '../../db/client'
import type { ImportContext } from '../../transfer/imports/receive/start'
import { startDeviceImport } from '../../transfer/imports/receive/start-device-import'
import { isOwnReportRow } from '../../transfer/imports/store'

/** @throws UNAUTHORIZED, INSUFFICIENT_SCOPE */
export const checkToken = requireMember

/** A book in the form of Readwise's API, without what the library does not know. */
type Book = { id: number; title: string; author: string | null; category: string; num_highlights: number }

// Clients send at most a few hundred highlights at once.
const selectBooks = sqlStatement<Book>`
  select books.bookId as id, books.title, books.author, 'books' as category, memoCount as num_highlights
  from importRows cross join books on books.bookId = importRows.bookId and +books.memberId = importRows.memberId
  where ${isOwnReportRow} and outcome in ('created', 'updated', 'unchanged')
  order by row limit 1000`

/**
 * Imports highlights. Returns their books, unless the device has sent the same before.
 * @throws those of `startDeviceImport`
 */
export const sendHighlights = async (
  context: ImportContext,
  member: ConfirmedMember,
  bytes: Uint8Array<ArrayBuffer>,
) => {
  const how = { protocol: 'readwise', fileName: 'highlights', format: 'readwise-api', wait: true } as const
  const { importId, isNew } = await startDeviceImport(context, member, bytes, how)
  if (!isNew) return []
  const { books } = await runAsCaller(context.db, context.caller, { books: selectBooks({ importId }) })
  return books.map((book) => ({ ...book, modified_highlights: [] }))
}
