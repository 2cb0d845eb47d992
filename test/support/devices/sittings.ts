import { memberDatabase, select } from '../database'
import { type Counted, sittingRows } from './sitting-rows'

export const insertSittings = async (memberId: number, bookId: number | null, counted: Counted[]) => {
  const database = memberDatabase()
  await database.batch(sittingRows(database, memberId, bookId, counted))
}

/** Adds an event with minutes, on the page of the event before it. */
export const insertMinutes = (memberId: number, bookId: number, at: number, minutes: number) =>
  select(
    `insert into progress (memberId, bookId, at, page, kind, total, minutes)
    select ?1, ?2, ?3, coalesce(max(page), 0), 'PROGRESS', count(*) + 1, ?4 from progress where memberId = ?1 and bookId = ?2`,
    ...[memberId, bookId, at, minutes],
  )
