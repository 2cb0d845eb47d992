import { type SQL, sql } from 'drizzle-orm'
import { callerId, isOwnRow, isOwnSparseRow, runAsCaller } from '../../db/caller'
import { firstRow, idempotent, sqlStatement } from '../../db/client'
import { isOwnBook } from '../../db/own-book'
import { number } from '../../db/parameters'
import { bookLimit, type OwnQuotas, quotasOf, textLimit } from '../../db/quotas'
import { memos } from '../../db/schema/memo-tables'
import { trash } from '../../db/schema/trash-tables'
import type { CallerRequest } from '../../env'
import { ApiError, type ErrorCode, quotaExceeded } from '../../errors'
import { limitsOf, type Quota, type Quotas } from '../../values/quotas'
import { DAY_MS } from '../../values/time'
import type { ListedBook } from '../books/responses'
import { LISTED_COLUMNS } from '../books/store'
import { memoColumns } from '../memos/memo-lists'
import type { MemoOfBook } from '../memos/responses'
import { MAX_BOOK_TAGS, MAX_TAGS } from '../tags/schema'
import { BOOK_NAMES, MEMO_NAMES, READING_NAMES } from './removal'
import type { Restored } from './responses'
import { KEPT_DAYS, toTrashId } from './schema'
import { createUnmerge, isReadingLeft, restoredReadingId } from './unmerge'

const callersId = sql.raw('caller.id')
/** Whether an entry of the trash can still be restored. */
export const isKept = sql`trash.deletedAt > :callerNow - ${number(KEPT_DAYS * DAY_MS)}`
const isOwnEntry = (caller: SQL = callerId) =>
  sql`${isOwnSparseRow(trash.trashId, trash.memberId, caller)} and ${isKept}`

const valuesOf = (json: string, names: string[]) => sql.raw(names.map((name) => `${json} ->> '$.${name}'`).join(', '))
const listOf = (names: string[]) => sql.raw(names.join(', '))

const ofMember = (condition: SQL) => sql`(select ${condition} from members where members.memberId = trash.memberId)`
const hasRoomForBook = ofMember(sql`yetBooks + ingBooks + doneBooks < ${bookLimit}`)
const hasRoomForText = ofMember(sql`textBytes - trash.bytes + trash.price <= ${textLimit}`)

const ownTags = sql.raw('tags where tags.memberId = trash.memberId')
const lastTagId = sql`(select coalesce(max(tagId), 0) from ${ownTags})`
const sentTags = sql.raw(`json_each(trash.data, '$.tags') as sent`)
const isNewTag = sql`not exists (select 1 from ${ownTags} and tagKey = sent.value ->> 0)`
// A member has at most as many tags as the last tagId, so most members' tags need not be counted.
const hasRoomForTags = sql`(
  ${lastTagId} <= ${number(MAX_TAGS - MAX_BOOK_TAGS)}
  or (select count(*) from ${ownTags}) + (select count(*) from ${sentTags} where ${isNewTag}) <= ${number(MAX_TAGS)}
)`

// The first sync of a client begins a log, which keeps the newest 20,000 entries. Each memo of a restored book has one, and
// may trim an old one: a batch that restores 3,000 memos into a full log would change over 10,000 rows.
const MAX_MEMOS_INTO_FULL_LOG = 1500
const MAX_ENTRIES = 16_000
const hasRoomInLog = sql`(trash.memoCount <= ${number(MAX_MEMOS_INTO_FULL_LOG)} or coalesce(
  (select max(seq) from changes where changes.memberId = trash.memberId)
    - (select min(seq) from changes where changes.memberId = trash.memberId), 0) < ${number(MAX_ENTRIES)})`
const trimLog = sqlStatement`
  delete from changes where memberId = ${callerId}
    and seq <= (select max(seq) from changes where memberId = ${callerId}) - ${number(MAX_ENTRIES)}`

type Found<Room extends string> = OwnQuotas & { trashId: number | null } & Record<Room, number>
/** As the guard of a batch: whether the entry exists, and what has room for it. `trashId` is null without an entry. */
const selectEntry = <Room extends string>(room: Record<Room, SQL>) => sqlStatement<Found<Room>>`
  select trash.trashId, maxBooks, maxTextBytes, ${sql.join(
    Object.entries<SQL>(room).map(([name, value]) => sql`${value} as ${sql.raw(name)}`),
    sql`, `,
  )}
  from (select ${callerId} as id limit 1) as caller cross join members on members.memberId = caller.id
    left join trash on ${isOwnEntry(callersId)}
  where caller.id is not null`

const quotaError = (quota: Quota, config: Quotas, own: OwnQuotas) => quotaExceeded(quota, quotasOf(config, own))

