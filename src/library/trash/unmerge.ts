// Restores a book that was merged into another one, the target: takes back what came from it and is unchanged since. What
// was changed or deleted there stays as it is, as do changes of the target's own. Without the target, only what the book
// itself had comes back.
import { type SQL, sql } from 'drizzle-orm'
import { sqlStatement } from '../../db/client'
import { lastReadingId } from '../../db/next-id'
import { READING_COLUMNS } from '../../db/schema/shown-reading'
import * as blocks from '../readings/blocks'
import { MERGED_NAMES, readingColumns } from './removal'

/** The entry, once the book is back: of a merged book, with `sourceId` and `targetId`. */
const toMerged = (restored: SQL) => sql`
  merged as materialized (
    select memberId, trashId as sourceId, data, data -> 'merge' as merge, data ->> '$.merge.into' as targetId from ${restored}
  )`
const idsOf = (list: string) => sql.raw(`(select each.value from merged, json_each(merge, '$.${list}') as each)`)
const SOURCE = sql.raw('select sourceId from merged')
const TARGET = sql.raw('select targetId from merged')
const ofTarget = (table: string) => sql.raw(`${table}.memberId = merged.memberId and ${table}.bookId = merged.targetId`)
const currentOfSource = sql.raw(`(select merge -> 'current' ->> 0 from merged)`)

/** The readings that the book had: the past ones, and the current one as a past one shows it. */
const readingsOfSource = sql.raw(`(
  select each.value ->> 'readingId' as readingId, each.value ->> 'startedAt' as startedAt, each.value ->> 'finishedAt' as finishedAt,
    each.value ->> 'outcome' as outcome, each.value ->> 'quarters' as quarters, each.value ->> 'format' as format,
    each.value ->> 'note' as note, 0 as isPaused
  from merged cross join trashParts on trashParts.memberId = merged.memberId and trashParts.bookId = sourceId
    cross join json_each(trashParts.data) as each
  union all
  select merge -> 'current' ->> 0, merge -> 'current' ->> 1, merge -> 'current' ->> 2, merge -> 'current' ->> 3,
    merge -> 'current' ->> 4, merge -> 'current' ->> 5, data ->> 'note', merge -> 'current' ->> 6
  from merged where merge -> 'current' ->> 0 is not null
)`)
const same = (reading: string, outcome: string) =>
  ['startedAt', 'finishedAt', 'quarters', 'format', 'note']
    .map((name) => `${reading}.${name} is own.${name}`)
    .join(' and ')
    .concat(` and ${reading}.outcome is ${outcome}`)
/** Whether the reading `own` is in the target as it came there: an open one that became a past one was stopped. */
const isUnchanged = sql.raw(`(
  exists (
    select 1 from merged cross join readings as past on past.readingId = own.readingId and past.bookId = targetId
    where ${same('past', `coalesce(own.outcome, 'STOPPED')`)}
  ) or exists (
    select 1 from merged cross join currentReadings as shown on shown.bookId = targetId and shown.readingId = own.readingId
    where ${same('shown', 'own.outcome')} and shown.isPaused = own.isPaused
  )
)`)

/** A column of the reading of the target before the merge. */
const before = (at: number) => `merge -> 'readingBefore' ->> ${at}`

const latestOfTarget = (column: string) =>
  sql.raw(`(
    select progress.${column} from merged cross join progress on progress.memberId = merged.memberId
      and progress.bookId = targetId order by at desc limit 1
  )`)
const MEMO_TYPES = {
  contentMemos: 'BOOK_CONTENT',
  summaryMemos: 'SUMMARY',
  thoughtMemos: 'THOUGHT',
  questionMemos: 'QUESTION',
}
const counters = sql.raw(
  [
    'count(memos.memoId) as memoCount',
    'count(memos.memoId) > 0 as hasMemos',
    'max(memos.memoId) as lastMemoId',
    'coalesce(sum(octet_length(memoContent)), 0) as memoBytes',
    ...Object.entries(MEMO_TYPES).map(([name, type]) => `coalesce(sum(memoType = '${type}'), 0) as ${name}`),
  ].join(', '),
)
const counted = ['memoCount', 'hasMemos', 'lastMemoId', 'memoBytes', ...Object.keys(MEMO_TYPES)]
const ofBoth = sql.raw('books.bookId in (sourceId, targetId) and books.memberId = merged.memberId')
/** A column that the merge filled is empty again, unless it was changed since. */
const unfilled = MERGED_NAMES.map((name) => {
  const field = name.replace('Folded', '')
  return `${name} = iif(${field} is merge -> 'after' ->> '${field}', merge -> 'before' ->> '${name}', ${name})`
}).join(', ')

/**
 * The statements around those that insert the book with its tags and progress.
 * @param entry the entry, as `trash`
 * @param restored the entry once the book is back, as `trash`
 */
