import { createOutput, hasText, joinBytes, readText, readUintLittle, writeText, writeUintLittle } from './bytes'
import { type CleanedImage, type CountParts, isAllowedSize, listChunks } from './image'
import { findProfile, readOrientation, writeOrientation } from './metadata'

// The flags of VP8X (RFC 9649, 2.7).
const HAS_PROFILE = 0x20
const HAS_ALPHA = 0x10
const HAS_EXIF = 0x08
const IS_ANIMATED = 0x02

type Part = { type: string; payload: Uint8Array }
type Chunk = Part & { end: number }
type Output = ReturnType<typeof createOutput>
type Size = { width: number; height: number }

// A chunk of odd length is padded by a byte, which some encoders omit at the end of the file.
const readChunk = (bytes: Uint8Array, at: number): Chunk | undefined => {
  const size = readUintLittle(bytes, at + 4, 4)
  const start = at + 8
  if (size < 0 || start + size > bytes.length) return undefined
  const end = Math.min(start + size + (size % 2), bytes.length)
  return { type: readText(bytes, at, 4), payload: bytes.subarray(start, start + size), end }
}

const listFrom = (bytes: Uint8Array, from: number, countParts: CountParts) =>
  listChunks((at) => readChunk(bytes, at), from, countParts)

const appendChunk = (output: Output, { type, payload }: Part) =>
  output.append(writeText(type), writeUintLittle(payload.length, 4), payload, new Uint8Array(payload.length % 2))

// An image must be a visible key frame (RFC 6386, 9.1).
const readLossySize = (payload: Uint8Array): Size | undefined => {
  const tag = readUintLittle(payload, 0, 3)
  const isShownKeyFrame = (tag & 0x11) === 0x10 && ((tag >> 1) & 7) <= 3
  if (tag < 0 || !isShownKeyFrame || tag >> 5 > payload.length || !hasText(payload, 3, '\x9d\x01\x2a')) return undefined
  const width = readUintLittle(payload, 6, 2) & 0x3fff
  return payload.length < 10 ? undefined : { width, height: readUintLittle(payload, 8, 2) & 0x3fff }
}

// A signature byte, width - 1 and height - 1 of 14 bits each, an alpha bit and a version of 3 bits (RFC 9649, 3.4).
const readLosslessSize = (payload: Uint8Array): Size | undefined => {
  const bits = readUintLittle(payload, 1, 4)
  if (payload[0] !== 0x2f || bits < 0 || bits >= 2 ** 29) return undefined
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
}

const readBitstreamSize = ({ type, payload }: Part) =>
  type === 'VP8 ' ? readLossySize(payload) : type === 'VP8L' ? readLosslessSize(payload) : undefined

const readSize24 = (payload: Uint8Array, at: number): Size => ({
  width: readUintLittle(payload, at, 3) + 1,
  height: readUintLittle(payload, at + 3, 3) + 1,
})

const isSame = (one: Size | undefined, other: Size) => one?.width === other.width && one.height === other.height

// The first bitstream, with the alpha plane before it if it is lossy; undefined unless it has the given size.
const findBitstream = (chunks: Chunk[], size: Size): Part[] | undefined => {
  const index = chunks.findIndex(({ type }) => type === 'VP8 ' || type === 'VP8L')
  const image = chunks[index]
  if (!image || !isSame(readBitstreamSize(image), size)) return undefined
  const alpha = image.type === 'VP8 ' && chunks.slice(0, index).find(({ type }) => type === 'ALPH')
  return alpha ? [alpha, image] : [image]
}

// An animation frame has a position, a duration and one image (RFC 9649, 2.7.1.1).
const appendFrame = (output: Output, payload: Uint8Array, canvas: Size, countParts: CountParts) => {
  const size = readSize24(payload, 6)
  const left = 2 * readUintLittle(payload, 0, 3)
  const top = 2 * readUintLittle(payload, 3, 3)
  const bitstream = findBitstream(listFrom(payload, 16, countParts), size)
  if (!bitstream || left + size.width > canvas.width || top + size.height > canvas.height) return false
  const length = bitstream.reduce((sum, part) => sum + 8 + part.payload.length + (part.payload.length % 2), 16)
  output.append(writeText('ANMF'), writeUintLittle(length, 4), payload.subarray(0, 16))
  for (const part of bitstream) appendChunk(output, part)
  return true
}

const finishFile = (output: Output, size: Size): CleanedImage => {
  output.overwrite(4, writeUintLittle(output.length() - 8, 4))
  return { ...size, bytes: output.finish() }
}

const cleanExtended = (bytes: Uint8Array, header: Chunk, output: Output, countParts: CountParts) => {
  const features = header.payload
  const flags = features[0] ?? 0
  const canvas = readSize24(features, 4)
  const chunks = listFrom(bytes, header.end, countParts)
  const { end } = chunks.at(-1) ?? header
  if (features.length !== 10 || end !== bytes.length || !isAllowedSize(canvas.width, canvas.height)) return undefined
  // Readers use the first chunk of each of these types (RFC 9649, 2.7.1.5).
  const [colours, animation, exif] = ['ICCP', 'ANIM', 'EXIF'].map((type) => chunks.find((chunk) => chunk.type === type))
  const profile = colours && findProfile(colours.payload)
  const orientation = exif ? readOrientation(exif.payload) : 1
  const kept = (flags & (HAS_ALPHA | IS_ANIMATED)) | (profile ? HAS_PROFILE : 0) | (orientation > 1 ? HAS_EXIF : 0)
  appendChunk(output, { type: 'VP8X', payload: joinBytes([Uint8Array.of(kept, 0, 0, 0), features.subarray(4)]) })
  if (profile) appendChunk(output, { type: 'ICCP', payload: profile })
  if (flags & IS_ANIMATED) {
    const frames = chunks.filter(({ type }) => type === 'ANMF')
    if (animation?.payload.length !== 6 || frames.length === 0) return undefined
    appendChunk(output, animation)
    if (!frames.every(({ payload }) => appendFrame(output, payload, canvas, countParts))) return undefined
  } else {
    const bitstream = findBitstream(chunks, canvas)
    if (!bitstream) return undefined
    for (const part of bitstream) appendChunk(output, part)
  }
  if (orientation > 1) appendChunk(output, { type: 'EXIF', payload: writeOrientation(orientation) })
  return finishFile(output, canvas)
}

/**
 * Rebuilds a WebP, animated or not, from the chunks that affect rendering, with the orientation as its only Exif entry.
 * Drops XMP, unknown chunks and everything after the end.
 * @returns undefined if it is corrupt or truncated
 */
export const cleanWebp = (bytes: Uint8Array, countParts: CountParts): CleanedImage | undefined => {
  const end = 8 + readUintLittle(bytes, 4, 4)
  if (end > bytes.length) return undefined
  const file = bytes.subarray(0, end)
  const first = readChunk(file, 12)
  if (!first) return undefined
  // Padding may be added at the end, and the rewritten EXIF chunk may be longer than a malformed original.
  const output = createOutput(end + 64)
  output.append(file.subarray(0, 12))
  if (first.type === 'VP8X') return cleanExtended(file, first, output, countParts)
  const size = readBitstreamSize(first)
  if (!size || !isAllowedSize(size.width, size.height)) return undefined
  appendChunk(output, first)
  return finishFile(output, size)
}