// Each statement after the first depends on the book that this one has inserted: only while a book is being restored, it
// is both in the library and in the trash.
const BOOK_COLUMNS = BOOK_NAMES.filter((name) => name !== 'readingId')
const ROOM = { hasRoomForBook, hasRoomForText, hasRoomForTags, hasRoomInLog }
const isMerged = sql.raw(`trash.data -> 'merge' is not null`)
const selectBookEntry = selectEntry({ ...ROOM, isMerged })
const entryWithRoom = sql`(
  select * from trash where trashId > 0 and ${isOwnEntry()} and ${sql.join(Object.values(ROOM), sql` and `)}
) as trash`
const insertBookIf = (condition: SQL) => sqlStatement`
  insert into books (bookId, memberId, readingId, ${listOf(BOOK_COLUMNS)})
  select trashId, memberId, ${restoredReadingId}, ${valuesOf('trash.data', BOOK_COLUMNS)} from ${entryWithRoom}
  where ${condition}`
const restored = sql`(
  select trash.* from trash cross join books on books.bookId = trash.trashId and books.memberId = trash.memberId
  where ${isOwnEntry()}
) as trash`
const insertTags = sqlStatement`
  insert into tags (memberId, tagId, tag, tagKey)
  select memberId, ${lastTagId} + 1 + sent.key, sent.value ->> 1, sent.value ->> 0
  from ${restored} cross join ${sentTags} where ${isNewTag}`
const insertBookTags = sqlStatement`
  insert into bookTags (memberId, tagId, bookId)
  select tags.memberId, tags.tagId, trashId
  from ${restored} cross join ${sentTags} cross join tags on tags.memberId = trash.memberId and tagKey = sent.value ->> 0`
const itemsOf = (kind: 'readings' | 'memos') => sql`${restored}
  cross join trashParts on trashParts.memberId = trash.memberId and trashParts.bookId = trashId and kind = ${sql.raw(`'${kind}'`)}
  cross join json_each(trashParts.data) as each`
const insertReadings = sqlStatement`
  insert into readings (memberId, bookId, ${listOf(READING_NAMES)})
  select trash.memberId, trashId, ${valuesOf('each.value', READING_NAMES)} from ${itemsOf('readings')}
  where ${isReadingLeft}`
const insertProgress = sqlStatement`
  insert into progress (memberId, bookId, at, page, kind, total, tokenId, pageBefore, begins, minutes, seconds)
  select memberId, trashId, each.value ->> 0, each.value ->> 1, each.value ->> 2, each.value ->> 3, each.value ->> 4,
    each.value ->> 5, each.value ->> 6, each.value ->> 7, each.value ->> 8
  from ${restored} cross join json_each(trash.data, '$.progress') as each order by each.key`
const lastPosition = sql`(select coalesce(max(position), 0) from memos where memos.memberId = trash.memberId)`
const insertMemos = sqlStatement`
  insert into memos (memberId, bookId, position, ${listOf(MEMO_NAMES)})
  select trash.memberId, trashId, ${lastPosition} + row_number() over (order by each.value ->> '$.memoId'),
    ${valuesOf('each.value', MEMO_NAMES)}
  from ${itemsOf('memos')}`
/** Identifiers up to the highest existing one need not be kept, and a restored row may have them. */
const forgetRetired = sqlStatement`
  delete from retiredIds where id <= iif(
    tableName = 'books', (select max(bookId) from books), tableName = 'memos', (select max(memoId) from memos),
    max(
      coalesce((select max(readingId) from readings), 0),
      coalesce((select max(readingId) from books where readingId is not null), 0)
    )
  ) and exists (select 1 from trash where ${isOwnEntry()})`
const deleteEntry = (isRestored: SQL) => sqlStatement`delete from trash where ${isOwnEntry()} and ${isRestored}`
const deleteBookEntry = deleteEntry(
  sql`exists (select 1 from books where books.bookId = trash.trashId and books.memberId = trash.memberId)`,
)
const selectBook = sqlStatement<ListedBook>`
  select ${listOf(LISTED_COLUMNS)} from books where ${isOwnBook}`

const insertDetails = [insertTags, insertBookTags, insertReadings, insertProgress, insertMemos]
const RESTORE = [insertBookIf(sql`not ${isMerged}`), ...insertDetails, forgetRetired, deleteBookEntry]
const { markBack, moveReadings, takeBack } = createUnmerge(entryWithRoom, restored)
const UNMERGE = [
  ...[markBack, insertBookIf(isMerged), ...moveReadings, ...insertDetails, ...takeBack, forgetRetired],
  deleteBookEntry,
]

/**
 * Restores a book with all that belonged to it. Returns the book, also if it is in the library already, so that a
 * request can be repeated; undefined if it is neither there nor in the trash.
 * @throws MAX_BOOKS, MAX_MEMBER_TEXT_BYTES or MAX_TAGS when there is no room: then nothing changes
 */
