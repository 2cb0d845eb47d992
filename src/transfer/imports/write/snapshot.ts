import { sql } from 'drizzle-orm'
import { CHANGEABLE, ofBook } from '../../book-columns'

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
