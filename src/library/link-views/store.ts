import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod/mini'
import { openCursor, sealCursor } from '../../auth/sealed-cursor'
import { credentialOf } from '../../auth/token'
import { callerId, runAsCaller } from '../../db/caller'
import { atPrimary, type Statement, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import { isFinished } from '../../db/schema/book-tables'
import { isPublic } from '../../db/schema/memo-tables'
import { isFinishedOnKnownDay } from '../../db/schema/reading-tables'
import { shownReading } from '../../db/schema/shown-reading'
import type { Variables } from '../../env'
import { ApiError, invalidParameters } from '../../errors'
import type { LinkKind } from '../../values/contract'
import { cursorError, type List, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import type { LinkShape } from '../../values/link'
import { createZone, type Zone } from '../../values/time'
import { prepareList } from '../books/list/book-list'
import type { ListedBook } from '../books/responses'
import { type Context, loadYear } from '../stats/store'
import type { LinkedBook, LinkedMemo, LinkedReading } from './responses'
import { type LastReading, type LinkQuery, OpenedCursor } from './schema'

type Link<Kind extends LinkKind> = Extract<LinkShape, { kind: Kind }>
/** `ownerName`: null unless the link shows it. */
export type About = { linkId: string; name: string; ownerName: string | null; createdAt: number }
export type Item = LinkedBook | LinkedMemo | LinkedReading
/** What a link shows. `zone`: the member's. */
export type LinkView = About & List<Item> & { zone: Zone }

const isLink = sql`tokenHash = :callerTokenHash`
const selectAbout = sqlStatement<About & { timeZone: string | null }>`
  select tokenId as linkId, accessTokens.name, iif(showName, members.name, null) as ownerName,
    accessTokens.createdAt, timeZone
  from accessTokens join members using (memberId) where ${isLink} and memberId = ${callerId}`

/** Answers 404 for every refusal, so that it does not tell whether the link ever existed. */
const refuseAsMissing = (error: unknown) => {
  const isRefused = error instanceof ApiError && ['UNAUTHORIZED', 'INSUFFICIENT_SCOPE'].includes(error.code)
  throw isRefused ? new ApiError('LINK_NOT_FOUND') : error
}

/** The queries of a link, and what makes a list of their rows. */
type Prepared = { queries: Statement[]; toList: (rows: never[][], zone: Zone) => List<Item> }
type Page = { cursor?: OpenedCursor | undefined; size: number }

const invalidCursor = () => invalidParameters(['cursor', null, cursorError])

const toDay = (timestamp: string | null) => timestamp?.slice(0, 10) ?? null
type ShownBook = ListedBook & { outcome: LinkedBook['outcome']; quarters: number | null }
const { outcome, quarters } = shownReading()
const toLinkedBook = (book: ShownBook, { toTime }: Zone): LinkedBook => {
  const { bookId, title, author, cover, bookStatus, star, createdAt, readStartDate, readEndDate, outcome, quarters } =
    book
  const [started, finishedAt] = [toDay(readStartDate), toDay(readEndDate)]
  // A book that is being read again has the dates of its earlier reading until it gets new ones.
  const isOfEarlierReading = bookStatus === 'ING' && started !== null && finishedAt !== null && finishedAt >= started
  const dates = { startedAt: isOfEarlierReading ? null : started, finishedAt }
  // A rating of an earlier reading has no quarters.
  const rating = quarters === null ? star || null : quarters / 4
  const own = { bookId, title, author, cover, bookStatus, outcome, rating }
  return { ...own, createdAt: toInstant(toTime(createdAt)), ...dates }
}

const tagOfLink = sql`select tagId from accessTokens where ${isLink}`
const prepareShelf = ({ bookStatus, hasTag }: Link<'SHELF'>, { cursor, size }: Page): Prepared => {
  // Sorting by end with a tag would test each finished book for the tag.
  const sort = bookStatus === 'DONE' && !hasTag ? '-finished' : '-created'
  if (cursor !== undefined && (typeof cursor !== 'object' || !('sort' in cursor) || cursor.sort !== sort))
    throw invalidCursor()
  const filters = bookStatus && { status: bookStatus }
  const { rows, toList } = prepareList<ShownBook>({ ...filters, sort, cursor, size }, hasTag ? tagOfLink : undefined, {
    outcome: sql.raw(outcome),
    quarters: sql.raw(quarters),
  })
  return {
    queries: rows ? [rows] : [],
    toList: ([found], zone) => {
      const { item, next } = toList(found)
      return { item: item.map((book) => toLinkedBook(book, zone)), next }
    },
  }
}

/** A response ends with the memo that brings it to this many characters. */
const MAX_TEXT = 1024 * 1024
type MemoRow = Omit<LinkedMemo, 'createdAt' | 'updatedAt'> &
  Record<'createdAt' | 'updatedAt', string> & { characters: number }
const selectMemos = sqlStatement<MemoRow>`
  select memoId, title, author, memoType, memoContent, memoBookPage, newest.createdAt, newest.updatedAt, characters from (
    select *, sum(length(memoContent)) over (order by memoId desc rows unbounded preceding) as characters
    from (
      select memoId, bookId, memoType, memoContent, memoBookPage, createdAt, updatedAt from memos
      where memberId = ${callerId} and ${isPublic} and memoId < (:before + 0) order by memoId desc limit ${limit}
    )
  ) as newest cross join books on books.bookId = newest.bookId
  where characters - length(memoContent) < ${sql.raw(String(MAX_TEXT))} order by memoId desc`

const prepareMemos = ({ cursor, size }: Page): Prepared => {
  if (cursor !== undefined && typeof cursor !== 'number') throw invalidCursor()
  return {
    queries: [selectMemos({ before: cursor ?? Number.MAX_SAFE_INTEGER, limit: size + 1 })],
    toList: ([rows = []]: MemoRow[][], { toTime }) => {
      const page = rows.slice(0, size)
      const last = page.at(-1)
      const isCut = last && last.characters >= MAX_TEXT
      return {
        item: page.map(({ characters: _, createdAt, updatedAt, ...memo }) => ({
          ...memo,
          createdAt: toInstant(toTime(createdAt)),
          updatedAt: toInstant(toTime(updatedAt)),
        })),
        next: last && (rows.length > size || isCut) ? toCursor(last.memoId) : null,
      }
    },
  }
}

/** A row of an index of finished readings. `title`: null if the other query also returns the reading. */
type ReadingRow = {
  key: string
  id: number
  readingId: number
  rating: number | null
  title: string | null
  author: string | null
}

/** Selects rows of an index of dates, latest first, after the last one of the page before. */
const selectFinished = (rows: SQL, key: string, id: string, columns: string) => {
  const range = (condition: string, order: string) => sql`
    select * from (
      select ${sql.raw(`${key} as key, ${id} as id, readingId, bookId as ofBook, quarters, ${columns}`)} from ${rows} and ${sql.raw(condition)}
      order by ${sql.raw(order)} limit ${limit}
    )`
  // For (key, id) < (…), SQLite would read all rows with the same key again.
  const ties = range(`${key} = (:key || '') and ${id} < (:id + 0)`, `${id} desc`)
  const others = range(`${key} < (:key || '')`, `${key} desc, ${id} desc`)
  return sqlStatement<ReadingRow>`
    select key, id, found.readingId, found.quarters / 4.0 as rating, title, author
    from (${ties} union all ${others} limit ${limit}) as found left join books on isShown and books.bookId = found.ofBook
    order by key desc, id desc`
}
const selectReadings = selectFinished(
  sql`readings where memberId = ${callerId} and ${isFinishedOnKnownDay}`,
  'finishedAt',
  'readingId',
  '1 as isShown',
)
/** The current readings. Books that show the end of an earlier reading are in this index, too, and get no title. */
const selectBooks = selectFinished(
  sql`currentReadings where memberId = ${callerId} and ${isFinished}`,
  'readEndDate',
  'bookId',
  'substr(readEndDate, 1, 10) is not archivedEnd as isShown',
)

const latestFirst = (one: ReadingRow, other: ReadingRow) =>
  one.key === other.key ? other.id - one.id : one.key < other.key ? 1 : -1
const toLinkedReading = ({ key, id: _, title, ...reading }: ReadingRow): LinkedReading => ({
  ...reading,
  title: title ?? '',
  finishedAt: key.slice(0, 10),
})
// The tilde sorts after every date.
const FIRST: LastReading = ['~', Number.MAX_SAFE_INTEGER]
const prepareReadings = ({ cursor, size }: Page): Prepared => {
  if (cursor !== undefined && !Array.isArray(cursor)) throw invalidCursor()
  const [key, id] = cursor ?? FIRST
  const values = { key, id, limit: size + 1 }
  return {
    queries: [selectReadings(values), selectBooks(values)],
    toList: (lists: ReadingRow[][]) => {
      // A query that reached its limit has more rows: readings after its last row must wait for the next page.
      const ends = lists.flatMap((rows) => (rows.length > size ? rows.slice(-1) : [])).sort(latestFirst)
      const isComplete = (row: ReadingRow) => !ends[0] || latestFirst(row, ends[0]) <= 0
      const found = lists
        .flat()
        .sort(latestFirst)
        .filter((row) => row.title !== null && isComplete(row))
      const page = found.slice(0, size)
      const last = found.length > size ? page.at(-1) : ends[0]
      return {
        item: page.map(toLinkedReading),
        next: last ? toCursor([last.key, last.id]) : null,
      }
    },
  }
}

export type ListLink = Exclude<LinkShape, { kind: 'YEAR' }>
const prepare = (link: ListLink, page: Page) => {
  if (link.kind === 'SHELF') return prepareShelf(link, page)
  return link.kind === 'MEMOS' ? prepareMemos(page) : prepareReadings(page)
}

const readCursor = async (secret: string, hash: string, sealed: string | undefined) => {
  if (sealed === undefined) return undefined
  const { data, success } = z.safeParse(OpenedCursor, await openCursor(secret, hash, sealed))
  if (!success) throw invalidCursor()
  return data
}

/**
 * A page of what a link shows.
 * @throws LINK_NOT_FOUND; INVALID_PARAMETERS when the cursor is not one of this list
 */
export const listLinked = async (
  { db, caller, config: { JWT_SECRET, TIME_ZONE } }: Variables,
  link: ListLink,
  { cursor: sealed, size }: Pick<LinkQuery, 'cursor' | 'size'>,
): Promise<LinkView> => {
  const hash = credentialOf(caller)
  const cursor = await readCursor(JWT_SECRET, hash, sealed)
  const { queries, toList } = prepare(link, { cursor, size })
  const { guard, rows } = await runAsCaller(atPrimary(db), caller, { guard: selectAbout(), rows: queries }).catch(
    refuseAsMissing,
  )
  const { timeZone, ...about } = guard
  const { item, next } = toList(rows as never[][], createZone(TIME_ZONE))
  const sealedNext = next && (await sealCursor(JWT_SECRET, hash, next))
  return { ...about, item, next: sealedNext, zone: createZone(timeZone ?? TIME_ZONE) }
}

/** @throws LINK_NOT_FOUND, MAX_STATS_ROWS */
export const loadLinkedYear = async (context: Context, year: number) => {
  const primary = { ...context, db: atPrimary(context.db) }
  const { extra: about, ...loaded } = await loadYear(primary, year, 'picture', selectAbout()).catch(refuseAsMissing)
  if (!about) throw new ApiError('LINK_NOT_FOUND')
  return { ...loaded, about }
}
