import { ApiError } from '../../errors'

/** An image without metadata. The size is the stored one: the orientation does not swap width and height. */
export type CleanedImage = { width: number; height: number; bytes: Uint8Array<ArrayBuffer> }

/** The limit on the size that the image header states: 16,384 by 16,384, the largest lossless WebP. */
export const MAX_PIXELS = 16_384 ** 2

/** @throws TOO_MANY_PIXELS */
export const limitPixels = (pixels: number, limit = MAX_PIXELS) => {
  if (pixels > limit) throw new ApiError('TOO_MANY_PIXELS')
}

/**
 * Whether a size is positive.
 * @throws TOO_MANY_PIXELS
 */
export const isAllowedSize = (width: number, height: number) => {
  limitPixels(width * height)
  return width > 0 && height > 0
}
