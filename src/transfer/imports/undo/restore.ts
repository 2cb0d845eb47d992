import { sql } from 'drizzle-orm'
import { callerId } from '../../../db/caller'
import { sqlStatement } from '../../../db/client'
import { columnsOf, toJson } from '../../../db/json'
import { number } from '../../../db/parameters'
import { textLimit } from '../../../db/quotas'
import { currentId } from '../../../library/readings/blocks'
import { readingsOfOuter } from '../../../library/readings/lookup'
import { fieldsOf } from '../../../values/book-fields'
import { foldedColumnsOf } from '../../../values/text/folded-columns'
import { progressState, tagState } from './snapshot'
import { columnsBefore, fate, isInRange, isLeft } from './undo-readings'

// The statements that undo rows which updated books of the library: what was changed since stays. The first one marks the
// rows with what stays. Then memos are deleted, in as many batches as it takes; all else is one transaction. The last one
// deletes what was needed for the undo, so that repeating it does nothing.

const isOwnBook = sql`books.bookId = importRows.bookId and books.memberId = ${callerId}`

/** Columns that are restored one by one. */
const COLUMNS = fieldsOf('import', 'reading').filter((name) => name !== 'currentPage')
const present = toJson(columnsOf('books', COLUMNS))
const isImported = sql`importId = :importId and version = importVersion`
const ownMemos = sql`(select count(*) from memos where memos.bookId = books.bookId and importId = :importId)`
const addedMemos = sql`(undo -> 'changes' -> 'memos' ->> 1 - undo -> 'changes' -> 'memos' ->> 0)`
/** Some memos that the import added are no longer its own, and a later import may have replaced their texts. */
const hasReplacedMemos = sql`(
  ${ownMemos} < ${addedMemos}
  and exists (select 1 from memos where memos.bookId = books.bookId and importId > :importId)
)`
/** Another book was merged into this one since the import. */
const isMerged = sql`undo ->> 'merged' <> mergedBooks`
/** A merge also brought memos of the same import: the book has more of them than the import wrote for it. */
const hasMergedMemos = sql`(
  ${isMerged} and ${ownMemos} > coalesce(${addedMemos}, 0) + coalesce(json_array_length(texts), 0)
)`
const changed = sql`(
  select key from json_each(undo, '$.changes') as change
  where key in (${sql.raw(COLUMNS.map((name) => `'${name}'`).join(', '))})
    and (${present} ->> key) is not (value ->> 1) and (${present} ->> key) is not (value ->> 0)
  union all select 'memos' where exists (
    select 1 from memos where memos.bookId = books.bookId and importId = :importId and version <> importVersion
  ) or exists (
    select 1 from json_each(texts) cross join memos on memoId = value ->> 'memoId'
    where memos.bookId = books.bookId and importId is not :importId
  ) or ${hasReplacedMemos} or ${hasMergedMemos}
  union all select 'history' where undo -> 'progress' is not null and (
    ${isMerged} or undo -> '$.progress.state' <> ${progressState}
  ) or exists (
    select 1 from json_each(undo, '$.rated') as rated cross join ${readingsOfOuter} as a
    where a.readingId = rated.value ->> 0 and (a.isCurrent or a.quarters is not rated.value ->> 2)
  )
  union all select 'tags' where undo -> 'tags' is not null and (${isMerged} or exists (
    select 1 from json_each(undo, '$.tagState') where value not in (select value from json_each(${tagState}))
  ))
)`
// What comes back counts towards the quota before what is removed.
const fits = sql`exists (
  select 1 from members, (select coalesce(sum(undo ->> 'growth'), 0) as growth from importRows where ${isInRange})
  where memberId = ${callerId} and (growth = 0 or textBytes + growth <= ${textLimit})
)`
export const markRows = sqlStatement`
  update importRows set undo = json_set(
    undo, '$.left', json((select json_group_array(key) from ${changed})), '$.keepsMemos', ${hasMergedMemos},
    '$.fate', ${fate}, '$.dropped', ${currentId}
  )
  from books where ${isOwnBook} and ${isInRange} and undo -> 'left' is null and ${fits}`
