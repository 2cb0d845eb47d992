import type { ImageType } from '../../entries/reader-protocol'
import { cleanGif } from './gif'
import { type CleanedImage, createPartCounter, ImageError } from './image'
import { cleanJpeg } from './jpeg'
import { cleanPng } from './png'
import { cleanWebp } from './webp'

/** `start` matches the first twelve bytes, each as a character. In a pattern, `\cZ` is the byte 0x1a. */
const FORMATS = [
  { type: 'image/jpeg', start: /^\xff\xd8/, clean: cleanJpeg },
  { type: 'image/png', start: /^\x89PNG\r\n\cZ\n/, clean: cleanPng },
  { type: 'image/webp', start: /^RIFF.{4}WEBP/s, clean: cleanWebp },
  { type: 'image/gif', start: /^GIF8[79]a/, clean: cleanGif },
] as const

/**
 * Detects the type of an upload by its content alone and copies only what a viewer needs to render it. Location,
 * camera, time, texts, thumbnails and appended files are dropped; the orientation is kept.
 * @throws ImageError
 */
export const cleanImage = (bytes: Uint8Array<ArrayBuffer>): { type: ImageType } & CleanedImage => {
  const start = String.fromCharCode(...bytes.subarray(0, 12))
  const format = FORMATS.find((each) => each.start.test(start))
  if (!format) throw new ImageError('UNSUPPORTED_IMAGE')
  const image = format.clean(bytes, createPartCounter())
  if (!image) throw new ImageError('IMAGE_DAMAGED')
  return { type: format.type, ...image }
}
