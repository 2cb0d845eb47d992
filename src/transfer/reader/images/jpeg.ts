import { createOutput, hasText, joinBytes, readUint, writeText, writeUint } from './bytes'
import { type CleanedImage, type CountParts, isAllowedSize, listChunks } from './image'
import { findProfile, readOrientation, writeOrientation } from './metadata'

// Each table starts with a byte: its precision or class, 0 or 1, and its destination, 0 to 3.
const areTables = (payload: Uint8Array, measureTable: (start: number, kind: number) => number) => {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    at += 1 + measureTable(at + 1, head >> 4)
  }
  return at > 0 && at === payload.length
}

/** Whether a DQT payload consists of complete quantization tables (ITU-T T.81, B.2.4.1). */
const areQuantizationTables = (payload: Uint8Array) =>
  areTables(payload, (_, precision) => (precision === 0 ? 64 : 128))

/** Whether a DHT payload consists of complete Huffman tables of at most 256 codes (B.2.4.2). */
const areHuffmanTables = (payload: Uint8Array) =>
  areTables(payload, (start) => {
    let codes = 0
    for (let at = start; at < start + 16; at++) codes += payload[at] ?? 0
    return codes > 256 ? Number.POSITIVE_INFINITY : 16 + codes
  })

/** Whether a DAC payload consists of complete conditioning entries (B.2.4.3). */
const isArithmeticConditioning = (payload: Uint8Array) => payload.length > 0 && payload.length % 2 === 0

/** Whether a DRI payload is a restart interval (B.2.4.4). */
const isRestartInterval = (payload: Uint8Array) => payload.length === 2

/** Whether an SOS payload lists one to four components (B.2.3). */
const isScanHeader = (payload: Uint8Array) => {
  const components = payload[0] ?? 0
  return components >= 1 && components <= 4 && payload.length === 4 + 2 * components
}

/** Reads the size from a frame header; undefined if the header is invalid (B.2.2). */
const readFrameSize = (payload: Uint8Array) => {
  const precision = payload[0]
  const components = payload[5] ?? 0
  if (precision !== 8 && precision !== 12) return undefined
  if (components < 1 || components > 4 || payload.length !== 6 + 3 * components) return undefined
  return { width: readUint(payload, 3, 2), height: readUint(payload, 1, 2) }
}

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee

const EXIF = 'Exif\0\0'
const ICC = 'ICC_PROFILE\0'
const ICC_PART = 0xffff - 2 - ICC.length - 2

// Sequential and progressive frames, the only ones that browsers support (T.81, table B.1).
const FRAMES = [0xc0, 0xc1, 0xc2, 0xc9, 0xca]

// DNL is dropped: it could change the height after the frame header was checked.
const TABLE_CHECKS = new Map([
  [0xc4, areHuffmanTables],
  [0xcc, isArithmeticConditioning],
  [0xdb, areQuantizationTables],
  [0xdd, isRestartInterval],
])

/** The payload is from `start` to `payloadEnd`. The data of a scan follows up to `end`. */
type Segment = { marker: number; start: number; payloadEnd: number; end: number }

// 0xff followed by 0 is data, and restart markers are part of the scan (T.81, B.1.1.5).
const findScanEnd = (bytes: Uint8Array, from: number) => {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue
    const end = at
    while (bytes[at] === 0xff) at++
    const marker = bytes[at] ?? EOI
    if (marker !== 0 && (marker < 0xd0 || marker > 0xd7)) return end
  }
  return bytes.length
}

// Any number of fill bytes may precede a marker; TEM and RSTn have no payload (T.81, B.1.1.2 and B.1.1.3). As in
// decoders, a missing marker or an incomplete segment at the end of the file counts as EOI.
const readSegment = (bytes: Uint8Array, from: number): Segment | undefined => {
  let at = from
  while (bytes[at] === 0xff) at++
  if (at === from && at < bytes.length) return undefined
  const marker = bytes[at] ?? EOI
  const start = at + 3
  if (marker === EOI || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
    return { marker, start, payloadEnd: at + 1, end: at + 1 }
  }
  const length = readUint(bytes, at + 1, 2)
  const payloadEnd = at + 1 + length
  // Markers below 0xc0 are reserved, and images must not be nested.
  if (marker < 0xc0 || marker === SOI || length === 0 || length === 1) return undefined
  if (length < 0 || payloadEnd > bytes.length) return { marker: EOI, start, payloadEnd, end: payloadEnd }
  return { marker, start, payloadEnd, end: marker === SOS ? findScanEnd(bytes, payloadEnd) : payloadEnd }
}

const isEnd = ({ marker }: Segment) => marker === EOI

const readPayload = (bytes: Uint8Array, { start, payloadEnd }: Segment) => bytes.subarray(start, payloadEnd)

