import { type AvifOptions, avifFile } from './avif'
import { big, crc32, join, little, type Part, store } from './bytes'
import { exifBlock, iptcBlock, xmpPacket } from './camera'
import {
  alphaData,
  baselineJpeg,
  displayP3,
  loopingGif,
  losslessData,
  lossyData,
  palettePng,
  progressiveJpeg,
} from './encoded'

/** The metadata of a sample image. Formats ignore what they cannot store. */
export type Metadata = {
  orientation?: number
  order?: 'II' | 'MM'
  exif?: boolean
  xmp?: boolean
  iptc?: boolean
  comment?: string
  profile?: boolean
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

/** A Display P3 colour profile, as sharp writes it. */
export const PROFILE = displayP3

const hasExif = ({ exif, orientation }: Metadata) => exif || orientation !== undefined
const blockOf = ({ orientation, order }: Metadata) => exifBlock(orientation, order)

/** A JPEG segment. */
export const segment = (marker: number, ...parts: Part[]) => {
  const payload = join(...parts)
  return join([0xff, marker], big(payload.length + 2, 2), payload)
}

/** The index segment of a Multi-Picture file, in which a second image follows the first. */
export const multiPicture = () => segment(0xe2, 'MPF\0', 'MM\0*', big(8, 4), big(0, 2), big(0, 4), 'CamMaker')

/** A JPEG with metadata in the order in which cameras write it. */
export const jpeg = (metadata: Metadata = {}, base: 'baseline' | 'progressive' = 'baseline', ...extra: Part[]) => {
  const bytes = base === 'baseline' ? baselineJpeg : progressiveJpeg
  const half = displayP3.length / 2
  return join(
    bytes.subarray(0, 2),
    segment(0xe0, 'JFIF\0', [1, 1, 1], big(72, 2), big(72, 2), [1, 1], 'abc'),
    hasExif(metadata) ? segment(0xe1, 'Exif\0\0', blockOf(metadata)) : '',
    metadata.xmp ? segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0', xmpPacket()) : '',
    metadata.exif ? segment(0xe0, 'JFXX\0', [0x10], 'Thumbnail') : '',
    metadata.exif ? multiPicture() : '',
    metadata.exif ? segment(0xe4, 'CamMaker notes') : '',
    metadata.profile ? segment(0xe2, 'ICC_PROFILE\0', [2, 2], displayP3.subarray(half)) : '',
    metadata.profile ? segment(0xe2, 'ICC_PROFILE\0', [1, 2], displayP3.subarray(0, half)) : '',
    metadata.iptc ? segment(0xed, iptcBlock()) : '',
    segment(0xee, 'Adobe', big(101, 2), 'GPSM', [1], 'ARK'),
    metadata.comment ? segment(0xfe, metadata.comment) : '',
    ...extra,
    bytes.subarray(2),
    metadata.exif ? bytes : '',
    metadata.trailing ?? '',
  )
}

/** A PNG chunk. */
export const chunk = (type: string, ...parts: Part[]) => {
  const body = join(type, ...parts)
  return join(big(body.length - 4, 4), body, big(crc32(body), 4))
}

export const PNG_SIGNATURE = '\x89PNG\r\n\x1a\n'

export const pngHeader = (width: number, height: number, depth = 8, colour = 2, ...rest: number[]) =>
  chunk('IHDR', big(width, 4), big(height, 4), [depth, colour, ...(rest.length ? rest : [0, 0, 0])])

// A horizontal gradient. Each row starts with filter type 0.
const rows = (blue: number) =>
  Array.from({ length: SIZE.height }, () => [
    0,
    ...Array.from({ length: SIZE.width }, (_, x) => [x * 10, 255 - x * 10, blue]).flat(),
  ]).flat()

const pngTexts = (metadata: Metadata) =>
  join(
    metadata.xmp ? chunk('iTXt', 'XML:com.adobe.xmp\0\0\0\0\0', xmpPacket()) : '',
    metadata.iptc ? chunk('zTXt', 'Raw profile type iptc\0\0', store(iptcBlock())) : '',
    metadata.comment ? chunk('tEXt', 'Comment\0', metadata.comment) : '',
    metadata.exif ? chunk('tIME', big(2024, 2), [5, 6, 7, 8, 9]) : '',
    metadata.exif ? chunk('caMr', 'CamMaker') : '',
  )

/** A truecolour PNG with Exif before or after the image data. */
export const png = (metadata: Metadata = {}, exifPlace: 'before' | 'after' = 'before', ...extra: Part[]) => {
  const exif = hasExif(metadata) ? chunk('eXIf', blockOf(metadata)) : ''
  const data = store(rows(90))
  return join(
    PNG_SIGNATURE,
    pngHeader(SIZE.width, SIZE.height),
    metadata.profile ? chunk('iCCP', 'GPSMARK\0\0', store(displayP3)) : '',
    metadata.profile ? '' : chunk('gAMA', big(45455, 4)),
    chunk('pHYs', big(2835, 4), big(2835, 4), [1]),
    metadata.exif ? chunk('sPLT', 'GPSMARK\0', [8]) : '',
    exifPlace === 'before' ? exif : '',
    pngTexts(metadata),
    ...extra,
    chunk('IDAT', data.subarray(0, 600)),
    chunk('IDAT', data.subarray(600)),
    exifPlace === 'after' ? exif : '',
    pngTexts(metadata),
    chunk('IEND'),
    metadata.trailing ?? '',
  )
}

/** A PNG of two frames. */
export const animatedPng = (metadata: Metadata = {}) => {
  const frame = (number: number) =>
    chunk('fcTL', big(number, 4), big(SIZE.width, 4), big(SIZE.height, 4), big(0, 8), big(1, 2), big(10, 2), [0, 0])
  return join(
    PNG_SIGNATURE,
    pngHeader(SIZE.width, SIZE.height),
    chunk('acTL', big(2, 4), big(0, 4)),
    pngTexts(metadata),
    hasExif(metadata) ? chunk('eXIf', blockOf(metadata)) : '',
    frame(0),
    chunk('IDAT', store(rows(0))),
    frame(1),
    pngTexts(metadata),
    chunk('fdAT', big(2, 4), store(rows(255))),
    chunk('IEND'),
    metadata.trailing ?? '',
  )
}

/** A PNG with a palette that has transparent colours. */
export const paletteWithAlphaPng = () => palettePng

/** GIF sub-blocks of at most 255 bytes and the empty one that ends them. */
export const blocks = (content: Part) => {
  const bytes = join(content)
  const parts: Part[] = []
  for (let at = 0; at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255)
    parts.push([part.length], part)
  }
  return join(...parts, [0])
}

