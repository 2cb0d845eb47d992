import { cleanAvif } from './avif'
import { cleanGif } from './gif'
import { cleanJpeg } from './jpeg'
import type { CleanPicture } from './picture'
import { cleanPng } from './png'
import { cleanWebp } from './webp'

export { MAX_PIXELS } from './picture'

/** A type of picture that is accepted: how it is served, and how its file is named. */
export type ImageType = {
  mime: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif'
  extension: 'png' | 'jpg' | 'gif' | 'webp' | 'avif'
}

const FORMATS: { type: ImageType; clean: (bytes: Uint8Array) => CleanPicture | undefined }[] = [
  { type: { mime: 'image/jpeg', extension: 'jpg' }, clean: cleanJpeg },
  { type: { mime: 'image/png', extension: 'png' }, clean: cleanPng },
  { type: { mime: 'image/webp', extension: 'webp' }, clean: cleanWebp },
  { type: { mime: 'image/gif', extension: 'gif' }, clean: cleanGif },
  { type: { mime: 'image/avif', extension: 'avif' }, clean: cleanAvif },
]

/**
 * Tells what picture an upload is by its content alone, and rebuilds it without what it does not need to be drawn: no
 * place, camera, time, text, thumbnail, or appended file is left, while the orientation is. The size is the one in the
 * header, before any orientation. Undefined when the upload is none of the five types, is broken or cut off, or is
 * larger than MAX_PIXELS.
 */
export const cleanImage = (bytes: Uint8Array<ArrayBuffer>): ({ type: ImageType } & CleanPicture) | undefined => {
  for (const { type, clean } of FORMATS) {
    const picture = clean(bytes)
    if (picture) return { type, ...picture }
  }
  return undefined
}
