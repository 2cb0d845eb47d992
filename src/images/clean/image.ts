/** An image without metadata. The size is the stored one: the orientation does not swap width and height. */
export type CleanedImage = { width: number; height: number; bytes: Uint8Array<ArrayBuffer> }

/** The limit on the size that the image header states. */
export const MAX_PIXELS = 50_000_000

/** Whether a size is positive and within the pixel limit. */
export const isAllowedSize = (width: number, height: number) => width > 0 && height > 0 && width * height <= MAX_PIXELS
