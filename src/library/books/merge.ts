import { sql } from 'drizzle-orm'
import { type Caller, callerId, isOwnRow, runAsCaller } from '../../db/caller'
import { type Db, firstRow, sqlStatement } from '../../db/client'
import { isOwnBook } from '../../db/own-book'
import { number } from '../../db/parameters'
import { books } from '../../db/schema/book-tables'
import { CHANGE_KINDS } from '../../db/schema/sync-tables'
import { ApiError, fieldError, quotaExceeded } from '../../errors'
import { fieldsOf } from '../../values/book-fields'
import { MAX_EVENTS } from '../../values/prices'
import { limitsOf, type Quotas } from '../../values/quotas'
import { foldedColumnsOf } from '../../values/text/folded-columns'
import { MAX_SOURCE_IDS } from '../editions/schema'
import { describe, insertPast, isRefined, keep, selectCurrent, settle } from '../readings/blocks'
import { MAX_READINGS } from '../readings/schema'
import { completeMerged, evictForMerged, mergedToTrash, movedDocuments } from '../trash/removal'
import {
  isMarked,
  isOfPair,
  MAX_MOVED_MEMOS,
  markSource,
  ofSource,
  ofTarget,
  type PairSizes,
  selectPairSizes,
  statement,
  withPair,
} from './merge-pair'
import type { ListedBook } from './responses'
import type { BookMerge } from './schema'
import { LISTED_COLUMNS } from './store'

const latest = (column: string) =>
  sql`(select ${sql.raw(column)} from pair cross join progress on ${ofTarget('progress')} order by at desc limit 1)`
const MEMO_COUNTS = ['memoCount', 'contentMemos', 'summaryMemos', 'thoughtMemos', 'questionMemos', 'memoBytes']
/** Filled one by one. The number comes with the series. */
const FILLED = fieldsOf('fill').filter((name) => name !== 'seriesNumber')
/** The ISBN of the source comes before its source ids, which may be cut off: imports find the book by it. */
const sourceIds = sql`(
  select nullif(json_group_array(id), '[]') from (
    select id from (
      select value as id, key as place from json_each(coalesce(books.sourceIds, '[]'))
      union all select 'isbn:' || source.isbn, ${number(MAX_SOURCE_IDS)} where books.isbn <> source.isbn
      union all select value, 1 + ${number(MAX_SOURCE_IDS)} + key from json_each(coalesce(source.sourceIds, '[]'))
    ) group by id order by min(place) limit ${number(MAX_SOURCE_IDS)}
  )
)`
const TARGET = sql.raw('select targetId from pair')
const isOpen = (id: string) =>
  sql.raw(`exists (select 1 from pair cross join books as open on open.bookId = ${id} where open.bookStatus = 'ING')`)
const isOfSource = sql.raw('c.bookId = (select sourceId from pair)')
/** Whether a reading adds nothing to one of the target: if so, it is deleted with the source. */
const isKnown = (reading: string, outcome: string) => {
  const same = `twin.startedAt is ${reading}.startedAt and twin.finishedAt is ${reading}.finishedAt and twin.outcome is ${outcome}`
  const added = ['quarters', 'format', 'note'].map(
    (name) => `coalesce(${reading}.${name} = twin.${name}, ${reading}.${name} is null)`,
  )
  const isSame = sql.raw([same, ...added].join(' and '))
  return sql`(
    exists (select 1 from pair cross join currentReadings as twin on twin.bookId = targetId where ${isSame})
    or exists (select 1 from pair cross join readings as twin on ${ofTarget('twin')} where ${isSame})
  )`
}
const isRefinedInSource = sql`exists (select 1 from books as own where own.bookId = c.bookId and ${isRefined('own')})`
const [keepOvertaken, promoteNewest] = settle(TARGET, { orIf: sql`bookStatus = 'YET'` })
const ofSameDay = (column: string) =>
  sql.raw(`${column} = iif(
    substr(source.${column}, 1, 10) = substr(books.${column}, 1, 10), source.${column}, books.${column}
  )`)
const ofUnread = (column: string) =>
  sql.raw(`${column} = iif(books.bookStatus = 'YET', coalesce(books.${column}, source.${column}), books.${column})`)

