import { hasText, joinBytes, readUint, readUintLittle, writeText, writeUint } from './bytes'

const ORIENTATION_TAG = 0x0112
const SHORT = 3

/**
 * Reads the orientation, 1 to 8, from a TIFF block of either byte order; 1 if it has none. Reads the first directory
 * only and follows no offsets, so circular ones are harmless (TIFF 6.0, section 2).
 */
export const readOrientation = (block: Uint8Array) => {
  // WebP and PNG contain the bare block, but some encoders write the JPEG prefix before it.
  const tiff = hasText(block, 0, 'Exif\0\0') ? block.subarray(6) : block
  const read = hasText(tiff, 0, 'II*\0') ? readUintLittle : hasText(tiff, 0, 'MM\0*') ? readUint : undefined
  if (!read) return 1
  const directory = read(tiff, 4, 4)
  const entries = read(tiff, directory, 2)
  for (let index = 0; index < entries; index++) {
    const entry = directory + 2 + index * 12
    const tag = read(tiff, entry, 2)
    if (tag === -1) return 1
    if (tag !== ORIENTATION_TAG || read(tiff, entry + 2, 2) !== SHORT || read(tiff, entry + 4, 4) !== 1) continue
    const orientation = read(tiff, entry + 8, 2)
    return orientation >= 1 && orientation <= 8 ? orientation : 1
  }
  return 1
}

/** Writes a TIFF block with the orientation as its only entry. */
export const writeOrientation = (orientation: number) =>
  joinBytes([
    writeText('MM\0*'),
    writeUint(8, 4),
    writeUint(1, 2),
    writeUint(ORIENTATION_TAG, 2),
    writeUint(SHORT, 2),
    writeUint(1, 4),
    writeUint(orientation, 2),
    new Uint8Array(2 + 4),
  ])

const HEADER = 128
const TAG = 12

/** Cuts a colour profile off at the size in its header (ICC.1:2022, 7.2 and 7.3). Undefined if the bytes are not a profile. */
export const findProfile = (bytes: Uint8Array) => {
  const size = readUint(bytes, 0, 4)
  const tags = readUint(bytes, HEADER, 4)
  if (!hasText(bytes, 36, 'acsp') || tags < 0) return undefined
  if (size > bytes.length || size < HEADER + 4 + tags * TAG) return undefined
  return bytes.subarray(0, size)
}