/** Rows that were not marked, since the quota has no room for what they replaced. */
export const countUnmarked = sqlStatement<{ count: number }>`
  select count(*) as count from importRows join books on ${isOwnBook}
  where ${isInRange} and undo -> 'left' is null`

const marked = sql`(select bookId, undo, texts from importRows where ${isInRange} and undo -> 'left' is not null)`
const isProgressRestored = sql`(
  undo -> 'progress' is not null and 'history' not in (select value from json_each(undo, '$.left'))
)`
const withProgress = sql`(
  select bookId, undo -> 'progress' as progress, undo -> 'events' as events from ${marked} where ${isProgressRestored}
)`
/** Ratings that the import gave past readings. */
export const restoreRatings = sqlStatement`
  update readings set quarters = rated.value ->> 1
  from ${marked} as row, json_each(undo, '$.rated') as rated
  where readings.readingId = rated.value ->> 0 and +readings.memberId = ${callerId}
    and readings.quarters is rated.value ->> 2`
// Also the event that a trigger has just added for the page.
export const deleteProgress = sqlStatement`
  delete from progress where memberId = ${callerId} and (bookId, at) in (
    select progress.bookId, at from ${withProgress} as row
    cross join progress on progress.memberId = ${callerId} and progress.bookId = row.bookId
    where at > coalesce(row.progress ->> 'latestAt', -9e15) or at in (select value from json_each(events))
  )`
export const countProgress = sqlStatement`
  update progress set total = (
    select count(*) from progress as each where each.memberId = progress.memberId and each.bookId = progress.bookId
  )
  where memberId = ${callerId} and (bookId, at) in (
    select bookId, (select max(at) from progress where progress.memberId = ${callerId} and progress.bookId = row.bookId)
    from ${withProgress} as row
  )`

const isWritten = (name: string) =>
  `undo -> 'changes' -> '${name}' is not null and ${name} is undo -> 'changes' -> '${name}' ->> 1`
const restored = COLUMNS.map(
  (name) => `${name} = iif(${isWritten(name)}, undo -> 'changes' -> '${name}' ->> 0, ${name})`,
)
const restoredFolds = foldedColumnsOf(COLUMNS).map(
  ([name, column]) => `${column} = iif(${isWritten(name)}, undo ->> '${column}', ${column})`,
)
export const restoreColumns = sqlStatement`
  update books set ${sql.raw([...restored, ...restoredFolds].join(', '))}, ${columnsBefore},
    currentPage = iif(${isProgressRestored}, undo -> 'progress' ->> 'currentPage', currentPage)
  from (select bookId as undoneId, undo, row_number() over (order by bookId) as place from ${marked})
  where books.bookId = undoneId and +books.memberId = ${callerId}`

export const restoreTexts = sqlStatement`
  update memos set
    memoContent = text.value ->> 'content', contentFolded = text.value ->> 'folded', updatedAt = text.value ->> 'updatedAt',
    importId = text.value ->> 'importId', version = :version, importVersion = :version
  from ${marked} as row, json_each(texts) as text
  where memos.memoId = text.value ->> 'memoId' and +memos.memberId = ${callerId} and ${isImported}`
// The unary plus keeps SQLite from reading all memos of the member.
/** Matches memos that the rows added, at most `most`. After the texts: those memos are of an earlier import again. */
export const removableMemos = (most: number) => sql`memoId in (
  select memoId from ${marked} as row cross join memos on memos.bookId = row.bookId
  where +memos.memberId = ${callerId} and ${isImported} and not coalesce(undo ->> 'keepsMemos', false)
  limit ${number(most)}
)`
export const deleteTags = sqlStatement`
  delete from bookTags where memberId = ${callerId} and (tagId, bookId) in (
    select tagId, bookId from ${marked} as row, json_each(undo, '$.tags') as tag
    cross join tags on tags.memberId = ${callerId} and tags.tagKey = tag.value
    where 'tags' not in (select value from json_each(undo, '$.left'))
  )`

export const deleteSnapshots = sqlStatement`
  update importRows set texts = null, undo = json_object('left', json(iif(
    ${isLeft} and 'history' not in (select value from json_each(undo, '$.left')),
    json_insert(undo -> 'left', '$[#]', 'history'), undo -> 'left'
  )))
  from books where ${isOwnBook} and ${isInRange} and undo -> 'left' is not null`
