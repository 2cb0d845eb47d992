import { type SQL, sql } from 'drizzle-orm'
import { type Statement, sqlStatement } from '../db/client'
import { nextId, READING_ID_OFFSET } from '../db/next-id'
import { readings } from '../db/reading-schema'
import { books, members, memos } from '../db/schema'
import { NEWEST_FIRST, toTimestamp } from '../readings/newest'
import { MAX_TAGS } from '../tags/schema'
import type { Arrays } from './arrays'

// The statements that commit a chunk of rows, as one transaction. An import runs without its member's session: all are scoped
// to the member by `memberId`. Arrays of any length are one JSON parameter, because D1 allows a hundred per statement.

const { placeholder } = sql

const memberId = placeholder('memberId')
const importId = placeholder('importId')
const isImport = sql`memberId = ${memberId} and importId = ${importId}`
/** Whether the chunk was claimed by this run, which `claimChunk` does first. */
const isClaimed = sql`exists (
  select 1 from imports where ${isImport} and done = ${placeholder('done')} and lease = ${placeholder('lease')}
)`
const bookCount = sql`${members.yetBooks} + ${members.ingBooks} + ${members.doneBooks}`

/**
 * Claims the rows of a chunk for this run and counts their outcomes: no other run can commit them too. Returns no row if
 * another run has taken over, the import was cancelled, the member has withdrawn, or the chunk would exceed a quota.
 */
export const claimChunk = sqlStatement<{ done: number }>(
  () => sql`
  update imports set
    done = ${placeholder('done')}, leaseEndsAt = ${placeholder('leaseEndsAt')},
    created = created + ${placeholder('created')}, updated = updated + ${placeholder('updated')},
    unchanged = unchanged + ${placeholder('unchanged')}, skipped = skipped + ${placeholder('skipped')},
    failed = failed + ${placeholder('failed')},
    status = iif(${placeholder('done')} = total, 'DONE', status)
  where ${isImport} and done = ${placeholder('doneBefore')} and lease = ${placeholder('lease')} and status = 'RUNNING'
    and isDeleted = 0
    and exists (
      select 1 from ${members} where ${members.memberId} = ${memberId} and ${members.withdrawnAt} is null
        and (${placeholder('newBooks')} = 0 or ${bookCount} + ${placeholder('newBooks')} <= ${placeholder('MAX_BOOKS')})
        and (
          ${placeholder('bytes')} = 0
          or ${members.textBytes} + ${placeholder('bytes')} <= ${placeholder('MAX_MEMBER_TEXT_BYTES')}
        )
    )
  returning done`,
)

const each = (name: string) => sql`json_each(${placeholder(name)}) as item`
const value = (name: string) => sql.raw(`item.value ->> '${name}'`)
/** The row of the report to which an item belongs, with the identifier of the book. CROSS JOIN fixes the order: parse the JSON once. */
const row = sql`importRows on importRows.memberId = ${memberId} and importRows.importId = ${importId} and importRows.row = ${value('row')}`
const lastReadingId = sql`${nextId(readings.readingId, READING_ID_OFFSET)} - 1`

const insertRows = sqlStatement(
  () => sql`
  insert into importRows (memberId, importId, row, line, title, outcome, code, losses, cells, undo, bookId)
  select ${memberId}, ${importId}, ${value('row')}, ${value('line')}, ${value('title')}, ${value('outcome')}, ${value('code')},
    item.value -> 'losses', item.value -> 'cells', item.value -> 'undo',
    iif(${value('newBook')} is null, ${value('bookId')}, ${nextId(books.bookId)} - 1 + ${value('newBook')})
  from ${each('rows')} where ${isClaimed}`,
)

const COLUMNS = [
  ...([
    'title',
    'titleFolded',
    'cover',
    'author',
    'authorFolded',
    'publisher',
    'createdAt',
    'star',
    'currentPage',
  ] as const),
  ...([
    'itemPage',
    'bookStatus',
    'readStartDate',
    'readEndDate',
    'isbn',
    'language',
    'format',
    'publishedYear',
  ] as const),
  ...(['series', 'seriesNumber', 'sourceIds'] as const),
]
const insertBooks = sqlStatement(
  () => sql`
  insert into books (bookId, memberId, newestReadingId, ${sql.raw(COLUMNS.join(', '))})
  select bookId, ${memberId},
    iif(${value('newest')} = 0, bookId, ${lastReadingId} + ${value('newest')}),
    ${sql.join(COLUMNS.map(value), sql`, `)}
  from ${each('books')} cross join ${row} where ${isClaimed}`,
)

