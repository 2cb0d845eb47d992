import { createOutput, hasText, readText, readUintLittle } from './bytes'
import { type CleanedImage, isAllowedSize } from './image'

const IMAGE = 0x2c
const EXTENSION = 0x21
const TRAILER = 0x3b
const CONTROL = 0xf9
const APPLICATION = 0xff

const LOOPS = ['NETSCAPE2.0', 'ANIMEXTS1.0']

// The length of the colour table after a descriptor, from the flags in it (GIF89a, 18 and 20).
const measureColourTable = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

// Sub-blocks end with an empty one (GIF89a, 15). XMP is not stored in sub-blocks, but its trailer leads a reader of
// sub-blocks to an empty one (XMP part 3, 1.1.2).
const findBlocksEnd = (bytes: Uint8Array, from: number) => {
  let at = from
  for (let size = bytes[at]; size !== undefined; size = bytes[at]) {
    at += 1 + size
    if (size === 0) return at
  }
  return -1
}

// The loop count is a sub-block of three bytes: 1 and the count. Any other sub-blocks are dropped.
const readLoop = (bytes: Uint8Array, at: number) => {
  if (bytes[at] !== 11 || !LOOPS.includes(readText(bytes, at + 1, 11))) return undefined
  return bytes[at + 12] === 3 && bytes[at + 13] === 1 ? bytes.subarray(at, at + 16) : undefined
}

// A frame is a descriptor, an optional colour table, the LZW code size and the data. Returns -1 if it is invalid.
const findFrameEnd = (bytes: Uint8Array, at: number) => {
  const width = readUintLittle(bytes, at + 1, 2) + readUintLittle(bytes, at + 5, 2)
  const height = readUintLittle(bytes, at + 3, 2) + readUintLittle(bytes, at + 7, 2)
  const hasArea = readUintLittle(bytes, at + 5, 2) > 0 && readUintLittle(bytes, at + 7, 2) > 0
  const code = at + 10 + measureColourTable(bytes[at + 9] ?? 0)
  const codeSize = bytes[code] ?? 0
  if (!hasArea || !isAllowedSize(width, height) || codeSize < 1 || codeSize > 8) return -1
  return findBlocksEnd(bytes, code + 1)
}

/**
 * Rebuilds a GIF from its colour tables, frames, their timing and the loop count. Drops comments, texts, other
 * extensions such as XMP, and everything after the end.
 * @returns undefined if it is corrupt, truncated or not a GIF
 */
export const cleanGif = (bytes: Uint8Array): CleanedImage | undefined => {
  if (!hasText(bytes, 0, 'GIF87a') && !hasText(bytes, 0, 'GIF89a')) return undefined
  const width = readUintLittle(bytes, 6, 2)
  const height = readUintLittle(bytes, 8, 2)
  let at = 13 + measureColourTable(bytes[10] ?? 0)
  if (!isAllowedSize(width, height) || at > bytes.length) return undefined
  const output = createOutput(bytes.length)
  output.append(bytes.subarray(0, at))
  let control: Uint8Array | undefined
  let hasLoop = false
  let frames = 0
  for (let block = bytes[at]; block !== undefined; block = bytes[at]) {
    if (block === TRAILER) {
      if (frames === 0) return undefined
      output.append(Uint8Array.of(TRAILER))
      return { width, height, bytes: output.finish() }
    }
    if (block === IMAGE) {
      const end = findFrameEnd(bytes, at)
      if (end === -1) return undefined
      output.append(...(control ? [control] : []), bytes.subarray(at, end))
      control = undefined
      frames++
      at = end
    } else if (block === EXTENSION) {
      const label = bytes[at + 1] ?? 0
      const end = findBlocksEnd(bytes, at + 2)
      if (end === -1) return undefined
      if (label === CONTROL) {
        if (bytes[at + 2] !== 4 || end !== at + 8) return undefined
        control = bytes.subarray(at, end)
      } else if (label < 0x80) {
        // A graphic control applies to the next block that renders, which may be a text (GIF89a, 12 and 23).
        control = undefined
      }
      const loop = label === APPLICATION && !hasLoop ? readLoop(bytes, at + 2) : undefined
      if (loop) {
        output.append(Uint8Array.of(EXTENSION, APPLICATION), loop, new Uint8Array(1))
        hasLoop = true
      }
      at = end
    } else {
      return undefined
    }
  }
  return undefined
}
