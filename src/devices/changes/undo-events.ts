import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { discard, isRefined } from '../../library/readings/blocks'
import { ofToken } from './store'

// The undo of progress that a device pushed, newest first. During a batch, each book whose events it deletes has one more
// event, a mark, before all others: it has the page that the book gets if no other event is left. The index of tokens finds
// the marks.

/** Each event changes itself, its book and the log. */
const MAX_EVENTS = 500
const undone = sql`(
  select bookId, at, pageBefore, begins from progress where ${ofToken} and at >= (:since + 0)
  order by at desc, bookId desc limit ${number(MAX_EVENTS)}
)`
const isMark = sql.raw(`tokenId = 'undo'`)
const insertMarks = sqlStatement`
  insert into progress (memberId, bookId, at, page, kind, total, tokenId)
  select books.memberId, books.bookId, -9e15, coalesce(pageBefore, currentPage), 'CORRECTION', 1, 'undo'
  from (select bookId, pageBefore, min(at) from ${undone} group by bookId) as oldest
  cross join books on books.bookId = oldest.bookId and +books.memberId = ${callerId}`
const begun = sql`
  select bookId from ${undone} as begun where begins and not exists (
    select 1 from progress as later
    where later.memberId = ${callerId} and later.bookId = begun.bookId and later.at > begun.at and later.tokenId is not (:tokenId || '')
  )`
const discardBegun = sqlStatement`${discard(begun, sql`not ${isRefined()}`)}`
type Begun = { bookId: number; title: string }
const selectLeft = sqlStatement<Begun>`
  select distinct books.bookId, title from ${undone} as begun
  cross join books on books.bookId = begun.bookId and +books.memberId = ${callerId}
  where begins and bookStatus <> 'YET'`
const deleteEvents = sqlStatement<{ at: number }>`
  delete from progress where ${ofToken} and (bookId, at) in (select bookId, at from ${undone}) returning at`
const markedBooks = sql`(select bookId as markedId from progress where memberId = ${callerId} and ${isMark})`
const ofMarked = sql`from progress where progress.memberId = ${callerId} and progress.bookId = markedId`
const updatePages = sqlStatement`
  update books set currentPage = page
  from (select markedId, (select page ${ofMarked} order by at desc limit 1) as page from ${markedBooks})
  where books.bookId = markedId and +books.memberId = ${callerId} and currentPage <> page`
const countEvents = sqlStatement`
  update progress set total = events
  from (select markedId, (select max(at) ${ofMarked}) as latest, (select count(*) - 1 ${ofMarked}) as events from ${markedBooks})
  where progress.memberId = ${callerId} and progress.bookId = markedId and at = latest and events > 0`
const deleteMarks = sqlStatement`
  delete from progress where memberId = ${callerId} and (bookId, at) in (
    select bookId, at from progress where memberId = ${callerId} and ${isMark}
  )`

/**
 * Deletes the newest events that a device pushed since a time. Returns how many, and whether there may be more; `left`: books
 * that it began, whose reading was continued since.
 */
export const undoEvents = async (db: Db, caller: Caller, since: { tokenId: string; since: number }) => {
  const { deleted, left } = await runAsCaller(db, caller, {
    marked: insertMarks(since),
    begun: discardBegun(since),
    left: selectLeft(since),
    deleted: deleteEvents(since),
    pages: updatePages(since),
    counts: countEvents(since),
    unmarked: deleteMarks(since),
  })
  return { count: deleted.length, hasMore: deleted.length === MAX_EVENTS, left }
}
