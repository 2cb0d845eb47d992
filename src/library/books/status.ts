import { type SQL, sql } from 'drizzle-orm'
import { roomOf } from '../../db/quotas'
import { activeNow, discard, hasRoom as hasRoomOf, isRefined, keep, keptOf, renew, restore } from '../readings/blocks'
import type { BookPatch } from './schema'

/** A new status, with the dates that are set with it: values, or SQL of them. */
type Change = Pick<BookPatch, 'bookStatus'> & Partial<Record<'readStartDate' | 'readEndDate', string | null | SQL>>

/**
 * Whether the reading can be archived. If not, it is changed instead: setting a status is never refused.
 * @param reserved the bytes that the change needs for other things, so that they still fit afterwards
 */
const hasRoomBeside = (reserved: SQL) =>
  sql`${hasRoomOf('c')} and ${roomOf(sql`members.memberId = c.memberId`)} > ${reserved}`
const day = (value: SQL) => sql`substr(${value}, 1, 10)`

/**
 * The statement that makes the archived reading the current one again, if a status and its dates show that it is.
 * @param books the books, as a set
 * @param end the `readEndDate` to set with it, if no later statement does
 */
export const restoreFor = (
  books: SQL,
  { bookStatus, ...dates }: Change & { bookStatus: 'ING' | 'DONE' },
  end?: SQL,
) => {
  const set = end ? sql`bookStatus = ${bookStatus}, readEndDate = ${end}` : sql`bookStatus = ${bookStatus}`
  const [start, finish] = (['readStartDate', 'readEndDate'] as const).map((name) =>
    day(dates[name] === undefined ? sql.raw(`books.${name}`) : sql`${dates[name]}`),
  )
  const isStarted = sql`${start} is books.archivedStart`
  const isUndatedStop = sql`p.outcome = 'STOPPED' and p.finishedAt is null`
  // The archived reading had been finished; or it was stopped on an unknown date and no other began, so it is finished now.
  if (bookStatus === 'DONE') {
    const isToBeFinished = sql`(p.outcome = 'FINISHED' or (books.bookStatus = 'YET' and ${isUndatedStop}))`
    const isSame = sql`${isStarted} and ${finish} is books.archivedEnd and ${isToBeFinished}`
    return restore(books, set, sql`books.bookStatus <> 'DONE' and ${isSame}`)
  }
  return restore(books, set, sql`books.bookStatus = 'YET' and ${isStarted} and ${isUndatedStop}`)
}

/**
 * The statements that archive or restore the readings of books whose status is set. They run before the update of the books.
 * @param books the books, as a set
 */
export const changeStatus = (books: SQL, { bookStatus, ...dates }: Change, reserved = sql`0`) => {
  if (!bookStatus) return []
  const hasRoom = hasRoomBeside(reserved)
  const renewed = renew(keptOf(books), sql`bookStatus = ${bookStatus}, activityAt = ${activeNow},`)
  if (bookStatus === 'YET') return [discard(books, sql`not ${isRefined()}`), keep(books, hasRoom), renewed]
  const restored = restoreFor(books, { ...dates, bookStatus })
  return bookStatus === 'DONE'
    ? [restored]
    : [keep(books, sql`c.outcome is not null and ${hasRoom}`), renewed, restored]
}
