import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Caller, callerId, isCaller, queryOne, runAsCaller, selectCaller } from '../../db/caller'
import { type Db, idempotent, run, sqlStatement, statement, uninterrupted } from '../../db/client'
import { nextReusableId } from '../../db/next-id'
import { joinPage, pagesOf } from '../../db/pages'
import { members } from '../../db/schema/member-tables'
import { images } from '../../db/schema/memo-tables'
import { quotaExceeded } from '../../errors'
import { log } from '../../runtime/log'
import { type Page, type Paging, toPage } from '../../values/paging'
import type { Quotas } from '../../values/quotas'
import { cleanUpload, deleteObject, freeBytes, type NewImage, putImage, toKey } from './bucket'
import type { StoredImage } from './responses'

const { placeholder } = sql

const selectUsage = statement((db) => db.select({ imageCount: members.imageCount }).from(members).where(isCaller))

const imageColumns = {
  memberId: images.memberId,
  name: images.name,
  type: images.type,
  bytes: images.bytes,
  createdAt: images.createdAt,
}
const imageCount = sql`(select ${members.imageCount} from ${members} where ${isCaller})`
const selectPage = pagesOf(imageCount, (db, { desc, limit, offset }) =>
  db
    .select(imageColumns)
    .from(images)
    .where(eq(images.memberId, callerId))
    .orderBy(desc(images.imageId))
    .limit(limit)
    .offset(offset),
)

/** The caller's images, newest first. */
export const listImages = async (db: Db, caller: Caller, paging: Paging): Promise<Page<StoredImage>> => {
  const { guard, items } = await runAsCaller(db, caller, { guard: selectUsage(), items: selectPage(paging) })
  const { imageCount } = guard
  return toPage(joinPage(items), imageCount, paging)
}

const insertImageWith = (idColumn: SQL, id: SQL) =>
  sqlStatement<{ imageId: number }>`
  insert into images (${idColumn} memberId, name, type, bytes, createdAt)
  select ${id} ${members.memberId}, :name, :type, :bytes, :createdAt
  from ${members} where ${isCaller}
    and ${members.imageBytes} + :bytes <= ${placeholder('MAX_MEMBER_IMAGE_BYTES')}
  returning imageId`
// In slot 0, SQLite assigns the identifier, without reading a row.
const insertImage = insertImageWith(sql``, sql``)
const insertImageInRange = insertImageWith(sql`imageId,`, sql`${nextReusableId(images.imageId)},`)

const isNamed = and(eq(images.memberId, placeholder('memberId')), eq(images.name, placeholder('name')))
const deleteRow = statement((db) => db.delete(images).where(isNamed).returning({ imageId: images.imageId }))

const logLeftover = (leftover: string) => (reason: Error) => log('error', `${leftover}: ${reason.message}`)

/** Stores the object of a new row. If the bucket fails, deletes the row. */
const putObject = async (db: Db, bucket: R2Bucket, memberId: number, image: NewImage) => {
  const { name } = image
  const key = toKey(memberId, name)
  await putImage(bucket, key, image).catch(async (error) => {
    await run(db, { row: idempotent(deleteRow({ memberId, name })) }).catch(
      logLeftover(`image without an object: ${key}`),
    )
    throw error
  })
}

/** `sources`: where the upload comes from, for taking turns. */
type Upload = { bytes: Uint8Array<ArrayBuffer>; sources: string[] }

/**
 * Cleans and stores an upload of the caller. Detaches the buffer of the upload.
 * @param now the local time to record
 * @returns the object's key, which cannot be guessed
 * @throws UNAUTHORIZED when the token is no longer valid; MAX_MEMBER_IMAGE_BYTES when that quota is full; the errors of
 * `cleanUpload` and `putImage`. Then nothing is stored
 */
export const uploadImage = async (
  db: Db,
  caller: Caller,
  bucket: R2Bucket,
  upload: Upload,
  now: string,
  quotas: Quotas,
) => {
  const { MAX_MEMBER_IMAGE_BYTES } = quotas
  const image = await cleanUpload(upload.bytes, upload.sources)
  const { name, type, bytes } = image
  const row = { name, type: type.mime, bytes: bytes.length, createdAt: now, MAX_MEMBER_IMAGE_BYTES }
  const store = async () => {
    // The row comes first: an object without a row would be counted in no quota.
    const { guard, inserted } = await runAsCaller(db, caller, {
      guard: selectCaller(),
      inserted: (db.slot === 0 ? insertImage : insertImageInRange)(row),
    })
    const { memberId } = guard
    if (inserted.length === 0) throw quotaExceeded('MAX_MEMBER_IMAGE_BYTES', quotas)
    await putObject(db, bucket, memberId, image)
    return toKey(memberId, name)
  }
  const key = await uninterrupted(db, store())
  freeBytes(bytes)
  return key
}

const deleteOwn = statement((db) =>
  db
    .delete(images)
    // The unary plus keeps this term out of the index lookup, which thus finds only the caller's images.
    .where(sql`${images.memberId} = ${callerId} and ${images.name} = :name and +${images.memberId} = :memberId`)
    .returning({ imageId: images.imageId, ...imageColumns }),
)
// A new identifier if another image has taken the old one since.
const freeId = sql`case when not exists (select 1 from ${images} where ${images.imageId} = :imageId) then :imageId else ${nextReusableId(images.imageId)} end`
const restoreRow = sqlStatement<{ imageId: number }>`
  insert into images (imageId, memberId, name, type, bytes, createdAt)
  select ${freeId}, ${members.memberId}, :name, :type, :bytes, :createdAt
  from ${members} where ${members.memberId} = :memberId and ${members.withdrawnAt} is null
  on conflict do nothing
  returning imageId`

// Longer than storing an object can take: an upload writes its row, which can be deleted, before its object.
const DELETE_AGAIN_MS = 15_000
const deleteAgain = async (bucket: R2Bucket, key: string) => {
  await scheduler.wait(DELETE_AGAIN_MS)
  await deleteObject(bucket, key)
}

/**
 * Deletes an image of the caller. Returns undefined if the caller has no such image.
 * @throws UNAVAILABLE if the bucket fails; then the image remains
 */
export const deleteImage = (db: Db, caller: Caller, bucket: R2Bucket, memberId: number, name: string) => {
  const key = toKey(memberId, name)
  const failed = logLeftover(`object without a row: ${key}`)
  const deleteBoth = async () => {
    const deleted = await queryOne(db, caller, deleteOwn({ memberId, name }))
    if (!deleted) return undefined
    await deleteObject(bucket, key).catch(async (error) => {
      await run(db, { row: restoreRow(deleted) }).catch(failed)
      throw error
    })
    db.waitUntil(deleteAgain(bucket, key).catch(failed))
    return key
  }
  return uninterrupted(db, deleteBoth())
}
