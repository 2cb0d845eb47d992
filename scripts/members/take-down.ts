import { setTimeout as wait } from 'node:timers/promises'
import type { D1Database, R2Bucket } from '@cloudflare/workers-types'
import { updateEdition } from '../../src/library/editions/store.ts'
import { updateMemo } from '../../src/library/memos/store.ts'
import { DEFAULT_QUOTAS } from '../../src/values/quotas.ts'
import { queryAll } from '../slots/compare.ts'
import { asMember } from './as-member.ts'

/** An image, and where it is stored. `timeZone`: the service's. */
export type ImageTarget = {
  slot: number
  database: D1Database
  bucket: R2Bucket
  memberId: number
  name: string
  timeZone: string
}

export const keyOf = ({ memberId, name }: Pick<ImageTarget, 'memberId' | 'name'>) => `images/${memberId}/${name}`

const selectMemos = `select memoId from memos where memberId = ? and instr(memoContent, ?)`
const selectBooks = `select bookId from books where memberId = ? and instr(cover, ?)`

/** The memos of the member that contain an image, and the books that have it as their cover. */
export const findReferences = async (target: Pick<ImageTarget, 'database' | 'memberId' | 'name'>) => {
  const { database, memberId } = target
  const memos = await queryAll<{ memoId: number }>(database, selectMemos, memberId, keyOf(target))
  const books = await queryAll<{ bookId: number }>(database, selectBooks, memberId, keyOf(target))
  return { memos: memos.map(({ memoId }) => memoId), books: books.map(({ bookId }) => bookId) }
}

/** Shorter than any reference, so that a memo never grows, and never becomes blank. */
const REMOVED = '[image removed]'

// Members write these texts: each character is matched a limited number of times, whatever is next to it.
const ELEMENT = /<img\b[^<>]*>|!\[[^[\]]*\]\([^()]*\)/gi
const WORD = /[^\s"'<>()]+/g

/** A text without an image: as an element of HTML or Markdown, or as a URL. */
export const withoutImage = (text: string, key: string) =>
  text
    .replace(ELEMENT, (element) => (element.includes(key) ? REMOVED : element))
    .replace(WORD, (word) => {
      const at = word.lastIndexOf(key)
      return at < 0 ? word : REMOVED + word.slice(at + key.length)
    })

/** A memo can be edited at the same time. */
const MAX_ROUNDS = 5

type Memo = { memoContent: string; version: number }
/** One at a time: all of them can be larger than a response of the database. */
const selectMemo = 'select memoContent, version from memos where memberId = ? and memoId = ?'

/** Removes references by the Worker's own code, so that clients that synchronize learn of it. Returns whether there were any. */
const removeReferences = async (target: ImageTarget) => {
  const request = { ...asMember(target), config: { ...DEFAULT_QUOTAS, TIME_ZONE: target.timeZone } }
  for (let round = 1; ; round++) {
    const { memos, books } = await findReferences(target)
    if (memos.length + books.length === 0) return round > 1
    if (round > MAX_ROUNDS) throw new Error('The memos change too often: repeat the command')
    for (const memoId of memos) {
      const [memo] = await queryAll<Memo>(target.database, selectMemo, target.memberId, memoId)
      if (!memo) continue
      const memoContent = withoutImage(memo.memoContent, keyOf(target))
      await updateMemo(request, memoId, { memoContent }, [memo.version]).catch((error) => {
        if (!String(error).includes('PRECONDITION_FAILED')) throw error
      })
    }
    for (const bookId of books) await updateEdition(request, bookId, { cover: null })
  }
}

/**
 * Deletes an image, and removes it from memos and covers of the member. The row comes first: without it, no repetition of
 * the upload stores the object again. Returns whether there was anything to delete; repeating it is safe.
 * @param settleMs how long a running upload may take to store the object, which is then deleted again
 */
export const removeImage = async (target: ImageTarget, settleMs = 0) => {
  const { database, bucket, memberId, name } = target
  const key = keyOf(target)
  const query = 'delete from images where memberId = ? and name = ? returning imageId'
  const deleted = await queryAll(database, query, memberId, name)
  const isStored = (await bucket.head(key)) !== null
  await bucket.delete(key)
  const wasNamed = await removeReferences(target)
  await wait(settleMs)
  await bucket.delete(key)
  return isStored || deleted.length > 0 || wasNamed
}

/** Deletes a link, which ends at once. */
export const removeLink = async (database: D1Database, memberId: number, linkId: string) => {
  const query = `delete from accessTokens where memberId = ? and tokenId = ? and kind is not null returning tokenId`
  return (await queryAll(database, query, memberId, linkId)).length > 0
}
