import { createTurns } from '../../runtime/turns'
import { cleanImage, type ImageType } from './clean/clean-image'

const RANDOM_BYTES = 16

/** An upload that was cleaned, and the name it will have. */
export type NewImage = { name: string; type: ImageType; bytes: Uint8Array<ArrayBuffer> }

/** Frees the memory of an upload before the next one needs it: garbage collection may come too late. */
export const freeBytes = (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer.transfer(0)

const cleanAndFree = (upload: Uint8Array<ArrayBuffer>) => {
  try {
    return cleanImage(upload)
  } finally {
    freeBytes(upload)
  }
}

/** About four seconds of cleaning. */
const MAX_WAITING = 64
const turns = createTurns(MAX_WAITING)

/**
 * Cleans an upload, and gives it a name that cannot be guessed. Uploads are cleaned one at a time. Detaches the
 * upload's buffer.
 * @param keys the keys by which uploads take turns
 * @throws TOO_MANY_REQUESTS when too many uploads are waiting; the errors of `cleanImage`
 */
export const cleanUpload = async (upload: Uint8Array<ArrayBuffer>, keys: string[]): Promise<NewImage> => {
  const image = await turns.take(keys, (pause) => Promise.try(cleanAndFree, upload).finally(pause))
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const name = random.toBase64({ alphabet: 'base64url', omitPadding: true })
  return { name: `${name}.${image.type.extension}`, type: image.type, bytes: image.bytes }
}
