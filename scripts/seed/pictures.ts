import { crc32 } from 'node:zlib'

type Colour = readonly [red: number, green: number, blue: number]

const joined = async (...parts: (Uint8Array | number[] | string)[]) =>
  new Uint8Array(
    await new Blob(parts.map((part) => (Array.isArray(part) ? Uint8Array.from(part) : part))).arrayBuffer(),
  )

const uint32 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255)

const chunk = async (type: string, data: Uint8Array | number[]) => {
  const named = await joined(type, data)
  return joined(uint32(data.length), named, uint32(crc32(named)))
}

// What PNG calls deflate is a zlib stream, as it is here.
const deflate = async (bytes: Uint8Array) =>
  new Uint8Array(
    await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer(),
  )

/** A PNG of a few colours; `colourAt` picks one for each point, by its place in the palette. */
const draw = async (width: number, height: number, palette: Colour[], colourAt: (x: number, y: number) => number) => {
  const row = (y: number) => [0, ...Array.from({ length: width }, (_, x) => colourAt(x, y))]
  const rows = Array.from({ length: height }, (_, y) => row(y))
  return joined(
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    await chunk('IHDR', [...uint32(width), ...uint32(height), 8, 3, 0, 0, 0]),
    await chunk('PLTE', palette.flat()),
    await chunk('IDAT', await deflate(Uint8Array.from(rows.flat()))),
    await chunk('IEND', []),
  )
}

const INK: Colour = [38, 38, 46]
const PAPER: Colour = [250, 246, 236]
const CLOTHS: Colour[] = [
  [148, 52, 48],
  [44, 82, 112],
  [62, 104, 76],
  [196, 148, 56],
  [94, 70, 120],
  [176, 96, 60],
  [60, 120, 126],
]

/** The cover of a book: cloth, with a label where the title would stand; each number looks different. */
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
const MARKER: Colour = [252, 222, 96]
const PRINT: Colour = [112, 110, 112]

/** A page as a reader takes a photograph of it: one line (1 to 16) is marked. */
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