/** The books of the library to which readings are added. */
const readBooks = sql`(select value from json_each(${placeholder('readBooks')}))`
// As `storeFirst` in readings/store.ts.
const insertFirstReadings = sqlStatement(
  () => sql`
  insert into readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters)
  select bookId, memberId, bookId, 0, substr(readStartDate, 1, 10),
    iif(bookStatus = 'DONE', substr(readEndDate, 1, 10), null), iif(bookStatus = 'DONE', 'FINISHED', null),
    nullif(star * 4, 0)
  from books where memberId = ${memberId} and bookId in ${readBooks} and newestReadingId is null and bookStatus <> 'YET'
    and ${isClaimed}`,
)
// The first reading of a new book has the identifier of the book. The others are numbered in the order of the array.
const isFirst = value('isFirst')
const insertReadings = sqlStatement(
  () => sql`
  insert into readings (
    readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters, isPaused, format, note
  )
  select
    iif(${isFirst}, bookId, ${lastReadingId} + sum(not ${isFirst}) over (order by item.key)), ${memberId}, bookId,
    iif(${isFirst}, 0, coalesce(${value('createdAt')}, ${placeholder('now')})), ${sql.join(
      ['startedAt', 'finishedAt', 'outcome', 'quarters', 'isPaused', 'format', 'note'].map(value),
      sql`, `,
    )}
  from ${each('readings')} cross join ${row} where ${isClaimed}`,
)
// As `syncBook` in readings/newest.ts, for a book whose newest reading is another one now.
const syncBooks = sqlStatement(
  () => sql`
  update books set
    newestReadingId = newest.readingId,
    bookStatus = iif(newest.outcome is null, 'ING', 'DONE'),
    readStartDate = ${toTimestamp(sql`newest.startedAt`, sql`books.readStartDate`)},
    readEndDate = iif(newest.outcome = 'FINISHED', ${toTimestamp(sql`newest.finishedAt`, sql`books.readEndDate`)}, null),
    star = coalesce(max(1, (newest.quarters + 2) / 4), books.star)
  from (
    select bookId, readingId, startedAt, finishedAt, outcome, quarters,
      row_number() over (partition by bookId order by ${NEWEST_FIRST}) as place
    from readings where memberId = ${memberId} and bookId in ${readBooks}
  ) as newest
  where books.memberId = ${memberId} and books.bookId = newest.bookId and place = 1
    and books.newestReadingId is not newest.readingId and ${isClaimed}`,
)

const FILLED = [
  ...(['cover', 'author', 'publisher', 'itemPage', 'isbn', 'language', 'format', 'publishedYear'] as const),
  ...(['series', 'seriesNumber'] as const),
]
const REPLACED = ['star', 'currentPage', 'bookStatus', 'readStartDate', 'readEndDate', 'sourceIds'] as const
/** Only if nobody changed these since the merge was planned. A page that was not planned may have changed. */
const isAsPlanned = sql.join(
  REPLACED.map((name) => {
    const planned = `item.value -> 'planned' ->> '${name}'`
    return sql.raw(`books.${name} is ${name === 'currentPage' ? `coalesce(${planned}, books.currentPage)` : planned}`)
  }),
  sql` and `,
)
const updateBooks = (overwrites: boolean) => {
  const details = FILLED.map((name) => {
    const [stored, sent] = [sql.raw(`books.${name}`), value(name)]
    return sql`${sql.raw(name)} = ${overwrites ? sql`coalesce(${sent}, ${stored})` : sql`coalesce(${stored}, ${sent})`}`
  })
  const replaced = REPLACED.map((name) => sql`${sql.raw(name)} = coalesce(${value(name)}, ${sql.raw(`books.${name}`)})`)
  return sqlStatement(
    () => sql`
    update books set ${sql.join([...details, ...replaced], sql`, `)},
      authorFolded = iif(
        ${overwrites ? sql`${value('author')} is not null` : sql`author is null and ${value('author')} is not null`},
        ${value('authorFolded')}, authorFolded
      )
    from ${each('changes')}
    where books.bookId = ${value('bookId')} and books.memberId = ${memberId} and ${isAsPlanned} and ${isClaimed}`,
  )
}
const fillBooks = updateBooks(false)
const overwriteBooks = updateBooks(true)

