// Apart from the tables, because Drizzle's views need its query builder, which the Worker does not.
import { sql } from 'drizzle-orm'
import { sqliteView } from 'drizzle-orm/sqlite-core'
import { shownReading } from './shown-reading'

const raw = (columns: string[]) => sql.raw(columns.join(', '))
const shown = Object.entries(shownReading()).map(([name, value]) => `${value} as ${name}`)
/**
 * The current readings. Only this view decides which columns of a book count. Its last columns are for SQLite, which uses
 * a partial index only if the view has the columns of its condition.
 */
export const currentReadings = sqliteView('currentReadings', {}).as(
  sql`select memberId, bookId, ${raw(shown)}, bookStatus, readEndDate, archivedEnd, finishedAt as ownFinish
    from books where bookStatus <> 'YET'`,
)

const columns = Object.keys(shownReading())
/**
 * All readings. Not for correlated subqueries, in which SQLite would read the whole view: see readings/lookup.ts.
 */
export const allReadings = sqliteView('allReadings', {}).as(
  sql`select memberId, bookId, ${raw(columns)}, 1 as isCurrent from currentReadings
    union all select memberId, bookId, ${raw(columns.filter((name) => name !== 'isPaused'))}, 0, 0 from readings`,
)
