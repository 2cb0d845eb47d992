import { escapeXml } from '../../../values/text/xml'
import { cutText, fitSize, isRightToLeft, toLine } from './letters'
import type { Theme } from './theme'

interface Book {
  title: string
  pages: number | null
}
export interface Area {
  x: number
  /** Where the lowest book lies. */
  ground: number
  width: number
  height: number
  /** The thickness of 300 pages while there is room. */
  thickness: number
  /** Font sizes of the titles. */
  title: { smallest: number; largest: number }
}

/** Beyond these numbers of pages all books are drawn alike, so that no book hides the others. */
const THINNEST = 60
const THICKEST = 1500
/** What a book of an unknown number of pages is drawn as. */
const USUAL = 300

const GAP = 24
const MAX_COLUMNS = 4
/** Lines of a font take up to 1.45 of its size. */
const LINE = 1.5

/** A number that looks random, but is the same for the same arguments: from 0 to 1. */
const toRandom = (year: number, index: number) => {
  let hash = Math.imul(year * 1009 + index + 1, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}
const round = (number: number) => Math.round(number * 10) / 10

const isKnown = ({ pages }: Book) => pages !== null && pages > 0
const toPages = (book: Book) => (isKnown(book) ? Math.min(Math.max(book.pages ?? 0, THINNEST), THICKEST) : USUAL)

/** Where a spine lies, and the colour of what is printed on it. */
type Spine = { x: number; y: number; length: number; thickness: number; print: string }

/** `room`: what is left of the length. */
const drawTitle = (title: string, { x, y, length, thickness, print }: Spine, room: number, sizes: Area['title']) => {
  const most = Math.min(sizes.largest, Math.floor(thickness / LINE))
  if (most < sizes.smallest) return ''
  const line = toLine(title)
  // A title is rather smaller than cut.
  const size = Math.max(fitSize(line, room, most), Math.ceil(most * 0.8), sizes.smallest)
  const shown = cutText(line, room, size)
  if (shown === '' || (shown !== line && room < 6 * size)) return ''
  const direction = isRightToLeft(line) ? ' direction="rtl"' : ''
  const middle = `x="${round(x + length / 2)}" y="${round(y + thickness / 2 + size * 0.36)}" text-anchor="middle"`
  return `<text ${middle} font-size="${size}" fill="${print}"${direction}>${escapeXml(shown)}</text>`
}

/** Divides books into columns of about equal height, in their order. Returns the column of each and the highest sum. */
const divide = (pages: number[], columns: number) => {
  const total = pages.reduce((sum, count) => sum + count, 0)
  const sums = Array.from({ length: columns }, () => 0)
  let before = 0
  const places = pages.map((count) => {
    const column = Math.floor(((before + count / 2) / total) * columns)
    before += count
    sums[column] = (sums[column] ?? 0) + count
    return column
  })
  return { places, highest: Math.max(...sums), mean: total / pages.length }
}

/** Two lines at each end of a spine. */
const drawBands = ({ x, y, length, thickness, print }: Spine) => {
  const pair = `v${thickness}m4 0v${-thickness}`
  const d = `M${round(x + 14)} ${y}${pair}m${round(length - 36)} 0${pair}`
  return `<path d="${d}" fill="none" stroke="${print}" stroke-opacity=".35" stroke-width="1.5"/>`
}

/** Draws books as spines on each other, the first at the bottom. Titles change nothing but the print. */
export const drawSpines = (year: number, books: Book[], area: Area, theme: Theme) => {
  const pages = books.map(toPages)
  let columns = 1
  let divided = divide(pages, columns)
  const most = area.thickness / USUAL
  // Books that are too thin for titles, on average, are spread over more columns.
  const readable = area.title.smallest * LINE + 1
  const toScale = () => Math.min(most, area.height / divided.highest)
  while (columns < MAX_COLUMNS && toScale() < most && toScale() * divided.mean < readable)
    divided = divide(pages, ++columns)
  const scale = toScale()
  const width = (area.width - GAP * (columns - 1)) / columns

  const drawn = Array.from({ length: columns }, () => '')
  const tops = drawn.map(() => area.height)
  let colour = Math.floor(toRandom(year, 0) * theme.spines.length)
  for (const [index, book] of books.entries()) {
    const random = (use: number) => toRandom(year, index * 4 + use)
    const column = divided.places[index] ?? 0
    const thickness = (pages[index] ?? USUAL) * scale
    const top = (tops[column] ?? 0) - thickness
    tops[column] = top
    // Steps of 3 and 4 through ten colours: of three books on each other, no two have the same.
    colour = (colour + (random(1) < 0.5 ? 3 : 4)) % theme.spines.length
    const [cloth, print] = isKnown(book) ? (theme.spines[colour] ?? theme.unknown) : theme.unknown
    const length = round(width * (0.82 + 0.18 * random(2)))
    const x = round((width - length) * random(3))
    const seen = round(thickness - Math.min(2, thickness / 4))
    const y = round(top + thickness - seen)
    const edge = isKnown(book) ? '' : ` stroke="${theme.line}"`
    const corner = seen > 8 ? ' rx="2"' : ''
    const hasBands = seen > 20 && length > 200 && random(4) < 0.5
    drawn[column] += `<rect x="${x}" y="${y}" width="${length}" height="${seen}"${corner} fill="${cloth}"${edge}/>`
    const spine = { x, y, length, thickness: seen, print }
    if (hasBands) drawn[column] += drawBands(spine)
    drawn[column] += drawTitle(book.title, spine, length - (hasBands ? 64 : 24), area.title)
  }
  return drawn
    .map((spines, index) => {
      const x = round(area.x + index * (width + GAP))
      // An inner svg cuts off what is wider than any estimate.
      return `<svg x="${x}" y="${area.ground - area.height}" width="${round(width)}" height="${area.height}">${spines}</svg>`
    })
    .join('')
}