const insertTags = sqlStatement(
  () => sql`
  insert into tags (memberId, tagId, tag, tagKey)
  select ${memberId}, last + number, tag, tagKey
  from (select coalesce(max(tagId), 0) as last, count(*) as total from tags where memberId = ${memberId}) cross join (
    select tag, tagKey, row_number() over () as number from (
      select min(${value('tag')}) as tag, ${value('tagKey')} as tagKey from ${each('tags')} group by 2
    ) as wanted
    where not exists (select 1 from tags where tags.memberId = ${memberId} and tags.tagKey = wanted.tagKey)
  )
  where total + number <= ${sql.raw(String(MAX_TAGS))} and ${isClaimed}`,
)
const insertBookTags = sqlStatement(
  () => sql`
  insert into bookTags (memberId, tagId, bookId)
  select ${memberId}, tagId, bookId from ${each('tags')} cross join ${row}
  cross join tags on tags.memberId = ${memberId} and tags.tagKey = ${value('tagKey')}
  where ${isClaimed} on conflict do nothing`,
)

/** The contents that books of the library have already. An IN of a subquery is looked up in an index made for it. */
const storedContents = (bookIds: SQL) =>
  sql`(select bookId, memoContent from memos where bookId in ${bookIds} and memberId = ${memberId})`
const insertMemos = sqlStatement(
  () => sql`
  insert into memos (
    memoId, bookId, memberId, position, memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt, updatedAt
  )
  select ${nextId(memos.memoId)} - 1 + number, bookId, ${memberId},
    (select coalesce(max(position), 0) from memos where memberId = ${memberId}) + number,
    ${sql.join(['type', 'content', 'folded', 'page', 'authority', 'createdAt', 'updatedAt'].map(value), sql`, `)}
  from (
    select importRows.bookId, item.value, row_number() over (order by item.key) as number from ${each('memos')} cross join ${row}
    where importRows.outcome = 'created' or (importRows.bookId, ${value('content')}) not in ${storedContents(
      sql`(select value ->> 'bookId' from json_each(${placeholder('memos')}))`,
    )}
  ) as item
  where ${isClaimed}`,
)

/** The events that the books lack, in order: the triggers keep the number of events in the latest one. */
const insertProgress = sqlStatement(
  () => sql`
  insert into progress (memberId, bookId, at, page, kind, total)
  select ${memberId}, bookId, at, page, kind, number + coalesce((
    select total from progress where progress.memberId = ${memberId} and progress.bookId = added.bookId
    order by progress.at desc limit 1
  ), 0)
  from (
    select bookId, ${value('at')} as at, ${value('page')} as page, ${value('kind')} as kind,
      row_number() over (partition by bookId order by ${value('at')}) as number
    from ${each('progress')} cross join ${row}
    where not exists (
      select 1 from progress
      where progress.memberId = ${memberId} and progress.bookId = importRows.bookId and progress.at = ${value('at')}
    )
  ) as added
  where ${isClaimed} order by bookId, number`,
)
const latestPage = sql`(
  select page from progress where progress.memberId = ${memberId} and progress.bookId = books.bookId
  order by at desc limit 1
)`
// As in progress/store.ts.
const syncPages = sqlStatement(
  () => sql`
  update books set currentPage = ${latestPage}
  where memberId = ${memberId} and bookId in (select value from json_each(${placeholder('progressBooks')}))
    and currentPage <> ${latestPage} and ${isClaimed}`,
)

export type ChunkValues = { memberId: number; importId: number; done: number; lease: number }
/** The statements that write what `claimChunk` claimed. Running them twice would fail: after an error, read `done` again. */
export const commitChunk = (values: ChunkValues, now: number, overwrites: boolean, arrays: Arrays): Statement[] => {
  const { rows, books, readings, readBooks, changes, tags, memos, progress, progressBooks } = arrays
  const json = (items: unknown[]) => JSON.stringify(items)
  const statements: Statement[] = [insertRows({ ...values, rows: json(rows) })]
  if (books.length > 0) statements.push(insertBooks({ ...values, books: json(books) }))
  if (readBooks.length > 0) statements.push(insertFirstReadings({ ...values, readBooks: json(readBooks) }))
  for (const part of readings) statements.push(insertReadings({ ...values, now, readings: part }))
  if (readBooks.length > 0) statements.push(syncBooks({ ...values, readBooks: json(readBooks) }))
  if (progress.length > 0) statements.push(insertProgress({ ...values, progress: json(progress) }))
  if (progressBooks.length > 0) statements.push(syncPages({ ...values, progressBooks: json(progressBooks) }))
  const update = overwrites ? overwriteBooks : fillBooks
  if (changes.length > 0) statements.push(update({ ...values, changes: json(changes) }))
  if (tags.length > 0) {
    statements.push(insertTags({ ...values, tags: json(tags) }), insertBookTags({ ...values, tags: json(tags) }))
  }
  for (const part of memos) statements.push(insertMemos({ ...values, memos: part }))
  return statements
}
