import { hasText, readUint } from './bytes'

const HEADER = 128
const TAG = 12

/**
 * Cuts a colour profile off at the size in its header (ICC.1:2022, 7.2 and 7.3).
 * @returns undefined if the bytes are not a profile
 */
export const findProfile = (bytes: Uint8Array) => {
  const size = readUint(bytes, 0, 4)
  const tags = readUint(bytes, HEADER, 4)
  if (!hasText(bytes, 36, 'acsp') || tags < 0) return undefined
  if (size > bytes.length || size < HEADER + 4 + tags * TAG) return undefined
  return bytes.subarray(0, size)
}
