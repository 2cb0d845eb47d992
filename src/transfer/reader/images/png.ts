import { computeCrc } from '../../../values/crc'
import { createOutput, joinBytes, readText, readUint, writeText, writeUint } from './bytes'
import { type CleanedImage, type CountParts, isAllowedSize, listChunks } from './image'
import { readOrientation, writeOrientation } from './metadata'

const SIGNATURE = '\x89PNG\r\n\x1a\n'

// The bit depths allowed for each colour type (PNG, 11.2.1).
const DEPTHS = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
])

/**
 * The chunks other than image data that affect rendering, each with its length, or its maximum length by colour type.
 * hIST and sPLT are dropped: viewers ignore them, and they can carry hundreds of arbitrary bytes.
 */
const LENGTHS = new Map<string, number | Record<number, number>>([
  ['PLTE', { 2: 768, 3: 768, 6: 768 }],
  ['tRNS', { 0: 2, 2: 6, 3: 256 }],
  ['bKGD', { 0: 2, 2: 6, 3: 1, 4: 2, 6: 6 }],
  ['sBIT', { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 }],
  ['gAMA', 4],
  ['cHRM', 32],
  ['sRGB', 1],
  ['pHYs', 9],
  ['cICP', 4],
  ['mDCV', 24],
  ['cLLI', 8],
  ['acTL', 8],
])

const isRendered = (type: string, length: number, colour: number) => {
  const lengths = LENGTHS.get(type)
  const expected = typeof lengths === 'number' ? lengths : (lengths?.[colour] ?? -1)
  // A palette has any number of three-byte entries, and its transparency may cover only the first ones.
  if (type === 'PLTE') return length > 0 && length <= expected && length % 3 === 0
  if (type === 'tRNS' && colour === 3) return length > 0 && length <= expected
  return length === expected
}

type Chunk = { type: string; start: number; end: number }

const readChunk = (bytes: Uint8Array, start: number): Chunk | undefined => {
  const end = start + 12 + readUint(bytes, start, 4)
  if (start + 12 > bytes.length || end > bytes.length) return undefined
  const isIntact = computeCrc(bytes, start + 4, end - 4) === readUint(bytes, end - 4, 4)
  return isIntact ? { type: readText(bytes, start + 4, 4), start, end } : undefined
}

const readPayload = (bytes: Uint8Array, { start, end }: Chunk) => bytes.subarray(start + 8, end - 4)

const writeChunk = (type: string, payload: Uint8Array) => {
  const body = joinBytes([writeText(type), payload])
  return joinBytes([writeUint(payload.length, 4), body, writeUint(computeCrc(body), 4)])
}

const readHeader = (payload: Uint8Array) => {
  const width = readUint(payload, 0, 4)
  const height = readUint(payload, 4, 4)
  const colour = payload[9] ?? -1
  const depths = DEPTHS.get(colour)
  const isLegal = payload[10] === 0 && payload[11] === 0 && (payload[12] ?? 2) < 2
  if (payload.length !== 13 || !depths?.includes(payload[8] ?? 0) || !isLegal || !isAllowedSize(width, height)) {
    return undefined
  }
  return { width, height, colour }
}

// Animation frames must lie within the image (PNG, 11.3.6.2).
const isFrameHeader = (payload: Uint8Array, width: number, height: number) => {
  const [frameWidth, frameHeight] = [readUint(payload, 4, 4), readUint(payload, 8, 4)]
  const [left, top] = [readUint(payload, 12, 4), readUint(payload, 16, 4)]
  if (payload.length !== 26 || !isAllowedSize(frameWidth, frameHeight)) return false
  return left + frameWidth <= width && top + frameHeight <= height
}

// The profile name is free text, so it is replaced. The profile itself is a zlib stream (RFC 1950, 2.2).
const cleanProfile = (payload: Uint8Array) => {
  const name = payload.subarray(0, 80).indexOf(0)
  const stream = payload.subarray(name + 2)
  const isStream = payload[name + 1] === 0 && ((stream[0] ?? 0) & 15) === 8 && readUint(stream, 0, 2) % 31 === 0
  return name > 0 && isStream ? joinBytes([writeText('icc\0\0'), stream]) : undefined
}

const isEnd = ({ type }: Chunk) => type === 'IEND'

/**
 * Rebuilds a PNG, animated or not, from the chunks that affect rendering, with the orientation as its only Exif entry.
 * Drops texts, times, unknown chunks and everything after the end.
 * @returns undefined if it is corrupt or truncated
 */
export const cleanPng = (bytes: Uint8Array, countParts: CountParts): CleanedImage | undefined => {
  const [first, ...chunks] = listChunks((at) => readChunk(bytes, at), SIGNATURE.length, countParts, isEnd)
  const header = first?.type === 'IHDR' && chunks.at(-1)?.type === 'IEND' && readHeader(readPayload(bytes, first))
  if (!first || !header) return undefined
  const { width, height, colour } = header
  // eXIf may follow the image data (PNG, 5.6) but is written before it, so it has to be found first.
  const exif = chunks.find(({ type }) => type === 'eXIf')
  const orientation = exif ? readOrientation(readPayload(bytes, exif)) : 1
  // The rewritten eXIf chunk may be longer than a malformed original.
  const output = createOutput(bytes.length + 64)
  output.append(bytes.subarray(0, first.end))
  const kept = new Set<string>()
  let previous = first.type
  for (const chunk of chunks) {
    const { type, start, end } = chunk
    const hasData = kept.has('IDAT')
    if (isEnd(chunk)) {
      if (!hasData || end - start !== 12) return undefined
      output.append(bytes.subarray(start, end))
      return { width, height, bytes: output.finish() }
    }
    if (type === 'IDAT') {
      // IDAT chunks must be consecutive (PNG, 5.6), and the palette must precede them.
      if (hasData ? previous !== 'IDAT' : colour === 3 && !kept.has('PLTE')) return undefined
      if (!hasData && orientation > 1) output.append(writeChunk('eXIf', writeOrientation(orientation)))
    }
    const startsFrame = type === 'fcTL' && kept.has('acTL')
    if (type === 'IHDR' || (startsFrame && !isFrameHeader(readPayload(bytes, chunk), width, height))) return undefined
    const isData = type === 'IDAT' || startsFrame || (type === 'fdAT' && hasData && kept.has('fcTL'))
    const isFirst = !hasData && !kept.has(type)
    const profile = isFirst && type === 'iCCP' ? cleanProfile(readPayload(bytes, chunk)) : undefined
    if (profile || isData || (isFirst && isRendered(type, end - start - 12, colour))) {
      output.append(profile ? writeChunk(type, profile) : bytes.subarray(start, end))
      kept.add(type)
    }
    previous = type
  }
  return undefined
}
