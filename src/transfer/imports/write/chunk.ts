import { sql } from 'drizzle-orm'
import { type Statement, sqlStatement, type Values } from '../../../db/client'
import { nextId } from '../../../db/next-id'
import { books } from '../../../db/schema/book-tables'
import { memos } from '../../../db/schema/memo-tables'
import { MAX_TAGS } from '../../../library/tags/schema'
import { foldedColumnsOf } from '../../../values/text/folded-columns'
import { BOOK_COLUMNS, memoKey } from '../../book-columns'
import { SET_COLUMNS } from '../plan/current-reading'
import { toJsonArrays } from '../run-context'
import { progressBefore, progressState, readingAfter, readingBefore, snapshot, tagState } from '../undo/snapshot'
import { isClaimed, itemBook, items, itemsOfBooks, jsonOf, value, values } from './chunk-claim'
import { type toItems, UPDATED } from './chunk-items'
import * as history from './history'

// The statements that commit a chunk of rows, as one transaction.

const FOLDED = foldedColumnsOf(BOOK_COLUMNS)
const INSERTED = [...new Set([...BOOK_COLUMNS, ...SET_COLUMNS, ...FOLDED.map(([, column]) => column), 'activityAt'])]
const insertBooks = sqlStatement`
  insert into books (bookId, memberId, ${sql.raw(INSERTED.join(', '))})
  select bookId, :memberId, ${values(...INSERTED)}
  from (select value, ${nextId(books.bookId)} - 1 + row_number() over (order by key) as bookId from ${items}) as item
  where ${isClaimed}`

/** Whether the columns that the item expects are as they were when the row was planned. */
const isAsExpected = sql.raw(
  UPDATED.map((name) => {
    const expected = `item.value -> 'expected' -> '${name}'`
    // Without the key, this is null. The value null is JSON.
    return `(${expected} is null or books.${name} is ${expected} ->> '$')`
  }).join(' and '),
)
const updateBooks = sqlStatement`
  update books set ${sql.join(
    UPDATED.map((name) => sql`${sql.raw(name)} = coalesce(${value(name)}, ${sql.raw(`books.${name}`)})`),
    sql`, `,
  )},
    ${sql.join(
      FOLDED.map(([name, column]) => {
        const current = sql.raw(column)
        return sql`${current} = iif(${value(name)} is null, ${current}, ${value(column)})`
      }),
      sql`, `,
    )}
  from ${items}
  where books.bookId = ${value('bookId')} and +books.memberId = :memberId and ${isAsExpected} and ${isClaimed}`

const insertTags = sqlStatement`
  insert into tags (memberId, tagId, tag, tagKey)
  select :memberId, last + number, tag, tagKey
  from (select coalesce(max(tagId), 0) as last, count(*) as total from tags where memberId = :memberId) cross join (
    select tag, tagKey, row_number() over () as number from (
      select min(${value('tag')}) as tag, ${value('tagKey')} as tagKey from ${items} group by 2
    ) as wanted
    where not exists (select 1 from tags where tags.memberId = :memberId and tags.tagKey = wanted.tagKey)
  )
  where total + number <= ${sql.raw(String(MAX_TAGS))} and ${isClaimed}`
const insertBookTags = sqlStatement`
  insert into bookTags (memberId, tagId, bookId)
  select :memberId, tagId, books.bookId from ${itemsOfBooks}
  cross join tags on tags.memberId = :memberId and tags.tagKey = ${value('tagKey')}
  where ${isClaimed} on conflict do nothing`

// For IN, SQLite builds a temporary index of the memos that the books of the library have.
export const insertMemos = sqlStatement`
  insert into memos (
    memoId, bookId, memberId, position, memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt, updatedAt,
    version, importId, importVersion, importSource
  )
  select ${nextId(memos.memoId)} - 1 + number, bookId, :memberId,
    (select coalesce(max(position), 0) from memos where memberId = :memberId) + number,
    ${values('type', 'content', 'folded', 'page', 'authority', 'createdAt', 'updatedAt', 'version')},
    :importId, ${values('version', 'source')}
  from (
    select books.bookId, item.value, row_number() over (order by item.key) as number from ${itemsOfBooks}
    where ${value('newer')} is not null or ${memoKey(sql`books.bookId`, value('content'))} not in (
      select ${memoKey(sql`bookId`, sql`memoContent`)} from memos
      where +memberId = :memberId and bookId in (select value ->> 'bookId' from ${items})
    )
  ) as item
  where ${isClaimed}`