const taken = sql`exists (
  select 1 from progress as taken
  where taken.memberId = ownerId and taken.bookId in (sourceId, targetId) and taken.at = progress.at + value
)`
/** No event replaces another: one at the same time that adds something comes some milliseconds later, before it is in the trash. */
const separateEvents = statement`
  update or ignore progress set total = (
    select total from progress as last where ${ofSource('last')} order by at desc limit 1
  ), at = (select progress.at + value from json_each('[1,2,3,4,5,6,7,8,9]') where not ${taken} limit 1)
  from pair where ${ofSource('progress')} and exists (
    select 1 from progress as event where ${ofTarget('event')} and event.at = progress.at and not (
      event.page = progress.page and coalesce(progress.minutes, event.minutes) is event.minutes
      and coalesce(progress.seconds, event.seconds) is event.seconds
    )
  )`
const putIntoTrash = mergedToTrash(sql`${isOwnRow(books.bookId, books.memberId, callerId, 'from')} and ${isMarked}`)
const completeTrash = completeMerged(sql`exists (select 1 from books where bookId = :from and ${isMarked})`)

/** The statements of a merge, in this order. They do nothing unless the books can be merged. */
const MOVES = {
  /** An open reading of the source becomes a stopped one if the target has one, too. Otherwise `takeOpen` moves it. */
  moveEnded: statement`
    ${insertPast} ${selectCurrent(
      sql`${isOfSource} and (c.outcome is not null or (${isOpen('targetId')} and ${isRefinedInSource}))
        and not ${isKnown('c', `coalesce(c.outcome, 'STOPPED')`)}`,
      sql`(${TARGET})`,
    )}`,
  keepEnded: statement`${keep(TARGET, sql`c.outcome is not null and ${isOpen('sourceId')}`)}`,
  takeOpen: statement`
    update books set readingId = c.readingId, readingSince = c.createdAt,
      ${describe((name) => sql.raw(`c.${name}`))}
    from pair cross join source cross join currentReadings as c on c.bookId = sourceId
    where books.bookId = targetId and books.bookStatus <> 'ING' and c.outcome is null`,
  movePast: statement`
    update readings set bookId = targetId from pair
    where ${ofSource('readings')} and not ${isKnown('readings', 'readings.outcome')}`,

  moveProgress: statement`
    update or ignore progress set bookId = targetId from pair where ${ofSource('progress')} and at in (
      select event.at from progress as event where ${ofSource('event')}
      order by event.at desc limit max(0, ${number(MAX_EVENTS)} - coalesce(${latest('total')}, 0))
    )`,
  countProgress: statement`
    update progress set total = (select count(*) from progress as each where ${ofTarget('each')})
    from pair where ${ofTarget('progress')} and at = ${latest('at')}`,

  moveDocuments: statement`
    update documents set bookId = targetId from pair
    where documents.memberId = ownerId and documents.document in (
      ${movedDocuments('(select ownerId from pair)', '(select sourceId from pair)')}
    )`,

  addTags: statement`
    insert into bookTags (memberId, tagId, bookId)
    select ownerId, tagId, targetId from pair cross join bookTags on ${ofSource('bookTags')} where true
    on conflict do nothing`,

  countMemoBooks: statement`
    update members set memoBooks = memoBooks - 1 from pair
    where members.memberId = ownerId and (select sum(hasMemos) from books where ${isOfPair}) = 2`,
  // The unary plus keeps SQLite from reading all memos of the member.
  moveMemos: statement`
    update memos set bookId = targetId from pair where +memos.memberId = ownerId and memos.bookId = sourceId`,
  /** The source has none, so that its deletion subtracts nothing from the counters of the member. */
  countMemos: statement`
    update books set
      hasMemos = sums.hasMemos * (books.bookId = targetId), lastMemoId = iif(books.bookId = targetId, newest, null),
      ${sql.raw(MEMO_COUNTS.map((name) => `${name} = sums.${name} * (books.bookId = targetId)`).join(', '))}
    from pair cross join (
      select max(hasMemos) as hasMemos, max(lastMemoId) as newest, ${sql.raw(MEMO_COUNTS.map((name) => `sum(${name}) as ${name}`).join(', '))}
      from pair cross join books on ${isOfPair}
    ) as sums where ${isOfPair}`,

  fillTarget: statement`
    update books set
      ${sql.raw(FILLED.map((name) => `${name} = coalesce(books.${name}, source.${name})`).join(', '))},
      ${sql.raw(
        foldedColumnsOf(FILLED)
          .map(([name, column]) => `${column} = iif(books.${name} is null, source.${column}, books.${column})`)
          .join(', '),
      )},
      seriesNumber = iif(coalesce(books.series = source.series, true), coalesce(books.seriesNumber, source.seriesNumber), books.seriesNumber),
      sourceIds = ${sourceIds},
      mergedBooks = books.mergedBooks + 1,
      ${ofUnread('readStartDate')}, ${ofUnread('readEndDate')},
      star = iif(books.star = 0, source.star, books.star),
      archivedStar = iif(books.star = 0 and books.bookStatus <> 'YET', source.star, books.archivedStar)
    from pair cross join source where books.bookId = targetId`,
  keepOvertaken: statement`${keepOvertaken}`,
  promoteNewest: statement`${promoteNewest}`,
  /** The dates of a reading of the source keep their times of day. */
  setTimes: statement`
    update books set ${ofSameDay('readStartDate')}, ${ofSameDay('readEndDate')}
    from pair cross join source cross join currentReadings as c on c.bookId = sourceId
    where books.bookId = targetId and books.readingId = c.readingId`,
  syncPage: statement`
    update books set currentPage = coalesce(${latest('page')}, nullif(books.currentPage, 0), source.currentPage),
      activityAt = nullif(max(coalesce(books.activityAt, 0), coalesce(source.activityAt, 0)), 0)
    from pair cross join source where books.bookId = targetId`,
  /** The triggers do not log that events move to another book, because each would be an entry. */
  logTarget: statement`
    insert into changes (memberId, seq, kind, id, proof)
    select memberId, seq + 1, ${sql.raw(String(CHANGE_KINDS.book))}, targetId, random() & 0xFFFFFFFFFFFF
    from pair cross join changes on memberId = ownerId order by seq desc limit 1`,
}
const tooManyMemos = ({ memos, movedMemos }: PairSizes) =>
  `must have at most ${MAX_MOVED_MEMOS} memos${memos - movedMemos > MAX_MOVED_MEMOS ? '' : ': merge the other way round'}`