/** A GIF header without a colour table. */
export const gifScreen = (width: number, height: number) =>
  join('GIF89a', little(width, 2), little(height, 2), [0, 0, 0])

/** A minimal GIF frame. */
export const gifFrame = (width: number, height: number, left = 0) =>
  join([0x2c], little(left, 2), little(0, 2), little(width, 2), little(height, 2), [0, 2], blocks([0x4c, 0x01]))

const GIF_TABLE_END = 13 + 3 * 16

/** An animated GIF of two frames. XMP is not stored in sub-blocks. */
export const gif = (metadata: Metadata = {}, ...extra: Part[]) => {
  const trailer = [1, ...Array.from({ length: 256 }, (_, index) => 255 - index), 0]
  return join(
    loopingGif.subarray(0, GIF_TABLE_END),
    metadata.xmp ? join([0x21, 0xff, 11], 'XMP DataXMP', xmpPacket(), trailer) : '',
    metadata.comment ? join([0x21, 0xfe], blocks(metadata.comment)) : '',
    metadata.iptc ? join([0x21, 0xff, 11], 'MGK8BIM0000', blocks(iptcBlock())) : '',
    metadata.exif ? join([0x21, 0x01, 12], new Uint8Array(12), blocks('GPSMARK as plain text')) : '',
    ...extra,
    loopingGif.subarray(GIF_TABLE_END),
    metadata.trailing ?? '',
  )
}

