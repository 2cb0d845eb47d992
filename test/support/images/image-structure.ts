import { cleanImage } from '../../../src/transfer/reader/images/clean-image'
import { ImageError } from '../../../src/transfer/reader/images/image'
import { join, toText, u16, u32, zeros } from '../bytes'

/** Cleans an image that must be accepted. */
export const clean = (bytes: Uint8Array<ArrayBuffer>) => cleanImage(bytes).bytes

/** The cleaned image, or the code of the error that refuses it. */
export const tryClean = (bytes: Uint8Array<ArrayBuffer>) => {
  try {
    return cleanImage(bytes)
  } catch (error) {
    if (error instanceof ImageError) return error.fault
    throw error
  }
}

/** The only Exif block that is ever written: one entry, the orientation. */
export const orientationBlock = (orientation: number) =>
  join('MM\0*', u32(8), u16(1, 0x0112, 3), u32(1), u16(orientation), zeros(6))

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const text = (bytes: Uint8Array, at: number) => toText(bytes.subarray(at, at + 4))

/** The hexadecimal markers of a JPEG up to its first scan. */
export const listMarkers = (bytes: Uint8Array) => {
  const markers: string[] = []
  for (let at = 2; markers.at(-1) !== 'da'; at += 2 + view(bytes).getUint16(at + 2)) {
    markers.push(Number(bytes[at + 1]).toString(16))
  }
  return markers
}

/** The chunk types of a PNG. */
export const listChunks = (bytes: Uint8Array) => {
  const types: string[] = []
  for (let at = 8; at < bytes.length; at += 12 + view(bytes).getUint32(at)) types.push(text(bytes, at + 4))
  return types
}

/** The chunk types of a WebP, including those inside frames. */
export const listRiffChunks = (bytes: Uint8Array, from = 12, to = bytes.length): string[] => {
  const types: string[] = []
  for (let at = from; at < to; ) {
    const size = view(bytes).getUint32(at + 4, true)
    const type = text(bytes, at)
    types.push(type, ...(type === 'ANMF' ? listRiffChunks(bytes, at + 24, at + 8 + size) : []))
    at += 8 + size + (size % 2)
  }
  return types
}

/** Counts the occurrences of some bytes in others. */
export const count = (bytes: Uint8Array, ...parts: Parameters<typeof join>) =>
  toText(bytes).split(toText(join(...parts))).length - 1
