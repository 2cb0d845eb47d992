import { Buffer } from 'node:buffer'
import { crc32, deflateSync } from 'node:zlib'

const uint32 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255)

const chunk = (type: string, data: Uint8Array | number[]) => {
  const named = [...Buffer.from(type), ...data]
  return [...uint32(data.length), ...named, ...uint32(crc32(Uint8Array.from(named)))]
}

/** A PNG whose pixels are indexes into a palette of hexadecimal colours. */
const draw = (width: number, height: number, palette: string[], colourAt: (x: number, y: number) => number) => {
  const row = (_: unknown, y: number) => [0, ...Array.from({ length: width }, (_, x) => colourAt(x, y))]
  const rows = Array.from({ length: height }, row).flat()
  return Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    ...chunk('IHDR', [...uint32(width), ...uint32(height), 8, 3, 0, 0, 0]),
    ...chunk('PLTE', Buffer.from(palette.join(''), 'hex')),
    ...chunk('IDAT', deflateSync(Uint8Array.from(rows))),
    ...chunk('IEND', []),
  ])
}

const INK = '26262e'
const PAPER = 'faf6ec'
const CLOTHS = ['943430', '2c5270', '3e684c', 'c49438', '5e4678', 'b0603c', '3c787e']

/** A cloth book cover with a label. Each number looks different. */
export const drawCover = (number: number) => {
  const cloth = CLOTHS[number % CLOTHS.length] ?? INK
  const labelTop = 40 + ((number * 24) % 72)
  return draw(160, 240, [cloth, PAPER, INK], (x, y) => {
    if (x < 8) return 2
    const isLabel = x >= 32 && x < 136 && y >= labelTop && y < labelTop + 48
    const isTitle = isLabel && x >= 48 && x < 120 && (y - labelTop) % 20 >= 14
    return isTitle ? 2 : isLabel ? 1 : 0
  })
}

const LINE = 16
const MARKER = 'fcde60'
const PRINT = '706e70'

/** A photo of a page with one line (1 to 16) marked. */
export const drawPage = (marked: number) =>
  draw(240, 320, [PAPER, PRINT, MARKER], (x, y) => {
    const line = Math.floor(y / LINE) - 1
    // The last line of each paragraph is short.
    const end = line % 5 === 4 ? 130 : 216
    if (line < 1 || line > 16 || x < 24 || x >= end) return 0
    const height = y % LINE
    if (height >= 6 && height < 10) return 1
    return line === marked ? 2 : 0
  })
