import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../db/caller'
import { type Db, firstRow, idempotent, sqlStatement, type Values } from '../../db/client'
import { fold } from '../../values/text/fold'
import type { Tag } from './responses'
import type { TagRename } from './schema'
import { isTag, selectTag, tagId } from './store'

const renameTag = sqlStatement<Tag>`
  update tags set tag = :to, tagKey = :toKey
  where ${isTag('fromKey')} and not exists (
    select 1 from tags as other where other.memberId = tags.memberId and other.tagKey = :toKey
      and other.tagId <> tags.tagId
  )
  returning tag, bookCount`
/**
 * The most books of a tag that a batch changes, so that it changes at most 10,000 rows: three for a book that loses a
 * tag (with an entry of the log, and an old one that is trimmed), seven for one that moves to another tag.
 */
const [MOST_REMOVED, MOST_MOVED] = [3000, 1300]

// Of two tags to merge, the one with more books stays. Otherwise two requests, a new tag and a merge into it, would
// move all books of a large tag, and could be repeated. Which one has more stays the same while the books are moved.
const pickTag = (ifSourceHasMore: 'source' | 'target', otherwise: 'source' | 'target', most = sql``) => sql`(
  select iif(source.bookCount > target.bookCount, ${sql.raw(ifSourceHasMore)}.tagId, ${sql.raw(otherwise)}.tagId)
  from tags as source cross join tags as target on target.memberId = source.memberId and target.tagKey = :toKey
  where source.memberId = ${callerId} and source.tagKey = :fromKey ${most}
)`
const inOneBatch = sql`and min(source.bookCount, target.bookCount) <= ${sql.raw(String(MOST_MOVED))}`
const [larger, smaller] = [pickTag('source', 'target', inOneBatch), pickTag('target', 'source', inOneBatch)]
// A merge ends links to `from`: here, if its row stays, and otherwise with the row. Links to `to` follow its books.
const endLinks = sqlStatement`
  delete from accessTokens where memberId = ${callerId} and tagId = ${tagId('fromKey')} and tagId = ${larger}`
const moveLinks = sqlStatement`
  update accessTokens set tagId = ${larger} where memberId = ${callerId} and tagId = ${tagId('toKey')} and ${larger} is not null`
const takeSpelling = sqlStatement`
  update tags set tag = (select tag from tags where ${isTag('toKey')}) where ${isTag('fromKey')} and ${larger} is not null`
const takeKey = sqlStatement`
  update tags set tagKey = :toKey where ${isTag('fromKey')} and not exists (select 1 from tags where ${isTag('toKey')})`
const selectTo = sqlStatement<Tag & { isFromLeft: number }>`
  select tag, bookCount, exists (select 1 from tags where ${isTag('fromKey')}) as isFromLeft
  from tags where ${isTag('toKey')}`
const selectLeft = selectTag('key')

/** Prepares the statements that take a tag from its first books, and delete it once it has none. */
const emptyingOf = (id: SQL, most: number) => {
  const isOfTag = sql`memberId = ${callerId} and tagId = ${id}`
  const limit = sql.raw(String(most))
  // While the count is not positive, the trigger on bookTags does not write the tag for each book.
  const negateCount = sqlStatement`update tags set bookCount = min(bookCount, ${limit}) - bookCount where ${isOfTag}`
  const removeBooks = sqlStatement`
    delete from bookTags where ${isOfTag} and bookId in (
      select bookId from bookTags where ${isOfTag} order by bookId limit ${limit}
    )`
  const restoreCount = sqlStatement`update tags set bookCount = -bookCount where ${isOfTag} and bookCount < 0`
  const removeTag = sqlStatement<{ tagId: number }>`delete from tags where ${isOfTag} and bookCount = 0 returning tagId`
  return (values: Values) => ({
    counted: negateCount(values),
    books: removeBooks(values),
    left: restoreCount(values),
    deleted: removeTag(values),
  })
}
/** Prepares the statements that take a tag from all its books, and delete it. */
const deletionOf = (id: SQL) => {
  const isOfTag = sql`memberId = ${callerId} and tagId = ${id}`
  const resetCount = sqlStatement`update tags set bookCount = 0 where ${isOfTag}`
  const removeBooks = sqlStatement`delete from bookTags where ${isOfTag}`
  const removeTag = sqlStatement<{ tagId: number }>`delete from tags where ${isOfTag} returning tagId`
  return (values: Values) => ({ counted: resetCount(values), books: removeBooks(values), deleted: removeTag(values) })
}
const removeNamed = emptyingOf(tagId('key'), MOST_REMOVED)

/** Prepares the statement that moves the first books of the smaller of two tags to the larger one. */
const moveOf = (to: SQL, from: SQL) => sqlStatement`
  insert into bookTags (memberId, tagId, bookId)
  select memberId, ${to}, bookId from bookTags where memberId = ${callerId} and tagId = ${from}
  order by bookId limit ${sql.raw(String(MOST_MOVED))}
  on conflict do nothing`
const [moveAll, deleteSmaller] = [moveOf(larger, smaller), deletionOf(smaller)]
const [kept, emptied] = [pickTag('source', 'target'), pickTag('target', 'source')]
const [movePart, removePart] = [moveOf(kept, emptied), emptyingOf(emptied, MOST_MOVED)]

/**
 * Renames a tag, or, if the caller has another tag of the new name, adds its books to that one, which keeps its
 * spelling. Takes several batches if both have many books: until the last one, both stay. Returns undefined if the
 * caller has no tag `from`.
 */
export const renameOrMerge = async (db: Db, caller: Caller, { from, to }: TagRename): Promise<Tag | undefined> => {
  const values = { fromKey: fold(from), toKey: fold(to), to }
  const rename = renameTag(values)
  if (values.fromKey === values.toKey) return queryOne(db, caller, idempotent(rename))
  for (;;) {
    const { renamed, deleted, target } = await runAsCaller(db, caller, {
      renamed: rename,
      // After a rename, no tag `from` is left to merge.
      endedLinks: endLinks(values),
      links: moveLinks(values),
      spelling: takeSpelling(values),
      moved: moveAll(values),
      ...deleteSmaller(values),
      key: takeKey(values),
      target: firstRow(selectTo(values)),
    })
    if (!target?.isFromLeft)
      return renamed[0] ?? (deleted[0] && target && { tag: target.tag, bookCount: target.bookCount })
    await runAsCaller(db, caller, { moved: movePart(values), ...removePart(values) })
  }
}

/**
 * Deletes a tag from all books, in several batches if they are many: until the last one, the tag stays. Returns
 * undefined if the caller has no such tag.
 */
export const deleteTag = async (db: Db, caller: Caller, tag: string) => {
  const values = { key: fold(tag) }
  for (;;) {
    const { deleted, tags } = await runAsCaller(db, caller, { ...removeNamed(values), tags: selectLeft(values) })
    if (tags.length === 0) return deleted[0]
  }
}
