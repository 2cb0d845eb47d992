import { sql } from 'drizzle-orm'
import { runAsCaller } from '../../../db/caller'
import { sqlStatement } from '../../../db/client'
import { eventCount, ofBook, selectOwnBooks, selectOwnIds, splitIds } from '../../../db/own-book'
import { number } from '../../../db/parameters'
import type { CallerRequest } from '../../../env'
import { limitsOf } from '../../../values/quotas'
import { bookToTrash, evictOldest } from '../../trash/removal'
import type { BookIds } from '../schema'
import type { DeletedBooks } from './responses'

/** The most rows that the deletion of books changes in a batch, besides those that `evictOldest` deletes. */
const MAX_ROWS = 8000
/** The most rows that the deletion of a book changes: itself, what belongs to it, counters, parts in the trash, the log. */
export const rowsOfBook = sql`
  12 + 2 * memoCount + memoBytes / 10000
  + 2 * (select count(*) from readings where ${ofBook('readings')})
  + 5 * (select count(*) from bookTags where ${ofBook('bookTags')})
  + ${eventCount}`
/** The first of the books whose rows fit a batch. A single book always does. */
const isFirst = sql`bookId in (
  select bookId from (
    select bookId, sum(changes) over (order by place rows unbounded preceding) as changes, row_number() over (order by place) as number
    from (select bookId, place, ${rowsOfBook} as changes from (${selectOwnBooks}) join books using (memberId, bookId))
  ) where changes <= ${number(MAX_ROWS)} or number = 1
)`

const putIntoTrash = bookToTrash(isFirst)
const removeBooks = sqlStatement<{ bookId: number }>`
  delete from books
  where bookId in (select bookId from (${selectOwnBooks}) as own where exists (select 1 from trash where trashId = own.bookId))
  returning bookId`

/** Puts books with their memos into the trash: the first ones, as many as a batch can delete. */
export const deleteBooks = async ({ db, caller, config }: CallerRequest, { ids }: BookIds): Promise<DeletedBooks> => {
  const list = JSON.stringify(ids)
  const values = { ids: list, trashIds: list, ...limitsOf(config) }
  const { own, removed } = await runAsCaller(db, caller, {
    own: selectOwnIds(values),
    trashed: putIntoTrash(values),
    removed: removeBooks(values),
    evicted: evictOldest(values),
  })
  const { done, left, missing } = splitIds(ids, own, removed)
  return { deleted: done, left, missing }
}
