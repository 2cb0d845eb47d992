import { createOutput, readText, readUintLittle } from './bytes'
import { type CleanedImage, type CountParts, isAllowedSize } from './image'

const IMAGE = 0x2c
const EXTENSION = 0x21
const TRAILER = 0x3b
const CONTROL = 0xf9
const APPLICATION = 0xff

const LOOPS = ['NETSCAPE2.0', 'ANIMEXTS1.0']

// The length of the colour table after a descriptor, from the flags in it (GIF89a, 18 and 20).
const measureColourTable = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

// The end of a block that is cut off by the end of the file.
const CUT_OFF = Number.POSITIVE_INFINITY

// Sub-blocks end with an empty one (GIF89a, 15). XMP is not stored in sub-blocks, but its trailer leads a reader of
// sub-blocks to an empty one (XMP part 3, 1.1.2).
const findBlocksEnd = (bytes: Uint8Array, from: number) => {
  let at = from
  for (let size = bytes[at]; size !== undefined; size = bytes[at]) {
    at += 1 + size
    if (size === 0) return at
  }
  return CUT_OFF
}

// The loop count is a sub-block of three bytes: 1 and the count. Any other sub-blocks are dropped.
const readLoop = (bytes: Uint8Array, at: number) => {
  if (bytes[at] !== 11 || !LOOPS.includes(readText(bytes, at + 1, 11))) return undefined
  return bytes[at + 12] === 3 && bytes[at + 13] === 1 ? bytes.subarray(at, at + 16) : undefined
}

// A frame is a descriptor, an optional colour table, the LZW code size and the data.
const findFrameEnd = (bytes: Uint8Array, at: number) => {
  const code = at + 10 + measureColourTable(bytes[at + 9] ?? 0)
  if (code >= bytes.length) return CUT_OFF
  const width = readUintLittle(bytes, at + 1, 2) + readUintLittle(bytes, at + 5, 2)
  const height = readUintLittle(bytes, at + 3, 2) + readUintLittle(bytes, at + 7, 2)
  const hasArea = readUintLittle(bytes, at + 5, 2) > 0 && readUintLittle(bytes, at + 7, 2) > 0
  const codeSize = bytes[code] ?? 0
  if (!hasArea || !isAllowedSize(width, height) || codeSize < 1 || codeSize > 8) return undefined
  return findBlocksEnd(bytes, code + 1)
}

const findBlockEnd = (bytes: Uint8Array, at: number) => {
  if (bytes[at] === IMAGE) return findFrameEnd(bytes, at)
  return bytes[at] === EXTENSION ? findBlocksEnd(bytes, at + 2) : undefined
}

/**
 * Rebuilds a GIF from its colour tables, frames, their timing and the loop count. Drops comments, texts, other
 * extensions such as XMP, and everything after the end. Completes a file that ends after its first frame.
 * @returns undefined if it is corrupt, or truncated before that
 */
export const cleanGif = (bytes: Uint8Array, countParts: CountParts): CleanedImage | undefined => {
  const width = readUintLittle(bytes, 6, 2)
  const height = readUintLittle(bytes, 8, 2)
  let at = 13 + measureColourTable(bytes[10] ?? 0)
  if (!isAllowedSize(width, height) || at > bytes.length) return undefined
  const output = createOutput(bytes.length + 1)
  output.append(bytes.subarray(0, at))
  let control: Uint8Array | undefined
  let hasLoop = false
  let frames = 0
  while (at < bytes.length && bytes[at] !== TRAILER) {
    countParts()
    const end = findBlockEnd(bytes, at)
    if (end === undefined) return undefined
    if (end > bytes.length) break
    if (bytes[at] === IMAGE) {
      output.append(...(control ? [control] : []), bytes.subarray(at, end))
      control = undefined
      frames++
    } else {
      const label = bytes[at + 1] ?? 0
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
    }
    at = end
  }
  if (frames === 0) return undefined
  output.append(Uint8Array.of(TRAILER))
  return { width, height, bytes: output.finish() }
}