const restoreBook = async ({ db, caller, config }: CallerRequest, bookId: number): Promise<ListedBook | undefined> => {
  const values = { trashId: bookId, bookId, ...limitsOf(config) }
  const attempt = (statements: typeof RESTORE) =>
    runAsCaller(db, caller, {
      guard: selectBookEntry(values),
      restored: statements.map((statement) => idempotent(statement(values))),
      book: firstRow(selectBook(values)),
    })
  const { guard, book } = await attempt(RESTORE)
  if (book || guard.trashId === null) return book
  if (!guard.hasRoomForBook) throw quotaError('MAX_BOOKS', config, guard)
  if (!guard.hasRoomForText) throw quotaError('MAX_MEMBER_TEXT_BYTES', config, guard)
  if (!guard.hasRoomForTags) throw new ApiError('MAX_TAGS')
  if (!guard.hasRoomInLog) await runAsCaller(db, caller, { trimmed: idempotent(trimLog()) })
  return (await attempt(guard.isMerged ? UNMERGE : RESTORE)).book
}

const ofBook = (condition: SQL) => sql`coalesce((
  select ${condition} from books where books.bookId = trash.bookId and books.memberId = trash.memberId
), 0)`
const content = sql.raw(`octet_length(trash.data ->> 'memoContent')`)
const MEMO_ROOM = {
  hasBook: ofBook(sql`1`),
  hasRoomForMemo: ofBook(sql`memoCount < :MAX_MEMOS_PER_BOOK`),
  hasRoomInBook: ofBook(sql`memoBytes + ${content} <= :MAX_BOOK_TEXT_BYTES`),
  hasRoomForText,
}
const selectMemoEntry = selectEntry<keyof typeof MEMO_ROOM | 'bookInTrash'>({
  ...MEMO_ROOM,
  bookInTrash: sql`(
    select book.trashId from trash as book where book.trashId = trash.bookId and book.memberId = trash.memberId
  )`,
})
const insertMemo = sqlStatement`
  insert into memos (memberId, bookId, position, ${listOf(MEMO_NAMES)})
  select memberId, bookId, ${lastPosition} + 1, ${valuesOf('trash.data', MEMO_NAMES)} from trash
  where trashId < 0 and ${isOwnEntry()} and ${sql.join(Object.values(MEMO_ROOM), sql` and `)}`
const deleteMemoEntry = deleteEntry(
  sql`exists (select 1 from memos where memos.memoId = -trash.trashId and memos.memberId = trash.memberId)`,
)
const selectMemo = sqlStatement<MemoOfBook>`
  select ${memoColumns}, bookId from memos where ${isOwnRow(memos.memoId, memos.memberId)}`

/** @param bookInTrash the book, if it can be restored first */
const bookNotInLibrary = (bookInTrash: number | null) => {
  const message = bookInTrash
    ? `The book of this memo is in the trash: restore ${toTrashId(bookInTrash)} first`
    : 'The book of this memo was deleted for good: the memo cannot be restored'
  return new ApiError('BOOK_NOT_IN_LIBRARY', { message })
}

/** Why a memo has no room, in this order. */
const REFUSALS = [
  ['hasRoomForMemo', 'MAX_MEMOS_PER_BOOK'],
  ['hasRoomInBook', 'MAX_BOOK_TEXT_BYTES'],
] as const satisfies (readonly [keyof typeof MEMO_ROOM, Quota & ErrorCode])[]

/**
 * Restores a memo to its book. Returns it also if it is in the library already; undefined if it is neither there nor in
 * the trash.
 * @throws BOOK_NOT_IN_LIBRARY when its book is not in the library; MAX_MEMOS_PER_BOOK, MAX_BOOK_TEXT_BYTES or
 * MAX_MEMBER_TEXT_BYTES when there is no room
 */
const restoreMemo = async ({ db, caller, config }: CallerRequest, memoId: number) => {
  const values = { trashId: -memoId, memoId, ...limitsOf(config) }
  const { guard, memo } = await runAsCaller(db, caller, {
    guard: selectMemoEntry(values),
    restored: [insertMemo, forgetRetired, deleteMemoEntry].map((statement) => idempotent(statement(values))),
    memo: firstRow(selectMemo(values)),
  })
  if (memo || guard.trashId === null) return memo
  if (!guard.hasBook) throw bookNotInLibrary(guard.bookInTrash)
  const [, quota] = REFUSALS.find(([name]) => !guard[name]) ?? [undefined, 'MAX_MEMBER_TEXT_BYTES' as const]
  throw quotaError(quota, config, guard)
}

/** Restores a book or a memo. Returns undefined if the caller has no such entry. @throws the errors of both */
export const restore = async (request: CallerRequest, trashId: number): Promise<Restored | undefined> => {
  if (trashId > 0) {
    const book = await restoreBook(request, trashId)
    return book && { book, memo: null }
  }
  const memo = await restoreMemo(request, -trashId)
  return memo && { book: null, memo }
}
