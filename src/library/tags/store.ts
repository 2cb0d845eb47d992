import { sql } from 'drizzle-orm'
import { type Caller, callerId, queryAll, runAsCaller } from '../../db/caller'
import { type Db, idempotent, sqlStatement } from '../../db/client'
import { isOwnBook, selectBook } from '../../db/own-book'
import { joinPage, pagesOf } from '../../db/pages'
import { ApiError } from '../../errors'
import { toPage } from '../../values/paging'
import { fold } from '../../values/text/fold'
import type { LibraryBook } from '../books/responses'
import { LIBRARY_COLUMNS } from '../books/store'
import type { Tag } from './responses'
import { type BookTags, MAX_BOOK_TAGS, MAX_TAGS, type TaggedQuery } from './schema'

type KeyedTag = { tag: string; tagKey: string }
const selectBookTags = sqlStatement<KeyedTag>`
  select tag, tagKey from bookTags cross join tags using (memberId, tagId)
  where bookTags.memberId = ${callerId} and bookId = :bookId order by tagKey`

const toNames = (rows: KeyedTag[]): BookTags => ({ tags: rows.map(({ tag }) => tag) })

/** The tags of a book, by key. Returns undefined if the caller has no such book. */
export const listBookTags = async (db: Db, caller: Caller, bookId: number): Promise<BookTags | undefined> => {
  const { guard, tags } = await runAsCaller(db, caller, {
    guard: selectBook({ bookId }),
    tags: selectBookTags({ bookId }),
  })
  return guard.bookId === null ? undefined : toNames(tags)
}

// The parameter `tags` is a JSON array of pairs: key and tag.
const wanted = sql`json_each(:tags) as wanted`
const key = sql.raw(`wanted.value ->> 0`)
const exists = sql`exists (select 1 from tags where tags.memberId = ${callerId} and tagKey = ${key})`
/** False if the new tags would have exceeded the limit: then the tags of the book do not change. */
const areAllStored = sql`not exists (select 1 from ${wanted} where not ${exists})`

const lastTagId = sql`(select coalesce(max(tagId), 0) from tags where tags.memberId = books.memberId)`
/** How many tags the member would have. Removing a tag from its only book deletes it. */
const tagCountAfter = sql`
  (select count(*) from tags where tags.memberId = books.memberId)
  + (select count(*) from ${wanted} where not ${exists})
  - (
    select count(*) from bookTags cross join tags using (memberId, tagId)
    where bookTags.memberId = books.memberId and bookTags.bookId = books.bookId and bookCount = 1
      and tagKey not in (select ${key} from ${wanted})
  )`
// A member has at most as many tags as the last tagId, so most members' tags need not be counted.
const insertNewTags = sqlStatement`
  insert into tags (memberId, tagId, tag, tagKey)
  select books.memberId, ${lastTagId} + 1 + wanted.key, wanted.value ->> 1, ${key} from books cross join ${wanted}
  where ${isOwnBook} and not ${exists}
    and (${lastTagId} <= ${sql.raw(String(MAX_TAGS - MAX_BOOK_TAGS))} or ${tagCountAfter} <= ${sql.raw(String(MAX_TAGS))})`
const removeOtherTags = sqlStatement`
  delete from bookTags where memberId = ${callerId} and bookId = :bookId
    and (select tagKey from tags where tags.memberId = bookTags.memberId and tags.tagId = bookTags.tagId)
      not in (select ${key} from ${wanted})
    and ${areAllStored}`
const addTags = sqlStatement`
  insert into bookTags (memberId, tagId, bookId)
  select books.memberId, tagId, books.bookId
  from books cross join ${wanted} cross join tags on tags.memberId = books.memberId and tagKey = ${key}
  where ${isOwnBook} and ${areAllStored}
  on conflict do nothing`

/**
 * Replaces the tags of a book. A tag that the member already has keeps its spelling, and of tags that differ only in
 * case the first one counts. Returns undefined if the caller has no such book.
 * @throws MAX_TAGS when the member would have too many tags; then nothing changes
 */
export const setBookTags = async (db: Db, caller: Caller, bookId: number, { tags }: BookTags) => {
  const byKey = new Map(tags.toReversed().map((tag) => [fold(tag), tag]))
  const values = { bookId, tags: JSON.stringify([...byKey]) }
  const { guard, rows } = await runAsCaller(db, caller, {
    guard: selectBook(values),
    inserted: idempotent(insertNewTags(values)),
    removed: idempotent(removeOtherTags(values)),
    added: idempotent(addTags(values)),
    rows: selectBookTags(values),
  })
  if (guard.bookId === null) return undefined
  const stored = new Set(rows.map(({ tagKey }) => tagKey))
  if ([...byKey.keys()].some((wantedKey) => !stored.has(wantedKey))) throw new ApiError('MAX_TAGS')
  return toNames(rows)
}

const selectTags = sqlStatement<Tag>`
  select tag, bookCount from tags where memberId = ${callerId} order by tagKey`

/** The caller's tags, by key. */
export const listTags = (db: Db, caller: Caller) => queryAll(db, caller, selectTags())

export const isTag = (name: string) => sql`memberId = ${callerId} and tagKey = ${sql.raw(`:${name}`)}`
export const tagId = (name: string) => sql`(select tagId from tags where ${isTag(name)})`
export const selectTag = (name: string) => sqlStatement<Tag>`select tag, bookCount from tags where ${isTag(name)}`

const selectCount = selectTag('key')
const bookCount = sql`(select bookCount from tags where ${isTag('key')})`
// The offset skips entries of the index, not books.
const selectTagged = pagesOf<LibraryBook>(
  bookCount,
  ({ desc, limit, offset }) => sql`
    select ${LIBRARY_COLUMNS} from books where bookId in (
      select bookId from bookTags where memberId = ${callerId} and tagId = ${tagId('key')}
      order by bookId ${desc} limit ${limit} offset ${offset}
    ) order by bookId ${desc}`,
)

/** Books with a tag, newest first. */
export const listTagged = async (db: Db, caller: Caller, { tag, ...paging }: TaggedQuery) => {
  const key = { key: fold(tag) }
  const { tags, items } = await runAsCaller(db, caller, { tags: selectCount(key), items: selectTagged(paging, key) })
  return toPage(joinPage(items), tags[0]?.bookCount ?? 0, paging)
}
