import { type Caller, requireCaller } from '../db/caller'
import type { Db } from '../db/client'
import { storeImage } from './bucket'

/**
 * Cleans and stores an upload of the caller.
 * @returns the object's key, which cannot be guessed
 * @throws UNAUTHORIZED when the token is no longer valid, and the errors of `storeImage`
 */
export const uploadImage = async (db: Db, caller: Caller, bucket: R2Bucket, upload: Uint8Array<ArrayBuffer>) => {
  await requireCaller(db, caller)
  return storeImage(bucket, caller.memberId, upload)
}
