import { big, fromBase64, join, type Part } from './bytes'

/** An AV1 image of 24 by 16 pixels. */
export const colour = fromBase64('EgAKCDgQ7/ygIaDSMiIbQAAAQADoU0gvBkh2EMW5SU5YiitN1w5AcsBcWOx25oNA')
/** An AV1 image of 64 by 64 pixels, the minimum for a grid cell. */
export const tile = fromBase64('EgAKCTgVf/+UBDQaQDIOG0AAAEBAUsCYDsBtl3A=')
/** An alpha plane of 24 by 16 pixels. */
export const alpha = fromBase64('EgAKBRgQ7/yqMgxG0AAARN44GdKL0I8=')

export const box = (type: string, ...parts: Part[]) => {
  const content = join(...parts)
  return join(big(content.length + 8, 4), type, content)
}

/** A box with a version and flags. */
export const fullBox = (type: string, version: number, flags: number, ...parts: Part[]) =>
  box(type, [version], big(flags, 3), ...parts)

export const sizeProperty = (width: number, height: number) => fullBox('ispe', 0, 0, big(width, 4), big(height, 4))

/** A truncated AV1 sequence header that states a size of 16 bits each way. */
export const codedSize = (width: number, height: number) => {
  const binary = (value: number) => (value - 1).toString(2).padStart(16, '0')
  const bits = ['000', '1', '1', '00000', '1111', '1111', binary(width), binary(height)].join('').padEnd(96, '0')
  const bytes = Array.from({ length: 12 }, (_, index) => Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2))
  return [0x12, 0, 0x0a, bytes.length, ...bytes]
}

export const configuration = box('av1C', [0x81, 0x20, 0, 0])

/** Writes the moov box of an animation of two frames, stored from an offset on. */
export const writeTracks = (
  chunk: number,
  { name = '', stray }: { name?: string | undefined; stray?: string | undefined },
) => {
  const matrix = join(big(0x10000, 4), big(0, 12), big(0x10000, 4), big(0, 12), big(0x40000000, 4))
  const times = join(big(0xe0000000, 4), big(0xe0000000, 4))
  const size = join(big(24 << 16, 4), big(16 << 16, 4))
  const note = stray ? box('udta', box('\xa9xyz', stray)) : ''
  const format = join(big(24, 2), big(16, 2), big(0x480000, 4), big(0x480000, 4), big(0, 4), big(1, 2))
  const entry = box(
    'av01',
    big(0, 6),
    big(1, 2),
    big(0, 16),
    format,
    name.padEnd(32, '\0').slice(0, 32),
    big(24, 2),
    [255, 255],
  )
  const description = join(big(entry.length + configuration.length, 4), entry.subarray(4), configuration)
  const samples = box(
    'stbl',
    fullBox('stsd', 0, 0, big(1, 4), description),
    fullBox('stts', 0, 0, big(1, 4), big(2, 4), big(1, 4)),
    fullBox('stsc', 0, 0, big(1, 4), big(1, 4), big(2, 4), big(1, 4)),
    fullBox('stsz', 0, 0, big(0, 4), big(2, 4), big(colour.length, 4), big(colour.length, 4)),
    fullBox('stco', 0, 0, big(1, 4), big(chunk, 4)),
    fullBox('stss', 0, 0, big(2, 4), big(1, 4), big(2, 4)),
  )
  const reference = box('dinf', fullBox('dref', 0, 0, big(1, 4), fullBox('url ', 0, 1)))
  const media = box(
    'mdia',
    fullBox('mdhd', 0, 0, times, big(10, 4), big(2, 4), big(0x55c4, 2), big(0, 2)),
    fullBox('hdlr', 0, 0, big(0, 4), 'pict', big(0, 12), name, [0]),
    box('minf', fullBox('vmhd', 0, 1, big(0, 8)), reference, samples),
  )
  return box(
    'moov',
    fullBox(
      'mvhd',
      0,
      0,
      times,
      big(10, 4),
      big(2, 4),
      big(0x10000, 4),
      big(0x100, 2),
      big(0, 10),
      matrix,
      big(0, 24),
      big(2, 4),
    ),
    box('trak', fullBox('tkhd', 0, 1, times, big(1, 4), big(0, 4), big(2, 4), big(0, 16), matrix, size), media, note),
    note,
  )
}
