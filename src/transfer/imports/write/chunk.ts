import { type SQL, sql } from 'drizzle-orm'
import { type Statement, sqlStatement } from '../../../db/client'
import { nextId } from '../../../db/next-id'
import { books } from '../../../db/schema/book-tables'
import { memos } from '../../../db/schema/memo-tables'
import { MAX_TAGS } from '../../../library/tags/schema'
import type { Arrays } from '../plan/arrays'
import { each, importId, isClaimed, memberId, row, value } from './chunk-claim'
import { insertFirstReadings, insertProgress, insertReadings, lastReadingId, syncBooks, syncPages } from './history'

// The statements that commit a chunk of rows, as one transaction.

const { placeholder } = sql

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

const FILLED = [
  ...(['cover', 'author', 'publisher', 'itemPage', 'isbn', 'language', 'format', 'publishedYear'] as const),
  ...(['series', 'seriesNumber'] as const),
]
const REPLACED = ['star', 'currentPage', 'bookStatus', 'readStartDate', 'readEndDate', 'sourceIds'] as const
/** Whether these columns are as they were when the merge was planned. Those that `planned` leaves out may have changed. */
const isAsPlanned = sql.join(
  REPLACED.map((name) => {
    const planned = `item.value -> 'planned' -> '${name}'`
    // Without the key, this is null. The value null is JSON.
    return sql.raw(`(${planned} is null or books.${name} is ${planned} ->> '$')`)
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

/** The memo contents that the books already have. For IN, SQLite builds a temporary index of the subquery. */
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

export type ChunkValues = { memberId: number; importId: number; done: number; lease: number }
/** The statements that write what `claimChunk` claimed. Not idempotent: after an error, read `done` again. */
export const commitChunk = (values: ChunkValues, now: number, overwrites: boolean, arrays: Arrays): Statement[] => {
  const { rows, books, readings, readBooks, changes, tags, memos, progress, progressBooks } = arrays
  const ofReadings = { ...values, readBooks: JSON.stringify(readBooks) }
  const update = overwrites ? overwriteBooks : fillBooks
  return [
    ...rows.map((part) => insertRows({ ...values, rows: part })),
    ...books.map((part) => insertBooks({ ...values, books: part })),
    ...(readBooks.length > 0 ? [insertFirstReadings(ofReadings)] : []),
    ...readings.map((part) => insertReadings({ ...values, now, readings: part })),
    ...(readBooks.length > 0 ? [syncBooks(ofReadings)] : []),
    ...progress.map((part) => insertProgress({ ...values, progress: part })),
    ...(progressBooks.length > 0 ? [syncPages({ ...values, progressBooks: JSON.stringify(progressBooks) })] : []),
    ...changes.map((part) => update({ ...values, changes: part })),
    ...tags.flatMap((part) => [insertTags({ ...values, tags: part }), insertBookTags({ ...values, tags: part })]),
    ...memos.map((part) => insertMemos({ ...values, memos: part })),
  ]
}
