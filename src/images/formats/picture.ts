/** A picture without its metadata. The size is the stored one: orientation does not swap it. */
export type CleanPicture = { width: number; height: number; bytes: Uint8Array<ArrayBuffer> }

/** The largest picture accepted, by the size its header announces. */
export const MAX_PIXELS = 50_000_000

/** Whether a size is neither empty nor beyond the pixel limit. */
export const isAllowedSize = (width: number, height: number) => width > 0 && height > 0 && width * height <= MAX_PIXELS
