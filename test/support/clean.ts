import { cleanImage } from '../../src/images/clean/clean-image'
import { big, join } from './bytes'

/** Cleans an image that must be accepted. */
export const clean = (bytes: Uint8Array<ArrayBuffer>) => {
  const image = cleanImage(bytes)
  if (!image) throw new Error('The image was refused')
  return image.bytes
}

/** The only Exif block that is ever written: one entry, the orientation. */
export const orientationBlock = (orientation: number) =>
  join('MM\0*', big(8, 4), big(1, 2), big(0x0112, 2), big(3, 2), big(1, 4), big(orientation, 2), big(0, 6))
