import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller, selectCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import type { UndoneImport } from './responses'
import { importColumns, type StoredImport } from './store'

const { placeholder } = sql

const isOwnImport = sql`memberId = ${callerId} and importId = ${placeholder('importId')}`

// Rows stay until the undo is complete: the next DELETE continues it after a crash.
const cancel = sqlStatement<StoredImport>(
  () => sql`
  update imports set status = iif(status = 'RUNNING', 'FAILED', status), lease = 0 where ${isOwnImport} and isDeleted = 0
  returning ${importColumns}`,
)

const COLUMNS = [
  ...(['title', 'cover', 'author', 'publisher', 'createdAt', 'star', 'currentPage', 'itemPage', 'bookStatus'] as const),
  ...(['readStartDate', 'readEndDate', 'isbn', 'language', 'format', 'publishedYear', 'series'] as const),
  ...(['seriesNumber', 'sourceIds', 'memoCount', 'memoBytes'] as const),
]
const isUnchanged = sql.join(
  COLUMNS.map((name) => sql.raw(`books.${name} is undo ->> '${name}'`)),
  sql` and `,
)
const dates = (column: string) => `coalesce(sum(cast(replace(${column}, '-', '') as integer)), 0)`
const total = (value: string) => `coalesce(sum(${value}), 0)`
/** `toReadingsSum` in arrays.ts. A change of a reading changes it, unless the note is replaced by one of the same length. */
const readingsSum = sql.raw(
  `json_array(count(*), ${dates('startedAt')}, ${dates('finishedAt')}, ${[
    'length(outcome)',
    'quarters',
    'isPaused',
    'unicode(format)',
    'octet_length(note)',
  ].map(total)})`,
)
/** Rows per statement. Deleting a book also deletes its memos, readings and tags. */
const BATCH = 100

const deleteUnchanged = sqlStatement<{ bookId: number }>(
  () => sql`
  delete from books where memberId = ${callerId} and bookId in (
    select books.bookId from importRows join books using (memberId, bookId)
    where importRows.memberId = ${callerId} and importId = ${placeholder('importId')}
      and row > ${placeholder('after')} and row <= ${placeholder('after')} + ${sql.raw(String(BATCH))}
      and outcome = 'created' and ${isUnchanged}
      and coalesce(undo -> 'edits', '[0,null]') = (
        select json_array(count(*), max(updatedAt)) from memos
        where memos.bookId = books.bookId and updatedAt <> memos.createdAt
      )
      and coalesce(undo ->> 'progress', 0) = (
        select count(*) from progress where progress.memberId = importRows.memberId and progress.bookId = books.bookId
      )
      and (
        select count(*) from bookTags where bookTags.memberId = importRows.memberId and bookTags.bookId = books.bookId
      ) = json_array_length(undo, '$.tags')
      and not exists (
        select 1 from json_each(undo, '$.tags') where value not in (
          select tagKey from bookTags join tags using (memberId, tagId)
          where bookTags.memberId = importRows.memberId and bookTags.bookId = books.bookId
        )
      )
      and (
        select ${readingsSum} from readings
        where readings.memberId = importRows.memberId and readings.bookId = books.bookId
      ) = undo -> 'readings'
  )
  returning bookId`,
)
const selectKept = sqlStatement<{ bookId: number; title: string }>(
  () => sql`
  select books.bookId, books.title from importRows join books using (memberId, bookId)
  where importRows.memberId = ${callerId} and importId = ${placeholder('importId')} and outcome in ('created', 'updated')
  order by row`,
)
const deleteRows = sqlStatement(() => sql`delete from importRows where ${isOwnImport}`)
const hide = sqlStatement(
  () => sql`update imports set isDeleted = 1, options = '', reason = null where ${isOwnImport} returning importId`,
)

/**
 * Cancels an import if it runs, and removes the books that it created and that were not changed since. The other books that it
 * created or updated are listed. Returns undefined if the caller has no such import.
 */
export const undoImport = async (
  db: Db,
  caller: Caller,
  importId: number,
): Promise<(UndoneImport & { file: string | null }) | undefined> => {
  const [, [found]] = await runAsCaller(db, caller, selectCaller(), cancel({ importId }))
  if (!found) return undefined
  let removed = 0
  for (let after = 0; after < found.done; after += BATCH) {
    const [, deleted] = await runAsCaller(db, caller, selectCaller(), deleteUnchanged({ importId, after }))
    removed += deleted.length
  }
  const values = { importId }
  const [, kept] = await runAsCaller(db, caller, selectCaller(), selectKept(values), deleteRows(values), hide(values))
  // A dry run created and updated nothing.
  return { removed, kept: found.isDryRun ? [] : kept, file: found.file }
}
