import { crc32 } from 'node:zlib'
import { join, little, type OptionalPart, type Part, repeat, store, u16, u32, zeros } from '../bytes'
import { exifBlock, iptcBlock, xmpPacket } from './camera'
import { alphaData, baselineJpeg, displayP3, loopingGif, losslessData, lossyData, progressiveJpeg } from './encoded'

/** The metadata of a sample image. Formats ignore what they cannot store. */
export type Metadata = {
  orientation?: number
  order?: 'II' | 'MM'
  exif?: boolean
  xmp?: boolean
  iptc?: boolean
  comment?: string
  profile?: boolean
  /** Further JPEG segments, PNG chunks or GIF blocks before the image data. */
  extra?: Part
  trailing?: Part
}

/** All metadata that cameras and editors leave in an image. */
export const EVERYTHING: Metadata = {
  orientation: 6,
  exif: true,
  xmp: true,
  iptc: true,
  comment: 'GPSMARK by Someone',
  profile: true,
  trailing: 'ftypmp42 a video of Someone at GPSMARK',
}

/** The size of every sample image. */
export const SIZE = { width: 24, height: 16 }

const exifOf = ({ exif, orientation, order }: Metadata) =>
  exif || orientation !== undefined ? exifBlock(orientation, order) : undefined

/** A JPEG segment. */
export const segment = (marker: number, ...parts: Part[]) => {
  const payload = join(...parts)
  return join([0xff, marker], u16(payload.length + 2), payload)
}

// The index of a Multi-Picture file, in which a second image follows the first.
const multiPicture = segment(0xe2, 'MPF\0', 'MM\0*', u32(8), u16(0), u32(0), 'CamMaker')

/** A JPEG with metadata in the order in which cameras write it. */
export const jpeg = (metadata: Metadata = {}, base: 'baseline' | 'progressive' = 'baseline') => {
  const bytes = base === 'baseline' ? baselineJpeg : progressiveJpeg
  const half = displayP3.length / 2
  const exif = exifOf(metadata)
  return join(
    bytes.subarray(0, 2),
    segment(0xe0, 'JFIF\0', [1, 1, 1], u16(72, 72), [1, 1], 'abc'),
    exif && segment(0xe1, 'Exif\0\0', exif),
    metadata.xmp && segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0', xmpPacket()),
    metadata.exif && join(segment(0xe0, 'JFXX\0', [0x10], 'Thumbnail'), multiPicture, segment(0xe4, 'CamMaker notes')),
    metadata.profile && segment(0xe2, 'ICC_PROFILE\0', [2, 2], displayP3.subarray(half)),
    metadata.profile && segment(0xe2, 'ICC_PROFILE\0', [1, 2], displayP3.subarray(0, half)),
    metadata.iptc && segment(0xed, iptcBlock()),
    segment(0xee, 'Adobe', u16(101), 'GPSM', [1], 'ARK'),
    metadata.comment && segment(0xfe, metadata.comment),
    metadata.extra,
    bytes.subarray(2),
    metadata.exif && bytes,
    metadata.trailing,
  )
}

/** A PNG chunk. */
export const chunk = (type: string, ...parts: Part[]) => {
  const body = join(type, ...parts)
  return join(u32(body.length - 4), body, u32(crc32(body)))
}

export const PNG_SIGNATURE = '\x89PNG\r\n\x1a\n'

export const pngHeader = (width: number, height: number, depth = 8, colour = 2, compression = 0) =>
  chunk('IHDR', u32(width, height), [depth, colour, compression, 0, 0])

/** A PNG of 4 by 1 pixels with these bytes as its image data. */
export const pngWithData = (data: Part) => join(PNG_SIGNATURE, pngHeader(4, 1), chunk('IDAT', data), chunk('IEND'))

// A horizontal gradient. Each row starts with filter type 0.
const rows = (blue: number) => {
  const pixels = Array.from({ length: SIZE.width }, (_, x) => [x * 10, 255 - x * 10, blue])
  return store(repeat(SIZE.height, [0, ...pixels.flat()]))
}

const pngTexts = (metadata: Metadata) =>
  join(
    metadata.xmp && chunk('iTXt', 'XML:com.adobe.xmp\0\0\0\0\0', xmpPacket()),
    metadata.iptc && chunk('zTXt', 'Raw profile type iptc\0\0', store(iptcBlock())),
    metadata.comment && chunk('tEXt', 'Comment\0', metadata.comment),
    metadata.exif && join(chunk('tIME', u16(2024), [5, 6, 7, 8, 9]), chunk('caMr', 'CamMaker')),
  )

const pngOf = (metadata: Metadata, ...chunks: OptionalPart[]) =>
  join(PNG_SIGNATURE, pngHeader(SIZE.width, SIZE.height), ...chunks, chunk('IEND'), metadata.trailing)

const pngExif = (metadata: Metadata) => {
  const exif = exifOf(metadata)
  return exif && chunk('eXIf', exif)
}

/** A truecolour PNG with Exif before or after the image data. */
export const png = (metadata: Metadata = {}, exifPlace: 'before' | 'after' = 'before') => {
  const data = rows(90)
  return pngOf(
    metadata,
    metadata.profile ? chunk('iCCP', 'GPSMARK\0\0', store(displayP3)) : chunk('gAMA', u32(45455)),
    chunk('pHYs', u32(2835, 2835), [1]),
    metadata.exif && chunk('sPLT', 'GPSMARK\0', [8]),
    exifPlace === 'before' && pngExif(metadata),
    pngTexts(metadata),
    metadata.extra,
    chunk('IDAT', data.subarray(0, 600)),
    chunk('IDAT', data.subarray(600)),
    exifPlace === 'after' && pngExif(metadata),
    pngTexts(metadata),
  )
}

