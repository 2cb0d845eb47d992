import { type SQL, sql } from 'drizzle-orm'
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
import { type BookTags, type BookTagsPatch, MAX_BOOK_TAGS, MAX_TAGS, type TaggedQuery } from './schema'

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

// The parameter `tags` is a JSON array of pairs: key and tag. `removed` is one of keys, or null: all other tags are removed.
const wanted = sql`json_each(:tags) as wanted`
const key = sql.raw(`wanted.value ->> 0`)
// The statements change the tags of the books `chosen`, all of one member.
const owner = sql.raw('(select memberId from chosen limit 1)')
const exists = sql`exists (select 1 from tags where tags.memberId = ${owner} and tagKey = ${key})`
const isNotWanted = sql`tagKey not in (select ${key} from ${wanted})`
const isNamed = sql`tagKey in (select value from json_each(:removed))`
const isRemoved = sql`(${isNotWanted} and (:removed is null or ${isNamed}))`
/** False if a book would have too many tags. The removal does not change it. */
export const fitBooks = sql`(:removed is null or not exists (
  select 1 from chosen where ${sql.raw(String(MAX_BOOK_TAGS))} < json_array_length(:tags) + (
    select count(*) from bookTags as held cross join tags using (memberId, tagId)
    where held.memberId = chosen.memberId and held.bookId = chosen.bookId and ${isNotWanted} and not ${isNamed}
  )
))`
/** False if the new tags would have exceeded a limit: then the tags of the books do not change. */
export const areAllStored = sql`(not exists (select 1 from ${wanted} where not ${exists}) and ${fitBooks})`

const lastTagId = sql`(select coalesce(max(tagId), 0) from tags where tags.memberId = ${owner})`
const isShown = sql`exists (
  select 1 from accessTokens where accessTokens.memberId = tags.memberId and accessTokens.tagId = tags.tagId
)`
/** How many tags the member would have. Removing a tag from all of its books deletes it, unless a link shows it. */
const tagCountAfter = sql`
  (select count(*) from tags where tags.memberId = ${owner})
  + (select count(*) from ${wanted} where not ${exists})
  - (
    select count(*) from (
      select memberId, tagId, count(*) as held from chosen cross join bookTags using (memberId, bookId) group by memberId, tagId
    ) cross join tags using (memberId, tagId)
    where bookCount = held and ${isRemoved} and not ${isShown}
  )`

/**
 * The statements that change the tags of books, in this order.
 * @param chosen selects the `memberId` and `bookId` of each: none if nothing may change
 */
export const tagChanges = (chosen: SQL) => {
  const statement = <Row>(text: TemplateStringsArray, ...parts: SQL[]) =>
    sqlStatement<Row>`with chosen as materialized (${chosen}) ${sql(text, ...parts)}`
  return {
    // A member has at most as many tags as the last tagId, so most members' tags need not be counted.
    insertNew: statement`
      insert into tags (memberId, tagId, tag, tagKey)
      select one.memberId, ${lastTagId} + 1 + wanted.key, wanted.value ->> 1, ${key}
      from (select memberId from chosen limit 1) as one cross join ${wanted}
      where not ${exists} and ${fitBooks}
        and (${lastTagId} <= ${sql.raw(String(MAX_TAGS - MAX_BOOK_TAGS))} or ${tagCountAfter} <= ${sql.raw(String(MAX_TAGS))})`,
    remove: statement<{ bookId: number }>`
      delete from bookTags where memberId = ${owner} and bookId in (select bookId from chosen)
        and exists (
          select 1 from tags where tags.memberId = bookTags.memberId and tags.tagId = bookTags.tagId and ${isRemoved}
        )
        and ${areAllStored}
      returning bookId`,
    add: statement<{ bookId: number }>`
      insert into bookTags (memberId, tagId, bookId)
      select chosen.memberId, tagId, chosen.bookId
      from chosen cross join ${wanted} cross join tags on tags.memberId = chosen.memberId and tagKey = ${key}
      where ${areAllStored}
      on conflict do nothing returning bookId`,
  }
}
const ofBook = tagChanges(sql`select memberId, bookId from books where ${isOwnBook}`)

/** Of tags with the same key, the first one counts. Without `remove`, all other tags are removed. */
export const toTagValues = (add: string[], remove?: string[]) => {
  const byKey = new Map(add.toReversed().map((tag) => [fold(tag), tag]))
  const removed = remove?.map(fold)
  const values = { tags: JSON.stringify([...byKey]), removed: removed ? JSON.stringify(removed) : null }
  return { keys: [...byKey.keys()], removed, values }
}

const changeTags = async (db: Db, caller: Caller, bookId: number, add: string[], remove?: string[]) => {
  const { keys, removed, values: lists } = toTagValues(add, remove)
  const values = { bookId, ...lists }
  const { guard, rows } = await runAsCaller(db, caller, {
    guard: selectBook(values),
    inserted: idempotent(ofBook.insertNew(values)),
    removed: idempotent(ofBook.remove(values)),
    added: idempotent(ofBook.add(values)),
    rows: selectBookTags(values),
  })
  if (guard.bookId === null) return undefined
  const stored = new Set(rows.map(({ tagKey }) => tagKey))
  if (keys.every((wantedKey) => stored.has(wantedKey))) return toNames(rows)
  // Nothing has changed.
  const kept = removed ? [...stored.difference(new Set(removed))] : []
  throw new ApiError(new Set([...keys, ...kept]).size > MAX_BOOK_TAGS ? 'MAX_BOOK_TAGS' : 'MAX_TAGS')
}

/**
 * Replaces the tags of a book. A tag that the member already has keeps its spelling, and of tags that differ only in
 * case the first one counts. Returns undefined if the caller has no such book.
 * @throws MAX_TAGS when the member would have too many tags; then nothing changes
 */
export const setBookTags = (db: Db, caller: Caller, bookId: number, { tags }: BookTags) =>
  changeTags(db, caller, bookId, tags)

/**
 * Adds tags to a book and removes others. A tag that is in both lists is added. Returns undefined if the caller has no
 * such book.
 * @throws MAX_BOOK_TAGS or MAX_TAGS when the book or the member would have too many tags; then nothing changes
 */
export const changeBookTags = (db: Db, caller: Caller, bookId: number, { add = [], remove = [] }: BookTagsPatch) =>
  changeTags(db, caller, bookId, add, remove)

export const selectTags = sqlStatement<Tag>`
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
