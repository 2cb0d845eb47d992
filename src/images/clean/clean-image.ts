import { cleanAvif } from './avif/avif'
import { cleanGif } from './gif'
import type { CleanedImage } from './image'
import { cleanJpeg } from './jpeg'
import { cleanPng } from './png'
import { cleanWebp } from './webp'

/** An accepted image type. */
export type ImageType = {
  mime: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif'
  extension: 'png' | 'jpg' | 'gif' | 'webp' | 'avif'
}

const FORMATS: { type: ImageType; clean: (bytes: Uint8Array) => CleanedImage | undefined }[] = [
  { type: { mime: 'image/jpeg', extension: 'jpg' }, clean: cleanJpeg },
  { type: { mime: 'image/png', extension: 'png' }, clean: cleanPng },
  { type: { mime: 'image/webp', extension: 'webp' }, clean: cleanWebp },
  { type: { mime: 'image/gif', extension: 'gif' }, clean: cleanGif },
  { type: { mime: 'image/avif', extension: 'avif' }, clean: cleanAvif },
]

/**
 * Detects the type of an upload by its content alone and copies only what a viewer needs to render it. Location,
 * camera, time, texts, thumbnails and appended files are dropped; the orientation is kept.
 * @returns undefined if the upload is none of the five types, is corrupt or truncated, or exceeds the pixel limit
 */
export const cleanImage = (bytes: Uint8Array<ArrayBuffer>): ({ type: ImageType } & CleanedImage) | undefined => {
  for (const { type, clean } of FORMATS) {
    const image = clean(bytes)
    if (image) return { type, ...image }
  }
  return undefined
}
