import { ApiError } from '../../../errors'
import { createTurns } from '../../../runtime/turns'
import { cleanGif } from './gif'
import { type CleanedImage, createPartCounter } from './image'
import { cleanJpeg } from './jpeg'
import { cleanPng } from './png'
import { cleanWebp } from './webp'

/** `start` matches the first twelve bytes, each as a character. In a pattern, `\cZ` is the byte 0x1a. */
const FORMATS = [
  { mime: 'image/jpeg', extension: 'jpg', start: /^\xff\xd8/, clean: cleanJpeg },
  { mime: 'image/png', extension: 'png', start: /^\x89PNG\r\n\cZ\n/, clean: cleanPng },
  { mime: 'image/webp', extension: 'webp', start: /^RIFF.{4}WEBP/s, clean: cleanWebp },
  { mime: 'image/gif', extension: 'gif', start: /^GIF8[79]a/, clean: cleanGif },
] as const

/** An accepted image type. */
export type ImageType = Pick<(typeof FORMATS)[number], 'mime' | 'extension'>

/**
 * Detects the type of an upload by its content alone and copies only what a viewer needs to render it. Location,
 * camera, time, texts, thumbnails and appended files are dropped; the orientation is kept.
 * @throws UNSUPPORTED_IMAGE, IMAGE_DAMAGED if it is corrupt or truncated, TOO_MANY_PIXELS, IMAGE_TOO_COMPLEX
 */
export const cleanImage = (bytes: Uint8Array<ArrayBuffer>): { type: ImageType } & CleanedImage => {
  const start = String.fromCharCode(...bytes.subarray(0, 12))
  const type = FORMATS.find((format) => format.start.test(start))
  if (!type) throw new ApiError('UNSUPPORTED_IMAGE')
  const image = type.clean(bytes, createPartCounter())
  if (!image) throw new ApiError('IMAGE_DAMAGED')
  return { type, ...image }
}

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
const turns = createTurns('image-cleaning', MAX_WAITING)

/**
 * Cleans an upload, one at a time, and gives it a name that cannot be guessed. Detaches the upload's buffer.
 * @param keys the keys by which uploads take turns
 * @throws TOO_MANY_REQUESTS when too many uploads are waiting; the errors of `cleanImage`
 */
export const cleanUpload = async (upload: Uint8Array<ArrayBuffer>, keys: string[]): Promise<NewImage> => {
  const image = await turns.take(keys, (pause) => Promise.try(cleanAndFree, upload).finally(pause))
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))
  const name = random.toBase64({ alphabet: 'base64url', omitPadding: true })
  return { name: `${name}.${image.type.extension}`, type: image.type, bytes: image.bytes }
}