const updateTexts = sqlStatement`
  update memos set memoContent = ${value('content')}, contentFolded = ${value('folded')}, updatedAt = ${value('updatedAt')},
    version = ${value('version')}, importId = :importId, importVersion = ${value('version')}
  from ${items}
  where memos.memoId = ${value('memoId')} and +memos.memberId = :memberId
    and memos.version = ${value('replacedVersion')} and ${isClaimed}`

// Sending them again brings back the texts that they had.
const forgetSentFiles = sqlStatement`
  update imports set fileHash = null
  where memberId = :memberId and importId <> :importId and fileHash is not null and ${isClaimed}`

const replacedTexts = sql`(
  select json_group_array(json_object(
    'memoId', memoId, 'content', memoContent, 'folded', contentFolded, 'updatedAt', updatedAt, 'importId', importId
  )) from memos
  where +memos.memberId = :memberId and memoId in (select value from json_each(${jsonOf('texts')}))
)`
// Before the books change, because it has what the import overwrites.
const insertReport = sqlStatement`
  insert into importRows (memberId, importId, row, line, title, outcome, code, losses, cells, undo, texts, bookId)
  select :memberId, :importId, ${values('row', 'line', 'title', 'outcome', 'code')}, ${jsonOf('losses')}, ${jsonOf('cells')},
    json_set(
      json_replace(
        ${jsonOf('undo')}, '$.reading', json(iif(${jsonOf('undo')} ->> 'reading', ${readingBefore}, null)),
        '$.progress', json(iif(${jsonOf('undo')} ->> 'progress', ${progressBefore}, null))
      ),
      '$.merged', mergedBooks
    ),
    iif(${jsonOf('texts')} is null, null, ${replacedTexts}), ${value('bookId')}
  from ${items} left join ${itemBook} where ${isClaimed}`
const completeReport = sqlStatement`
  update importRows set undo = json_set(
    json_replace(
      undo, '$.reading', json_patch(undo -> 'reading', ${readingAfter}),
      '$.progress', json_patch(undo -> 'progress', json_object('state', ${progressState}))
    ),
    '$.tagState', ${tagState}
  )
  from books where books.bookId = importRows.bookId and +books.memberId = :memberId
    and importRows.memberId = :memberId and importRows.importId = :importId and row in (select ${value('row')} from ${items}) and ${isClaimed}`
// After all else, because it has what the import made of the books.
const insertReportOfNew = sqlStatement`
  insert into importRows (memberId, importId, row, line, title, outcome, code, losses, undo, bookId)
  select :memberId, :importId, ${values('row', 'line', 'title', 'outcome', 'code')}, ${jsonOf('losses')},
    json_set(${snapshot}, '$.origin', ${value('origin')}, '$.similarTo', ${value('similarTo')}), books.bookId
  from ${itemsOfBooks} where ${isClaimed}`

/**
 * The statements that write what `claimChunk` claimed. Not idempotent, so not retried: the next run continues after
 * `done`.
 * @param ofChunk its `now` is in milliseconds since 1970; the items have local times
 */
export const writeChunk = (
  ofChunk: { memberId: number; importId: number; done: number; lease: number; now: number },
  lists: ReturnType<typeof toItems>,
) => {
  const movedBack = lists.readings.filter(({ isMovedBack }) => isMovedBack)
  const writes: [write: (values: Values) => Statement, list: unknown[]][] = [
    [insertReport, lists.report],
    [insertBooks, lists.books],
    [history.rateReadings, lists.rated],
    [history.keepMovedBack, movedBack],
    [history.moveBack, movedBack],
    [history.updateReadings, lists.readings.filter(({ current }) => current)],
    [history.insertReadings, lists.pastReadings],
    [history.keepOvertaken, lists.readings],
    [history.beginReadings, lists.readings.filter(({ open }) => open)],
    [history.promoteReadings, lists.readings],
    [history.insertProgress, lists.progress],
    [history.insertSittings, lists.sittings],
    [history.syncPages, lists.progressBooks],
    [updateBooks, lists.changes],
    [insertTags, lists.tags],
    [insertBookTags, lists.tags],
    [insertMemos, lists.memos],
    [updateTexts, lists.texts],
    [forgetSentFiles, lists.texts.slice(0, 1)],
    [completeReport, lists.report.filter(({ undo }) => undo?.reading || undo?.progress || undo?.tags)],
    [insertReportOfNew, lists.reportOfNew],
  ]
  return writes.flatMap(([write, list]) => toJsonArrays(list).map((items) => write({ ...ofChunk, items })))
}
