import { ApiError } from '../../../errors'
import { cleanGif } from './gif'
import { type CleanedImage, type CountParts, createPartCounter } from './image'
import { cleanJpeg } from './jpeg'
import { cleanPng } from './png'
import { cleanWebp } from './webp'

/** An accepted image type. */
export type ImageType = {
  mime: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  extension: 'png' | 'jpg' | 'gif' | 'webp'
}

type Format = {
  type: ImageType
  /** Whether the bytes start like this format. */
  detect: (bytes: Uint8Array) => boolean
  clean: (bytes: Uint8Array, countParts: CountParts) => CleanedImage | undefined
}

/** Matches the first twelve bytes, each as a character. In a pattern, `\cZ` is the byte 0x1a. */
const startsWith = (pattern: RegExp) => (bytes: Uint8Array) =>
  pattern.test(String.fromCharCode(...bytes.subarray(0, 12)))

const FORMATS: Format[] = [
  { type: { mime: 'image/jpeg', extension: 'jpg' }, detect: startsWith(/^\xff\xd8/), clean: cleanJpeg },
  { type: { mime: 'image/png', extension: 'png' }, detect: startsWith(/^\x89PNG\r\n\cZ\n/), clean: cleanPng },
  { type: { mime: 'image/webp', extension: 'webp' }, detect: startsWith(/^RIFF.{4}WEBP/s), clean: cleanWebp },
  { type: { mime: 'image/gif', extension: 'gif' }, detect: startsWith(/^GIF8[79]a/), clean: cleanGif },
]

/**
 * Detects the type of an upload by its content alone and copies only what a viewer needs to render it. Location,
 * camera, time, texts, thumbnails and appended files are dropped; the orientation is kept.
 * @throws UNSUPPORTED_IMAGE if the upload has none of the four types, IMAGE_DAMAGED if it is corrupt or truncated,
 * TOO_MANY_PIXELS, IMAGE_TOO_COMPLEX
 */
export const cleanImage = (bytes: Uint8Array<ArrayBuffer>): { type: ImageType } & CleanedImage => {
  const format = FORMATS.find(({ detect }) => detect(bytes))
  if (!format) throw new ApiError('UNSUPPORTED_IMAGE')
  const image = format.clean(bytes, createPartCounter())
  if (!image) throw new ApiError('IMAGE_DAMAGED')
  return { type: format.type, ...image }
}
