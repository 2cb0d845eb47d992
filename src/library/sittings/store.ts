import { sql } from 'drizzle-orm'
import { callerId, runAsCaller } from '../../db/caller'
import { sqlStatement } from '../../db/client'
import { FROM_OWN_BOOK } from '../../db/own-book'
import { limit, number } from '../../db/parameters'
import { isTimed } from '../../db/schema/reading-tables'
import type { CallerRequest } from '../../env'
import { toCursor } from '../../values/cursor'
import { createZone, toMinutes } from '../../values/time'
import type { Sitting, SittingList } from './responses'
import { MAX_DOCUMENTS_OF_BOOK, maxRows, type SittingQuery } from './schema'

const MIN_ROWS_OF_DOCUMENT = 10

const linked = (column: 'document' | 'seconds') => sql`
  select ${sql.raw(column)} from documents
  where memberId = ${callerId} and bookId = (:bookId + 0) order by document limit ${number(MAX_DOCUMENTS_OF_BOOK)}`
const selectBook = sqlStatement<{ bookId: number | null; timeZone: string | null; seconds: number | null }>`
  select bookId, (select timeZone from members where members.memberId = caller.id) as timeZone,
    (select sum(seconds) from (${linked('seconds')})) as seconds ${FROM_OWN_BOOK}`

type DeviceRow = { date: string; tokenId: string; tokenName: string | null; seconds: number; isCut: number | null }
// Cast, because D1 sends numbers as 200.0, and LIMIT refuses fractions.
const rowsOfDocument = sql`(select max(${number(MIN_ROWS_OF_DOCUMENT)}, cast(:rows as integer) / count(*)) from linked)`
// Days up to `isCut` may lack rows, because a document has more than were read.
const selectDevices = sqlStatement<DeviceRow>`
  with linked as materialized (${linked('document')}),
  listed as materialized (
    select document, value ->> 0 as date, value ->> 1 as tokenId, value ->> 2 as seconds, value ->> 3 as read
    from linked cross join json_each((
      select json_group_array(json_array(day, tokenId, seconds, read)) from (
        select day, tokenId, sum(seconds) as seconds, count(*) as read from (
          select day, tokenId, seconds from sittings
          where memberId = ${callerId} and sittings.document = linked.document
            and day < :before and (day <> :last or tokenId > :lastToken)
          order by day desc limit ${rowsOfDocument}
        ) group by day, tokenId
      )
    ))
  )
  select date, tokenId, sum(seconds) as seconds,
    (select name from accessTokens where memberId = ${callerId} and tokenId = listed.tokenId) as tokenName,
    date <= (
      select max(oldest) from (
        select min(date) as oldest from listed group by document having sum(read) = ${rowsOfDocument}
      )
    ) as isCut
  from listed group by date, tokenId order by date desc, tokenId limit ${limit}`

/** At most the events that a book can have. */
const selectTyped = sqlStatement<{ at: number; minutes: number }>`
  select at, minutes from progress
  where memberId = ${callerId} and bookId = :bookId and ${isTimed}`

/** Sorts after all identifiers of tokens, and after all dates. */
const LAST = '~'

/** How long a book was read, latest day first. Returns undefined if the caller has no such book. */
export const listSittings = async (
  { db, caller, config }: Pick<CallerRequest, 'db' | 'caller' | 'config'>,
  bookId: number,
  { cursor: [last, lastToken] = [LAST, ''], size }: SittingQuery,
): Promise<SittingList | undefined> => {
  const before = lastToken === LAST ? last : `${last}${LAST}`
  const { guard, devices, typed } = await runAsCaller(db, caller, {
    guard: selectBook({ bookId }),
    devices: selectDevices({ bookId, before, last, lastToken, rows: maxRows(size), limit: size + 1 }),
    typed: selectTyped({ bookId }),
  })
  if (guard.bookId === null) return undefined
  const { toDate } = createZone(guard.timeZone ?? config.TIME_ZONE)
  const counted = new Set(devices.map(({ date }) => date))
  const minutes = new Map<string, number>()
  for (const event of typed) {
    const date = toDate(event.at)
    if (date < last && !counted.has(date)) minutes.set(date, (minutes.get(date) ?? 0) + event.minutes)
  }
  const all: Sitting[] = [
    ...devices.map(({ seconds, isCut: _, ...row }) => ({
      ...row,
      minutes: toMinutes(seconds),
      source: 'DEVICE' as const,
    })),
    ...[...minutes].map(([date, minutes]) => ({ date, minutes, source: null, tokenId: null, tokenName: null })),
  ].sort((one, other) => (one.date > other.date ? -1 : Number(one.date < other.date)))
  // If all rows that were read are of one day, they stand for it.
  const cut = devices.find(({ isCut }) => isCut)?.date ?? ''
  const whole = all.filter(({ date }) => date > cut)
  const sittings = whole.length > 0 ? whole : all.filter(({ date }) => date === cut)
  const item = sittings.slice(0, size)
  const end = item.at(-1)
  const isPart = whole.length === 0 && sittings.length <= size
  const position = end && [end.date, isPart ? LAST : (end.tokenId ?? '')]
  return {
    item,
    next: sittings.length > size || cut ? toCursor(position) : null,
    deviceMinutes: toMinutes(guard.seconds ?? 0),
    eventMinutes: typed.reduce((sum, { minutes }) => sum + minutes, 0),
  }
}
