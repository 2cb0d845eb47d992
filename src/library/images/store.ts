import { type SQL, sql } from 'drizzle-orm'
import { callerId, isCaller, queryOne, runAsCaller } from '../../db/caller'
import { type ConfirmedMember, type Db, idempotent, run, sqlStatement, uninterrupted } from '../../db/client'
import { findCreated, insertOnce, type RequestKey, rowOf } from '../../db/idempotency'
import { nextReusableId } from '../../db/next-id'
import { listOfCaller } from '../../db/pages'
import { imageLimit, ownQuotaExceeded, usedImageBytes } from '../../db/quotas'
import { images } from '../../db/schema/memo-tables'
import type { Bindings, CallerRequest } from '../../env'
import { DEADLINES } from '../../runtime/deadlines'
import { log } from '../../runtime/log'
import { deleteObject, headObject, imageKey, isStored, putImage } from '../../storage/bucket'
import { limitsOf } from '../../values/quotas'
import { localTime } from '../../values/time'
import { cleanUpload, freeBytes, type NewImage } from './clean-upload'
import type { StoredImage } from './responses'

/** The caller's images, newest first. */
export const listImages = listOfCaller<StoredImage>(
  sql`imageCount`,
  ({ desc, limit, offset }) => sql`
    select memberId, name, type, bytes, createdAt from images where memberId = ${callerId}
    order by imageId ${desc} limit ${limit} offset ${offset}`,
)

const insertImageWith = (idColumn: SQL, id: SQL) =>
  insertOnce(
    (condition) => sqlStatement<{ name: string }>`
      insert into images (${idColumn} memberId, name, type, bytes, createdAt)
      select ${id} memberId, :name, :type, :bytes, :createdAt from members
      where ${isCaller} and ${usedImageBytes} + :bytes <= ${imageLimit} ${condition}
      returning name`,
    rowOf(
      images.imageId,
      sql`${images.name} as name`,
      sql`${images.memberId} = idempotencyKeys.memberId and ${images.name} = idempotencyKeys.name`,
    ),
  )
// In slot 0, SQLite assigns the identifier, without reading a row.
const insertImage = insertImageWith(sql``, sql``)
const insertImageInRange = insertImageWith(sql`imageId,`, sql`${nextReusableId(images.imageId)},`)

const deleteRow = sqlStatement`delete from images where memberId = :memberId and name = :name`
const deleteKey = sqlStatement`
  delete from idempotencyKeys where memberId = :memberId and keyHash = unhex(:keyHash) and name = :name`

const logLeftover = (leftover: string) => (reason: Error) => log('error', `${leftover}: ${reason.message}`)

/** Stores the object of a new row. If the bucket fails, deletes the row and its key, unless a repetition stored it. */
const putObject = async (db: Db, bucket: R2Bucket, member: ConfirmedMember, image: NewImage, sentKey?: RequestKey) => {
  const [{ memberId }, { name }] = [member, image]
  const key = imageKey(memberId, name)
  await putImage(bucket, key, image, sentKey !== undefined).catch(async (error) => {
    // A repetition of the request may have stored the object and answered 201.
    if (sentKey && (await isStored(bucket, key))) return
    if (sentKey) logLeftover(`image may be orphaned: ${key}`)(error)
    const ofKey = sentKey && idempotent(deleteKey({ memberId, name, keyHash: sentKey.keyHash }))
    await run(db, { row: idempotent(deleteRow({ memberId, name })), ofKey }).catch(
      logLeftover(`image without an object: ${key}`),
    )
    throw error
  })
}

/** `sources`: where the upload comes from, for taking turns. */
type Upload = { bytes: Uint8Array<ArrayBuffer>; sources: string[] }

/**
 * Cleans and stores an upload of the caller. Detaches the buffer of the upload.
 * @returns the object's key, which cannot be guessed
 * @throws MAX_MEMBER_IMAGE_BYTES when that quota is full; the errors of `findCreated`, `cleanUpload` and `putImage`
 */
export const uploadImage = async (
  { db, caller, config, key }: CallerRequest,
  { READER, IMAGES: bucket }: Pick<Bindings, 'READER' | 'IMAGES'>,
  upload: Upload,
) => {
  const image = await cleanUpload(READER, upload.bytes, upload.sources)
  const { name, type, bytes } = image
  const createdAt = localTime(config.TIME_ZONE)
  const row = { name, type, bytes: bytes.length, createdAt, ...limitsOf(config) }
  const store = async () => {
    // The row comes first: an object without a row would be counted in no quota.
    const insert = db.slot === 0 ? insertImage : insertImageInRange
    const { member, created, used } = await runAsCaller(db, caller, insert(row, key, config))
    const stored = created ?? findCreated(used, key, config)
    if (!stored) throw await ownQuotaExceeded(db, caller, 'MAX_MEMBER_IMAGE_BYTES', config)
    const objectKey = imageKey(member.memberId, stored.name)
    // An earlier request may have ended before it stored the object.
    const isPut = created === undefined && (await headObject(bucket, objectKey)) !== null
    const named = { ...image, name: stored.name }
    if (created) await putObject(db, bucket, member, named, key)
    // Another request inserted the row, and may have answered with it: this one must not delete it.
    else if (!isPut) await putImage(bucket, objectKey, named, true)
    return objectKey
  }
  const objectKey = await uninterrupted(db, store())
  freeBytes(bytes)
  return objectKey
}

// The unary plus keeps its term out of the index lookup, which thus finds only the caller's images.
const deleteOwn = sqlStatement<typeof images.$inferSelect>`
  delete from images where memberId = ${callerId} and name = :name and +memberId = :memberId returning *`
// A new identifier if another image has taken the old one since.
const restoreRow = sqlStatement`
  insert into images (imageId, memberId, name, type, bytes, createdAt)
  select iif(exists (select 1 from images where imageId = :imageId), ${nextReusableId(images.imageId)}, :imageId),
    memberId, :name, :type, :bytes, :createdAt
  from members where memberId = :memberId and withdrawnAt is null
  on conflict do nothing`

// An upload writes its row, which can be deleted, before its object.
const deleteAgain = async (bucket: R2Bucket, key: string) => {
  await scheduler.wait(DEADLINES.storing)
  await deleteObject(bucket, key)
}

/**
 * Deletes an image of the caller. Returns undefined if the caller has no such image.
 * @throws UNAVAILABLE if the bucket fails; then the image remains
 */
export const deleteImage = ({ db, caller }: CallerRequest, bucket: R2Bucket, memberId: number, name: string) => {
  const key = imageKey(memberId, name)
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