export const createUnmerge = (entry: SQL, restored: SQL) => {
  const withEntry = (text: TemplateStringsArray, ...parts: SQL[]) =>
    sqlStatement`with ${toMerged(entry)} ${sql(text, ...parts)}`
  const statement = (text: TemplateStringsArray, ...parts: SQL[]) =>
    sqlStatement`with ${toMerged(restored)} ${sql(text, ...parts)}`
  const back = idsOf('back')
  const isCurrentGone = sql`bookStatus <> 'YET' and ${blocks.currentId} not in ${back} and ${currentOfSource} not in ${back}`
  const isTaken = sql`books.bookStatus <> 'YET' and ${blocks.currentId} in ${back}`
  /** Marks which readings come back: those that the merge dropped as known, and those that are unchanged. */
  const markBack = withEntry`
    update trash set data = json_set(trash.data, '$.merge.back', json((
      select json_group_array(own.readingId) from ${readingsOfSource} as own
      where own.readingId not in ${idsOf('readings')} or ${isUnchanged}
    )), '$.merge.isExact', (
      select ${readingColumns} is merge -> 'readingAfter' from books where ${ofTarget('books')}
    ))
    from merged where trash.trashId = merged.sourceId`
  const readings = [
    statement`
      update readings set bookId = sourceId from merged
      where ${ofTarget('readings')} and readings.readingId in ${back} and readings.readingId is not ${currentOfSource}`,
    statement`
      delete from readings where readingId in ${back} and readingId = ${currentOfSource} and bookId = (${TARGET})`,
    statement`${blocks.promote(TARGET, isTaken)}`,
    statement`update books set ${blocks.unread()} where bookId = (${TARGET}) and ${isTaken}`,
    // Stars and times of day, too, if nothing of it has changed.
    statement`
      update books set ${sql.raw(READING_COLUMNS.map((name, at) => `${name} = ${before(at)}`).join(', '))} from merged
      where ${ofTarget('books')} and merge ->> 'isExact'
        and (bookStatus = 'YET') = (${sql.raw(before(READING_COLUMNS.indexOf('bookStatus')))} = 'YET')
        and (bookStatus = 'YET' or ${blocks.currentId} = coalesce(${sql.raw(before(READING_COLUMNS.indexOf('readingId')))}, books.bookId))`,
  ]
  const others = [
    statement`${blocks.promote(SOURCE, isCurrentGone)}`,
    statement`update books set ${blocks.unread()} where bookId = (${SOURCE}) and ${isCurrentGone}`,
    statement`${blocks.forget(sql`${SOURCE} union all ${TARGET}`)}`,
    statement`
      delete from progress where (memberId, bookId, at) in (
        select event.memberId, event.bookId, event.at from merged cross join json_each(data, '$.progress') as own
          cross join progress as event on ${ofTarget('event')} and event.at = own.value ->> 0
        where event.page = own.value ->> 1 and event.kind = own.value ->> 2 and event.minutes is own.value ->> 7
          and event.seconds is own.value ->> 8 and event.at not in ${idsOf('events')}
      )`,
    statement`
      update progress set total = (select count(*) from progress as each where ${ofTarget('each')})
      from merged where ${ofTarget('progress')} and at = ${latestOfTarget('at')}`,
    statement`
      update books set currentPage = coalesce(${latestOfTarget('page')}, merge ->> 'currentPage') from merged
      where ${ofTarget('books')} and currentPage <> coalesce(${latestOfTarget('page')}, merge ->> 'currentPage')`,
    statement`
      update documents set bookId = sourceId from merged
      where ${ofTarget('documents')} and documents.document in ${idsOf('documents')}`,
    // The unary plus keeps SQLite from reading all memos of the member.
    statement`
      update memos set bookId = sourceId from merged
      where +memos.memberId = merged.memberId and memos.bookId = targetId and (memos.memoId, memos.version) in (
        select each.value ->> 0, each.value ->> 1 from merged, json_each(merge, '$.memos') as each
      )`,
    statement`
      update members set memoBooks = memoBooks + (
        select sum(exists (select 1 from memos where memos.bookId = books.bookId) - hasMemos) from books where ${ofBoth}
      )
      from merged where members.memberId = merged.memberId`,
    statement`
      update books set ${sql.raw(counted.map((name) => `${name} = sums.${name}`).join(', '))}
      from (
        select books.bookId, ${counters} from merged cross join books on ${ofBoth}
          left join memos on memos.bookId = books.bookId group by books.bookId
      ) as sums where books.bookId = sums.bookId`,
    statement`
      update books set ${sql.raw(unfilled)}, mergedBooks = max(0, mergedBooks - 1) from merged where ${ofTarget('books')}`,
    statement`
      delete from bookTags where (memberId, tagId, bookId) in (
        select tags.memberId, tagId, targetId from merged cross join json_each(merge, '$.tags') as own
          cross join tags on tags.memberId = merged.memberId and tagKey = own.value
      )`,
  ]
  return { markBack, moveReadings: readings, takeBack: others }
}

const listBack = `(select each.value from json_each(trash.data, '$.merge.back') as each)`
/** The identifier of the current reading, for the insertion: another one if that reading stays in the target. */
export const restoredReadingId = sql`iif(
  ${sql.raw(`trash.data -> '$.merge.current' ->> 0 is not null and trash.data -> '$.merge.current' ->> 0 not in ${listBack}`)},
  ${lastReadingId} + 1, trash.data ->> 'readingId'
)`
/** Whether the reading `each` comes back, and is not there yet. True if the book was not merged. */
export const isReadingLeft = sql.raw(`(trash.data -> 'merge' is null or (
  each.value ->> 'readingId' in ${listBack}
  and not exists (select 1 from readings as there where there.readingId = each.value ->> 'readingId')
))`)
