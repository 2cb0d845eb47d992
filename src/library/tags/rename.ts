import { sql } from 'drizzle-orm'
import { type Caller, callerId, queryOne, runAsCaller, selectCaller } from '../../db/caller'
import { type Db, idempotent, sqlStatement } from '../../db/client'
import { fold } from '../../values/fold'
import type { Tag } from './responses'
import type { TagRename } from './schema'
import { isTag, selectTag, tagId } from './store'

const { placeholder } = sql

const renameTag = sqlStatement<Tag>(
  () => sql`
  update tags set tag = ${placeholder('to')}, tagKey = ${placeholder('toKey')}
  where ${isTag('fromKey')} and not exists (
    select 1 from tags as other where other.memberId = tags.memberId and other.tagKey = ${placeholder('toKey')}
      and other.tagId <> tags.tagId
  )
  returning tag, bookCount`,
)
// Exchanges the rows of the two tags if `from` has more books, so that merging always moves the fewer ones. Otherwise two
// requests, a new tag and a merge into it, would move all books of a large tag, and could be repeated. The empty key is of
// no tag.
const unkeyLarger = sqlStatement(
  () => sql`
  update tags set tagKey = ''
  where ${isTag('fromKey')} and bookCount > (select bookCount from tags where ${isTag('toKey')})`,
)
const exchangeSmaller = sqlStatement(
  () => sql`
  update tags set tagKey = ${placeholder('fromKey')}
  where ${isTag('toKey')} and changes() > 0`,
)
const exchangeLarger = sqlStatement(
  () => sql`
  update tags set tagKey = ${placeholder('toKey')}, tag = (select tag from tags where ${isTag('fromKey')})
  where memberId = ${callerId} and tagKey = ''`,
)
const mergeBooks = sqlStatement(
  () => sql`
  insert into bookTags (memberId, tagId, bookId)
  select target.memberId, target.tagId, bookId
  from tags as target cross join bookTags
  where target.memberId = ${callerId} and target.tagKey = ${placeholder('toKey')}
    and bookTags.memberId = target.memberId and bookTags.tagId = ${tagId('fromKey')}
  on conflict do nothing`,
)
// With a count of 0, the trigger on bookTags does not write the tag for each book.
const resetCount = (name: string) => sqlStatement(() => sql`update tags set bookCount = 0 where ${isTag(name)}`)
const removeBooks = (name: string) =>
  sqlStatement(() => sql`delete from bookTags where memberId = ${callerId} and tagId = ${tagId(name)}`)
const removeTag = (name: string) =>
  sqlStatement<{ tagId: number }>(() => sql`delete from tags where ${isTag(name)} returning tagId`)

const [resetFrom, removeBooksOfFrom, removeFrom, selectTo] = [
  resetCount('fromKey'),
  removeBooks('fromKey'),
  removeTag('fromKey'),
  selectTag('toKey'),
]

/**
 * Renames a tag, or, if the caller has another tag of the new name, adds its books to that one, which keeps its spelling.
 * Returns undefined if the caller has no tag `from`.
 */
export const renameOrMerge = async (db: Db, caller: Caller, { from, to }: TagRename): Promise<Tag | undefined> => {
  const values = { fromKey: fold(from), toKey: fold(to), to }
  const rename = renameTag(values)
  if (values.fromKey === values.toKey) return queryOne(db, caller, idempotent(rename))
  const [, [renamed], , , , , , , [merged], [target]] = await runAsCaller(
    db,
    caller,
    selectCaller(),
    rename,
    // After a rename, no tag `from` is left to merge.
    unkeyLarger(values),
    exchangeSmaller(values),
    exchangeLarger(values),
    mergeBooks(values),
    resetFrom(values),
    removeBooksOfFrom(values),
    removeFrom(values),
    selectTo(values),
  )
  return renamed ?? (merged && target)
}

const [resetDeleted, removeBooksOfDeleted, removeDeleted] = [resetCount('key'), removeBooks('key'), removeTag('key')]

/** Deletes a tag from all books. Returns undefined if the caller has no such tag. */
export const deleteTag = async (db: Db, caller: Caller, tag: string) => {
  const values = { key: fold(tag) }
  const [, , , [deleted]] = await runAsCaller(
    db,
    caller,
    selectCaller(),
    resetDeleted(values),
    removeBooksOfDeleted(values),
    removeDeleted(values),
  )
  return deleted
}