/** A PNG of two frames. */
export const animatedPng = (metadata: Metadata = {}) => {
  const frame = (number: number) => chunk('fcTL', u32(number, SIZE.width, SIZE.height, 0, 0), u16(1, 10), [0, 0])
  return pngOf(
    metadata,
    chunk('acTL', u32(2, 0)),
    pngTexts(metadata),
    pngExif(metadata),
    frame(0),
    chunk('IDAT', rows(0)),
    frame(1),
    pngTexts(metadata),
    chunk('fdAT', u32(2), rows(255)),
  )
}

/** GIF sub-blocks of at most 255 bytes and the empty one that ends them. */
export const blocks = (content: Part) => {
  const bytes = join(content)
  const parts = Array.from({ length: Math.ceil(bytes.length / 255) }, (_, at) =>
    bytes.subarray(at * 255, at * 255 + 255),
  )
  return join(...parts.flatMap((part) => [[part.length], part]), [0])
}

/** A GIF application extension. */
export const application = (name: string, ...parts: Part[]) => join([0x21, 0xff, 11], name, ...parts)

const little16 = (...values: number[]) => values.flatMap((value) => little(value, 2))

/** A GIF header without a colour table. */
export const gifScreen = (width: number, height: number) => join('GIF89a', little16(width, height), [0, 0, 0])

/** A minimal GIF frame. */
export const gifFrame = (width: number, height: number, left = 0) =>
  join([0x2c], little16(left, 0, width, height), [0, 2], blocks([0x4c, 0x01]))

const GIF_TABLE_END = 13 + 3 * 16

/** An animated GIF of two frames. XMP is not stored in sub-blocks. */
export const gif = (metadata: Metadata = {}) => {
  const trailer = [1, ...Array.from({ length: 256 }, (_, index) => 255 - index), 0]
  return join(
    loopingGif.subarray(0, GIF_TABLE_END),
    metadata.xmp && application('XMP DataXMP', xmpPacket(), trailer),
    metadata.comment && join([0x21, 0xfe], blocks(metadata.comment)),
    metadata.iptc && application('MGK8BIM0000', blocks(iptcBlock())),
    metadata.exif && join([0x21, 0x01, 12], zeros(12), blocks('GPSMARK as plain text')),
    metadata.extra,
    loopingGif.subarray(GIF_TABLE_END),
    metadata.trailing,
  )
}

/** A WebP chunk. */
export const riffChunk = (type: string, ...parts: Part[]) => {
  const payload = join(...parts)
  return join(type, little(payload.length, 4), payload, zeros(payload.length % 2))
}

export const riff = (...chunks: OptionalPart[]) => {
  const content = join('WEBP', ...chunks)
  return join('RIFF', little(content.length, 4), content)
}

/** The VP8X chunk of an extended WebP. */
export const webpHeader = (flags: number, width = SIZE.width, height = SIZE.height) =>
  riffChunk('VP8X', [flags, 0, 0, 0], little(width - 1, 3), little(height - 1, 3))

/** The image data chunks of a WebP. */
export const WEBP_DATA = {
  lossy: riffChunk('VP8 ', lossyData),
  lossless: riffChunk('VP8L', losslessData),
  alpha: join(riffChunk('ALPH', alphaData), riffChunk('VP8 ', lossyData)),
}

const extendedWebp = (metadata: Metadata, flags: number, exifPrefix: string, ...chunks: OptionalPart[]) => {
  const exif = exifOf(metadata)
  const allFlags = flags + (metadata.profile ? 32 : 0) + 16 + (exif ? 8 : 0) + (metadata.xmp ? 4 : 0)
  const file = riff(
    webpHeader(allFlags),
    metadata.profile && riffChunk('ICCP', displayP3),
    ...chunks,
    exif && riffChunk('EXIF', exifPrefix, exif),
    metadata.xmp && riffChunk('XMP ', xmpPacket()),
  )
  return join(file, metadata.trailing)
}

const webpNote = ({ comment }: Metadata) => comment && riffChunk('NOTE', comment)

/** A simple WebP, or an extended one if it has metadata or alpha. */
export const webp = (metadata: Metadata = {}, kind: keyof typeof WEBP_DATA = 'lossy', exifPrefix = '') => {
  if (kind !== 'alpha' && Object.keys(metadata).length === 0) return riff(WEBP_DATA[kind])
  return extendedWebp(metadata, 0, exifPrefix, webpNote(metadata), WEBP_DATA[kind])
}

export const webpFrame = (left: number, top: number, ...parts: Part[]) => {
  const numbers = [left / 2, top / 2, SIZE.width - 1, SIZE.height - 1, 100].map((value) => little(value, 3))
  return riffChunk('ANMF', numbers.flat(), [2], ...parts)
}

/** An animated WebP of two frames, each with a stray chunk inside if given. */
export const animatedWebp = ({ profile: _, ...metadata }: Metadata = {}, stray: Part = '') =>
  extendedWebp(
    metadata,
    2,
    '',
    riffChunk('ANIM', [0, 0, 0, 0, 3, 0]),
    webpFrame(0, 0, WEBP_DATA.lossy, stray),
    webpNote(metadata),
    webpFrame(0, 0, stray, WEBP_DATA.lossless),
  )
