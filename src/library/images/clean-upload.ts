import { ApiError } from '../../errors'
import { callReader } from '../../runtime/call-reader'
import { createTurns } from '../../runtime/turns'
import type { ImageType, ReaderBinding } from '../../transfer/entries/reader-protocol'

const EXTENSIONS: Record<ImageType, string> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
}

const RANDOM_BYTES = 16

/** An upload that was cleaned, and the name it will have. */
export type NewImage = { name: string; type: ImageType; bytes: Uint8Array<ArrayBuffer> }

/** Frees the memory of an upload before the next one needs it: garbage collection may come too late. */
export const freeBytes = (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer.transfer(0)

/** About four seconds of cleaning. */
const MAX_WAITING = 64
const turns = createTurns('image-cleaning', MAX_WAITING)

/**
 * Has the second Worker clean an upload, one at a time, and gives it a name that cannot be guessed. Detaches the
 * upload's buffer.
 * @param keys the keys by which uploads take turns
 * @throws TOO_MANY_REQUESTS when too many uploads are waiting; why the image is refused; UNAVAILABLE if the Worker fails
 */
export const cleanUpload = async (
  reader: ReaderBinding,
  upload: Uint8Array<ArrayBuffer>,
  keys: string[],
): Promise<NewImage> => {
  const clean = () =>
    callReader(
      async () => reader.cleanImage(upload),
      (answer) => answer,
    )
  const image = await turns.take(keys, (pause) => clean().finally(pause)).finally(() => freeBytes(upload))
  if ('fault' in image) throw new ApiError(image.fault)
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const name = random.toBase64({ alphabet: 'base64url', omitPadding: true })
  return { name: `${name}.${EXTENSIONS[image.type]}`, type: image.type, bytes: image.bytes }
}