const deleteSource = sqlStatement<{ bookId: number }>`
  ${withPair} delete from books where bookId = (select sourceId from pair) returning bookId`
const selectMerged = sqlStatement<ListedBook>`
  select ${sql.raw(LISTED_COLUMNS.join(', '))} from books where ${isOwnBook}`

/**
 * Moves what another of the caller's books has to a book, and puts the other one into the trash. Returns undefined if
 * the caller has only one of them.
 * @throws INVALID_FIELDS when they are the same, or `from` has too many memos; the error of a limit that they exceed together: then nothing changes
 */
export const mergeBooks = async (
  db: Db,
  caller: Caller,
  bookId: number,
  { from }: BookMerge,
  quotas: Quotas,
): Promise<ListedBook | undefined> => {
  const values = { bookId, from, trashIds: JSON.stringify([from]), ...limitsOf(quotas) }
  // The source is deleted last, so that clients that sync have already moved what belonged to it.
  const { guard, deleted, merged } = await runAsCaller(db, caller, {
    guard: selectPairSizes(values),
    marked: markSource(values),
    separated: separateEvents(values),
    trashed: putIntoTrash(values),
    moved: Object.values(MOVES).map((move) => move(values)),
    completed: completeTrash(values),
    deleted: firstRow(deleteSource(values)),
    evicted: evictForMerged(values),
    merged: firstRow(selectMerged(values)),
  })
  if (deleted) return merged
  if (!guard.hasTarget || !guard.hasSource) return undefined
  if (bookId === from) throw fieldError('from', from, 'must be another book than the one in the path')
  if (guard.memos > quotas.MAX_MEMOS_PER_BOOK) throw quotaExceeded('MAX_MEMOS_PER_BOOK', quotas)
  if (guard.bytes > quotas.MAX_BOOK_TEXT_BYTES) throw quotaExceeded('MAX_BOOK_TEXT_BYTES', quotas)
  if (guard.movedMemos > MAX_MOVED_MEMOS) throw fieldError('from', from, tooManyMemos(guard))
  throw new ApiError(guard.readings > MAX_READINGS ? 'MAX_READINGS' : 'MAX_BOOK_TAGS')
}
