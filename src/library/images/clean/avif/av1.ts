import { readUint } from '../bytes'

const SEQUENCE_HEADER = 1

// A little-endian integer of seven bits per byte (AV1, 4.10.5).
const readLeb128 = (bytes: Uint8Array, at: number) => {
  let value = 0
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index] ?? 0
    value += (byte & 127) * 2 ** (7 * index)
    if (byte < 128) return { value, end: at + index + 1 }
  }
  return { value: Number.POSITIVE_INFINITY, end: at + 8 }
}

// Only temporal delimiters precede the sequence header, so few units are searched (AV1, 5.3).
const findSequenceHeader = (bytes: Uint8Array) => {
  for (let at = 0, units = 0; at < bytes.length && units < 16; units++) {
    const head = bytes[at] ?? 0
    const start = at + (head & 4 ? 2 : 1)
    const { value, end } = head & 2 ? readLeb128(bytes, start) : { value: bytes.length - start, end: start }
    if (head & 0x80 || end + value > bytes.length) return undefined
    if (((head >> 3) & 15) === SEQUENCE_HEADER) return bytes.subarray(end, end + value)
    at = end + value
  }
  return undefined
}

const createBitReader = (bytes: Uint8Array) => {
  let at = 0
  const read = (count: number) => {
    let value = 0
    for (let end = at + count; at < end; at++) value = value * 2 + (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1)
    return value
  }
  return { read, isPastEnd: () => at > bytes.length * 8 }
}

// Skips the timing information and operating points, which have variable lengths (AV1, 5.5.1).
const skipOperatingPoints = (read: (count: number) => number) => {
  let delayLength = 0
  if (read(1)) {
    read(64)
    // num_ticks_per_picture_minus_1 is a uvlc code: n zeros, a one, then n bits (AV1, 4.10.3).
    if (read(1)) {
      let zeros = 0
      while (zeros < 32 && !read(1)) zeros++
      read(zeros)
    }
    if (read(1)) {
      delayLength = read(5) + 1
      read(42)
    }
  }
  const hasDisplayDelay = read(1)
  const points = read(5) + 1
  for (let point = 0; point < points; point++) {
    read(12)
    if (read(5) > 7) read(1)
    if (delayLength && read(1)) read(2 * delayLength + 1)
    if (hasDisplayDelay && read(1)) read(4)
  }
}

/** Reads the maximum frame size from the sequence header; undefined if the data has none (AV1, 5.5.1). */
export const readCodedSize = (bytes: Uint8Array) => {
  const header = findSequenceHeader(bytes)
  if (!header || readUint(header, 0, 1) >> 5 > 2) return undefined
  const { read, isPastEnd } = createBitReader(header)
  read(4)
  if (read(1)) read(5)
  else skipOperatingPoints(read)
  const widthBits = read(4) + 1
  const heightBits = read(4) + 1
  const width = read(widthBits) + 1
  const height = read(heightBits) + 1
  return isPastEnd() ? undefined : { width, height }
}
