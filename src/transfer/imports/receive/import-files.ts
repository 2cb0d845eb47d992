import { callBucket, filePrefix } from '../../../library/images/bucket'

// The files of running imports, in the bucket of the images.

const toKey = (memberId: number, file: string) => `${filePrefix(memberId)}${file}`

export const putFile = (bucket: R2Bucket, memberId: number, file: string, bytes: Uint8Array<ArrayBuffer>) =>
  callBucket(() => bucket.put(toKey(memberId, file), bytes))

/** Returns undefined if the file is not there. */
export const getFile = async (bucket: R2Bucket, memberId: number, file: string) => {
  const object = await callBucket(() => bucket.get(toKey(memberId, file)))
  return object ? new Uint8Array(await object.arrayBuffer()) : undefined
}

export const deleteFile = (bucket: R2Bucket, memberId: number, file: string) =>
  callBucket(() => bucket.delete(toKey(memberId, file)))