/** A WebP chunk. */
export const riffChunk = (type: string, ...parts: Part[]) => {
  const payload = join(...parts)
  return join(type, little(payload.length, 4), payload, new Uint8Array(payload.length % 2))
}

export const riff = (...chunks: Part[]) => {
  const content = join('WEBP', ...chunks)
  return join('RIFF', little(content.length, 4), content)
}

/** The VP8X chunk of an extended WebP. */
export const webpHeader = (flags: number, width = SIZE.width, height = SIZE.height) =>
  riffChunk('VP8X', [flags, 0, 0, 0], little(width - 1, 3), little(height - 1, 3))

const BITSTREAMS = {
  lossy: riffChunk('VP8 ', lossyData),
  lossless: riffChunk('VP8L', losslessData),
  alpha: join(riffChunk('ALPH', alphaData), riffChunk('VP8 ', lossyData)),
}

export type WebpKind = keyof typeof BITSTREAMS

/** The image data chunks of a WebP. */
export const webpData = (kind: WebpKind) => BITSTREAMS[kind]

/** A simple WebP, or an extended one if it has metadata or alpha. */
export const webp = (metadata: Metadata = {}, kind: WebpKind = 'lossy', prefix = '') => {
  const trailing = metadata.trailing ?? ''
  if (kind !== 'alpha' && Object.keys(metadata).length === 0) return riff(BITSTREAMS[kind])
  const flags = (metadata.profile ? 32 : 0) + 16 + (hasExif(metadata) ? 8 : 0) + (metadata.xmp ? 4 : 0)
  const file = riff(
    webpHeader(flags),
    metadata.profile ? riffChunk('ICCP', displayP3) : '',
    metadata.comment ? riffChunk('NOTE', metadata.comment) : '',
    BITSTREAMS[kind],
    hasExif(metadata) ? riffChunk('EXIF', prefix, blockOf(metadata)) : '',
    metadata.xmp ? riffChunk('XMP ', xmpPacket()) : '',
  )
  return join(file, trailing)
}

export const webpFrame = (left: number, top: number, ...parts: Part[]) =>
  riffChunk(
    'ANMF',
    [...little(left / 2, 3), ...little(top / 2, 3), ...little(SIZE.width - 1, 3), ...little(SIZE.height - 1, 3)],
    little(100, 3),
    [2],
    ...parts,
  )

/** An animated WebP of two frames, each with a stray chunk inside if given. */
export const animatedWebp = (metadata: Metadata = {}, stray: Part = '') => {
  const note = metadata.comment ? riffChunk('NOTE', metadata.comment) : ''
  const file = riff(
    webpHeader(2 + 16 + (hasExif(metadata) ? 8 : 0) + (metadata.xmp ? 4 : 0)),
    riffChunk('ANIM', [0, 0, 0, 0, 3, 0]),
    webpFrame(0, 0, BITSTREAMS.lossy, stray),
    note,
    webpFrame(0, 0, stray, BITSTREAMS.lossless),
    hasExif(metadata) ? riffChunk('EXIF', blockOf(metadata)) : '',
    metadata.xmp ? riffChunk('XMP ', xmpPacket()) : '',
  )
  return join(file, metadata.trailing ?? '')
}

/** An AVIF with metadata in items, in extra boxes and in unreferenced bytes. */
export const avif = (metadata: Metadata = {}, options: AvifOptions = {}) =>
  join(
    avifFile({
      exif: hasExif(metadata) ? blockOf(metadata) : undefined,
      xmp: metadata.xmp ? xmpPacket() : undefined,
      name: metadata.comment,
      stray: metadata.comment,
      profile: metadata.profile ? displayP3 : undefined,
      ...options,
    }),
    metadata.trailing ?? '',
  )
