import { type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller } from '../../db/caller'
import { type Db, idempotent, sqlStatement, type Values } from '../../db/client'
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
// Of two tags to merge, the one with more books stays. Otherwise two requests, a new tag and a merge into it, would
// move all books of a large tag, and could be repeated. Which one has more stays the same while the books are moved.
const pickTag = (ifSourceHasMore: 'source' | 'target', otherwise: 'source' | 'target') => sql`(
  select iif(source.bookCount > target.bookCount, ${sql.raw(ifSourceHasMore)}.tagId, ${sql.raw(otherwise)}.tagId)
  from tags as source cross join tags as target on target.memberId = source.memberId and target.tagKey = :toKey
  where source.memberId = ${callerId} and source.tagKey = :fromKey
)`
const [larger, smaller] = [pickTag('source', 'target'), pickTag('target', 'source')]
// A merge ends links to `from`. Links to `to` follow its books, whichever tag row stays.
const endLinks = sqlStatement`
  delete from accessTokens where memberId = ${callerId} and tagId = ${tagId('fromKey')} and ${larger} is not null`
const moveLinks = sqlStatement`
  update accessTokens set tagId = ${larger} where memberId = ${callerId} and tagId = ${tagId('toKey')} and ${larger} is not null`
const takeSpelling = sqlStatement`update tags set tag = (select tag from tags where ${isTag('toKey')}) where ${isTag('fromKey')}`
const moveBooks = sqlStatement`
  insert into bookTags (memberId, tagId, bookId)
  select memberId, ${larger}, bookId from bookTags where memberId = ${callerId} and tagId = ${smaller}
  on conflict do nothing`
const takeKey = sqlStatement`update tags set tagKey = :toKey where ${isTag('fromKey')}`
const selectTo = selectTag('toKey')

/** Prepares the statements that delete a tag from all books. */
const deletionOf = (id: SQL) => {
  const isIt = sql`memberId = ${callerId} and tagId = ${id}`
  // With a count of 0, the trigger on bookTags does not write the tag for each book.
  const resetCount = sqlStatement`update tags set bookCount = 0 where ${isIt}`
  const removeBooks = sqlStatement`delete from bookTags where ${isIt}`
  const removeTag = sqlStatement<{ tagId: number }>`delete from tags where ${isIt} returning tagId`
  return (values: Values) => ({ count: resetCount(values), books: removeBooks(values), deleted: removeTag(values) })
}
const deleteSmaller = deletionOf(smaller)
const deleteNamed = deletionOf(tagId('key'))

/**
 * Renames a tag, or, if the caller has another tag of the new name, adds its books to that one, which keeps its
 * spelling. Returns undefined if the caller has no tag `from`.
 */
export const renameOrMerge = async (db: Db, caller: Caller, { from, to }: TagRename): Promise<Tag | undefined> => {
  const values = { fromKey: fold(from), toKey: fold(to), to }
  const rename = renameTag(values)
  if (values.fromKey === values.toKey) return queryOne(db, caller, idempotent(rename))
  const { renamed, deleted, target } = await runAsCaller(db, caller, {
    renamed: rename,
    // After a rename, no tag `from` is left to merge.
    endedLinks: endLinks(values),
    links: moveLinks(values),
    spelling: takeSpelling(values),
    moved: moveBooks(values),
    ...deleteSmaller(values),
    key: takeKey(values),
    target: selectTo(values),
  })
  return renamed[0] ?? (deleted[0] && target[0])
}

/** Deletes a tag from all books. Returns undefined if the caller has no such tag. */
export const deleteTag = async (db: Db, caller: Caller, tag: string) => {
  const { deleted } = await runAsCaller(db, caller, deleteNamed({ key: fold(tag) }))
  return deleted[0]
}
