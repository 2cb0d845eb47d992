import type { ImageFault } from '../../entries/reader-protocol'

/** Why an image is refused. */
export class ImageError extends Error {
  readonly fault: ImageFault

  constructor(fault: ImageFault) {
    super(fault)
    this.fault = fault
  }
}

/** An image without metadata. The size is the stored one: the orientation does not swap width and height. */
export type CleanedImage = { width: number; height: number; bytes: Uint8Array<ArrayBuffer> }

/** The limit on the size that the image header states: 16,384 by 16,384, the largest lossless WebP. */
const MAX_PIXELS = 16_384 ** 2

/**
 * The most frames, chunks, segments and blocks of a file. Each takes time, however few bytes it has. A minute of
 * transparent WebP at 50 frames per second has 9,001; a PNG of 10 MiB in the 8 KiB chunks of libpng 1,280.
 */
export const MAX_PARTS = 20_000

export type CountParts = () => void

/** Returns a function that counts the parts of one file, and throws IMAGE_TOO_COMPLEX above MAX_PARTS. */
export const createPartCounter = (): CountParts => {
  let parts = 0
  return () => {
    parts++
    if (parts > MAX_PARTS) throw new ImageError('IMAGE_TOO_COMPLEX')
  }
}

/** Lists the chunks of a file, each from the end of the one before, up to one that cannot be read or `isLast`. */
export const listChunks = <Chunk extends { end: number }>(
  read: (at: number) => Chunk | undefined,
  from: number,
  countParts: CountParts,
  isLast = (_: Chunk) => false,
) => {
  const chunks: Chunk[] = []
  for (let chunk = read(from); chunk; chunk = isLast(chunk) ? undefined : read(chunk.end)) {
    countParts()
    chunks.push(chunk)
  }
  return chunks
}

/**
 * Whether a size is positive.
 * @throws TOO_MANY_PIXELS
 */
export const isAllowedSize = (width: number, height: number) => {
  if (width * height > MAX_PIXELS) throw new ImageError('TOO_MANY_PIXELS')
  return width > 0 && height > 0
}