const writeSegment = (marker: number, ...payload: Uint8Array[]) => {
  const length = payload.reduce((sum, part) => sum + part.length, 2)
  return joinBytes([Uint8Array.of(0xff, marker), writeUint(length, 2), ...payload])
}

// JFIF 1.02: version, units and density, then an empty thumbnail.
const writeJfif = (payload: Uint8Array) =>
  writeSegment(APP0, writeText('JFIF\0'), Uint8Array.of(1, 2), payload.subarray(7, 12), new Uint8Array(2))

// Only the transform of the Adobe segment matters: it tells RGB, YCbCr, CMYK and YCCK apart.
const writeAdobe = (payload: Uint8Array) =>
  writeSegment(APP14, writeText('Adobe'), writeUint(100, 2), new Uint8Array(4), payload.subarray(11, 12))

// The parts of a profile are numbered from 1, and each states the total (ICC.1:2022, B.4).
const writeProfile = (parts: Map<number, Uint8Array>, count: number) => {
  const ordered = Array.from({ length: count }, (_, index) => parts.get(index + 1))
  const profile = findProfile(joinBytes(ordered.filter((part) => part !== undefined)))
  if (ordered.includes(undefined) || !profile) return []
  const total = Math.ceil(profile.length / ICC_PART)
  return Array.from({ length: total }, (_, index) => {
    const part = profile.subarray(index * ICC_PART, (index + 1) * ICC_PART)
    return writeSegment(APP2, writeText(ICC), Uint8Array.of(index + 1, total), part)
  })
}

// Rewrites the application segments before the first scan that affect rendering. cleanJpeg requires a scan.
const writeApplicationSegments = (bytes: Uint8Array, segments: Segment[]) => {
  const scan = segments.findIndex(({ marker }) => marker === SOS)
  const before = segments.slice(0, scan)
  const isOf = (marker: number, name: string, length: number) => (segment: Segment) =>
    segment.marker === marker && segment.payloadEnd - segment.start >= length && hasText(bytes, segment.start, name)
  const jfif = before.findLast(isOf(APP0, 'JFIF\0', 14))
  const adobe = before.findLast(isOf(APP14, 'Adobe', 12))
  const exif = before.find(isOf(APP1, EXIF, EXIF.length))
  const profile = new Map<number, Uint8Array>()
  let profileParts = 0
  for (const { start, payloadEnd } of before.filter(isOf(APP2, ICC, ICC.length + 2))) {
    profile.set(bytes[start + ICC.length] ?? 0, bytes.subarray(start + ICC.length + 2, payloadEnd))
    profileParts = bytes[start + ICC.length + 1] ?? 0
  }
  const orientation = exif ? readOrientation(readPayload(bytes, exif)) : 1
  const written = jfif ? [writeJfif(readPayload(bytes, jfif))] : []
  if (orientation > 1) written.push(writeSegment(APP1, writeText(EXIF), writeOrientation(orientation)))
  written.push(...writeProfile(profile, profileParts))
  if (adobe) written.push(writeAdobe(readPayload(bytes, adobe)))
  return written
}

/**
 * Rebuilds a JPEG from its frame, tables and scans, its JFIF, Adobe and colour profile segments, and its orientation.
 * Drops everything after the end marker, such as the extra images, depth maps and videos that phones append. Completes
 * a file that ends after the start of its first scan.
 * @returns undefined if it is corrupt, or truncated before that
 */
export const cleanJpeg = (bytes: Uint8Array, countParts: CountParts): CleanedImage | undefined => {
  const segments = listChunks((at) => readSegment(bytes, at), 2, countParts, isEnd)
  if (segments.at(-1)?.marker !== EOI) return undefined
  // The rewritten Exif segment may be longer than a malformed original.
  const output = createOutput(bytes.length + 64)
  output.append(bytes.subarray(0, 2), ...writeApplicationSegments(bytes, segments))
  let frame: { width: number; height: number } | undefined
  let scans = 0
  for (const segment of segments) {
    const { marker, start, payloadEnd, end } = segment
    const isIntact = TABLE_CHECKS.get(marker)
    if (marker === SOS) {
      if (!frame || !isScanHeader(readPayload(bytes, segment))) return undefined
      if (end > payloadEnd) scans++
    } else if (FRAMES.includes(marker)) {
      const size = readFrameSize(readPayload(bytes, segment))
      if (frame || !size || !isAllowedSize(size.width, size.height)) return undefined
      frame = size
    } else if (isIntact && !isIntact(readPayload(bytes, segment))) {
      return undefined
    } else if (!isIntact && marker >= 0xc0 && marker < 0xd0) {
      return undefined
    }
    if (marker === SOS || FRAMES.includes(marker) || isIntact) {
      output.append(Uint8Array.of(0xff), bytes.subarray(start - 3, end))
    }
  }
  if (!frame || scans === 0) return undefined
  output.append(Uint8Array.of(0xff, EOI))
  return { ...frame, bytes: output.finish() }
}
