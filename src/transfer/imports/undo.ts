import { sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { CHANGEABLE, ofBook } from '../book-columns'
import type { UndoneImport } from './responses'
import { importColumns, isOwnImport, isOwnReportRow, type StoredImport } from './store'

const { placeholder } = sql

const digits = (date: string) => `cast(replace(${date}, '-', '') as integer)`
/** Any change of a reading changes these sums, unless the note is replaced by one of the same length. */
const READING_SUMS = [
  digits('startedAt'),
  digits('finishedAt'),
  ...['length(outcome)', 'quarters', 'isPaused', 'unicode(format)', 'octet_length(note)'],
].map((number) => `coalesce(sum(${number}), 0)`)

/**
 * A book with what belongs to it, as a JSON object: an expression for queries on `books`. The report of an import keeps it for
 * each book that it creates. An undo deletes the book if it still is the same.
 */
// Two functions, because D1 allows a function 32 arguments: as many as `CHANGEABLE` gives.
export const snapshot = sql`json_set(
  json_object(${sql.raw(CHANGEABLE.map((name) => `'${name}', books.${name}`).join(', '))}),
  '$.title', books.title, '$.createdAt', books.createdAt, '$.memoCount', books.memoCount, '$.memoBytes', books.memoBytes,
  '$.edits', (
    select iif(count(*) = 0, null, json_array(count(*), max(updatedAt))) from memos
    where memos.bookId = books.bookId and updatedAt <> memos.createdAt
  ),
  '$.tags', (
    select json_group_array(tagKey order by tagKey) from bookTags cross join tags using (memberId, tagId)
    where ${ofBook('bookTags')}
  ),
  '$.progress', (select count(*) from progress where ${ofBook('progress')}),
  '$.readings', (select json_array(count(*), ${sql.raw(READING_SUMS.join(', '))}) from readings where ${ofBook('readings')})
)`

// Rows stay until the undo is complete: the next DELETE continues it after a crash.
const cancel = sqlStatement<StoredImport>`
  update imports set status = iif(status = 'RUNNING', 'FAILED', status), lease = 0 where ${isOwnImport}
  returning ${importColumns}`

/** Rows per statement. Deleting a book also deletes its memos, readings and tags. */
const BATCH = 100

// Earlier releases kept the tags in the order of the file.
const deleteUnchanged = sqlStatement<{ bookId: number }>`
  delete from books where memberId = ${callerId} and bookId in (
    select books.bookId from importRows join books using (memberId, bookId)
    where importRows.memberId = ${callerId} and importId = ${placeholder('importId')}
      and row > ${placeholder('after')} and row <= ${placeholder('after')} + ${sql.raw(String(BATCH))}
      and outcome = 'created'
      and not exists (
        select 1 from json_each(${snapshot}) as now where now.value is not iif(
          now.key = 'tags', (select json_group_array(value order by value) from json_each(undo, '$.tags')), undo ->> now.key
        )
      )
  )
  returning bookId`
const selectKept = sqlStatement<{ bookId: number; title: string }>`
  select books.bookId, books.title from importRows join books using (memberId, bookId)
  where importRows.memberId = ${callerId} and importId = ${placeholder('importId')} and outcome in ('created', 'updated')
  order by row`
const deleteRows = sqlStatement`delete from importRows where ${isOwnReportRow}`
const hide = sqlStatement`update imports set isDeleted = 1, options = '', reason = null where ${isOwnImport} returning importId`

/**
 * Cancels an import if it runs, and removes the books that it created and that were not changed since. The other books that it
 * created or updated are listed. Returns undefined if the caller has no such import.
 */
export const undoImport = async (
  db: Db,
  caller: Caller,
  importId: number,
): Promise<(UndoneImport & { cancelled: StoredImport }) | undefined> => {
  const cancelled = await queryOne(db, caller, cancel({ importId }))
  if (!cancelled) return undefined
  let removed = 0
  for (let after = 0; after < cancelled.done; after += BATCH) {
    const { deleted } = await runAsCaller(db, caller, { deleted: deleteUnchanged({ importId, after }) })
    removed += deleted.length
  }
  const values = { importId }
  const { kept } = await runAsCaller(db, caller, {
    kept: selectKept(values),
    deleted: deleteRows(values),
    hidden: hide(values),
  })
  // A dry run created and updated nothing.
  return { removed, kept: cancelled.isDryRun ? [] : kept, cancelled }
}
