import { escapeXml } from '../../../values/text/xml'
import { cutText, fitSize, isRightToLeft, toLine, type Weight } from './letters'
import { drawSpines } from './spines'
import { THEMES, type Theme } from './theme'

/** What the picture shows. */
export interface YearPicture {
  year: number
  books: number
  pagesFinished: number
  minutesRead: number
  /** All twelve. */
  months: { month: number; books: number }[]
  bestRated: { title: string; author: string | null; rating: number }[]
  /** One entry for each finish in the year, in order of finishing. */
  spines: { title: string; pages: number | null }[]
}

/** The thickness of a page on cream paper, from which novels are printed: 0.0025 inches, as printers compute spines. */
const PAGE_MM = 0.0635
/** More would be too thin to see. */
export const MAX_SPINES = 1000

// Distances are multiples of 8. `ground`: what months and stack stand on. `small`: the font size of labels.
export const SIZES = {
  card: {
    width: 1200,
    height: 630,
    margin: 64,
    column: 480,
    year: { y: 184, size: 164 },
    figures: { y: 264, size: 40, label: 32, across: { three: [0, 144, 304], four: [0, 104, 232, 352] } },
    rated: { y: 344, most: 3, step: 32, size: 22, author: 0 },
    months: { ground: 536, bars: 80 },
    small: 20,
    stack: { x: 608, ground: 536, width: 528, height: 472, thickness: 56, title: { smallest: 12, largest: 24 } },
  },
  page: {
    width: 1200,
    height: 2136,
    margin: 80,
    column: 1040,
    year: { y: 296, size: 296 },
    figures: { y: 448, size: 80, label: 64, across: { three: [0, 272, 680], four: [0, 208, 520, 760] } },
    rated: { y: 1776, most: 3, step: 64, size: 44, author: 56 },
    months: { ground: 1600, bars: 128 },
    small: 42,
    stack: { x: 80, ground: 1296, width: 1040, height: 728, thickness: 128, title: { smallest: 32, largest: 44 } },
  },
}
type Size = (typeof SIZES)['card']

interface Style {
  size: number
  fill: string
  weight?: Weight
  anchor?: 'start' | 'middle' | 'end'
}
/** A line of text. One that is written from right to left ends where others start. */
const drawText = (x: number, y: number, text: string, { size, fill, weight = 400, anchor = 'start' }: Style) => {
  const style = weight === 400 ? '' : ` font-weight="${weight}"`
  const isTurned = isRightToLeft(text)
  const side = isTurned && anchor === 'start' ? 'end' : anchor
  const place = `${side === 'start' ? '' : ` text-anchor="${side}"`}${isTurned ? ' direction="rtl"' : ''}`
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}"${style}${place}>${escapeXml(text)}</text>`
}

/** Loading the data of Intl would take longer than the picture. */
const group = (number: number) => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** How long books were read, in whole hours from one. */
export const toReadTime = (minutes: number): [string, string] => {
  const hours = Math.round(minutes / 60)
  if (minutes < 60) return [String(minutes), minutes === 1 ? 'minute' : 'minutes']
  return [group(hours), hours === 1 ? 'hour' : 'hours']
}

const toFigures = ({ books, pagesFinished, minutesRead }: YearPicture): [string, string][] => {
  const height = (pagesFinished * PAGE_MM) / 10
  return [
    [group(books), books === 1 ? 'book' : 'books'],
    [group(pagesFinished), pagesFinished === 1 ? 'page' : 'pages'],
    ...(minutesRead > 0 ? [toReadTime(minutesRead)] : []),
    [height && height < 100 ? height.toFixed(1) : group(Math.round(height)), 'cm of books'],
  ]
}

const drawFigures = (year: YearPicture, { figures, margin, column, small }: Size, theme: Theme) =>
  toFigures(year).map(([figure, label], index, { length }) => {
    const across = length > 3 ? figures.across.four : figures.across.three
    const x = margin + (across[index] ?? 0)
    const room = (across[index + 1] ?? column) - (across[index] ?? 0) - 16
    const size = fitSize(figure, room, figures.size, 700)
    return [
      drawText(x, figures.y, figure, { size, fill: theme.ink, weight: 700 }),
      drawText(x, figures.y + figures.label, label, { size: small, fill: theme.faint }),
    ].join('')
  })

const drawRated = ({ bestRated }: YearPicture, { rated, margin, column }: Size, theme: Theme) => {
  const indent = rated.size * 4
  const [x, width] = [margin + indent, column - indent]
  let y = rated.y
  return bestRated.slice(0, rated.most).map(({ title, author, rating }) => {
    const drawn = [
      drawText(margin, y, `★ ${rating}`, { size: rated.size, fill: theme.star }),
      drawText(x, y, cutText(toLine(title), width, rated.size), { size: rated.size, fill: theme.ink }),
    ]
    if (rated.author && author) {
      const size = rated.size - 4
      y += rated.author
      drawn.push(drawText(x, y, cutText(toLine(author), width, size), { size, fill: theme.faint }))
    }
    y += rated.step
    return drawn.join('')
  })
}

const drawMonths = (year: YearPicture, { margin, column, months, small }: Size, theme: Theme) => {
  const { ground, bars } = months
  const step = column / 12
  const most = Math.max(1, ...year.months.map(({ books }) => books))
  return year.months.map(({ month, books }) => {
    const left = margin + (month - 1) * step
    const middle = left + step / 2 - 4
    const height = Math.round((books / most) * bars)
    const box = `x="${left}" y="${ground - height}" width="${step - 8}" height="${height}"`
    const style = { size: small - 2, fill: theme.faint, anchor: 'middle' } as const
    return [
      height ? `<rect ${box} rx="2" fill="${theme.accent}"/>` : '',
      books ? drawText(middle, ground - height - 8, String(books), { ...style, size: small - 4 }) : '',
      drawText(middle, ground + small + 8, 'JFMAMJJASOND'[month - 1] ?? '', style),
    ].join('')
  })
}

const drawStack = ({ year, spines }: YearPicture, { stack, small }: Size, theme: Theme) => {
  const shown = spines.slice(0, MAX_SPINES)
  const notes = [
    `Height: ${PAGE_MM} mm a page`,
    spines.some(({ pages }) => !pages) && 'pale: pages unknown',
    shown.length < spines.length && `the first ${group(MAX_SPINES)}`,
  ]
  const note = shown.length ? notes.filter(Boolean).join(' · ') : 'No books finished'
  const size = fitSize(note, stack.width, small - 2)
  return [
    shown.length ? drawSpines(year, shown, stack, theme) : '',
    drawText(stack.x + stack.width, stack.ground + small + 8, note, { size, fill: theme.faint, anchor: 'end' }),
  ]
}

/** Draws a year of reading as an SVG picture: text in the viewer's fonts, nothing external, no styles, no scripts. */
export const drawYear = (year: YearPicture, options: { theme: 'light' | 'dark'; size: 'card' | 'page' }): string => {
  const theme = THEMES[options.theme]
  const size = SIZES[options.size]
  const { width, height, margin, column, months, stack } = size
  const figures = toFigures(year).map((words) => words.join(' '))
  const drawGround = (x: number, ground: number, length: number) =>
    `<path d="M${x} ${ground + 1}h${length}" stroke="${theme.line}" stroke-width="2"/>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ` font-family="system-ui, sans-serif" role="img"><title>${year.year}: ${figures.join(', ')}</title>`,
    `<rect width="${width}" height="${height}" fill="${theme.paper}"/>`,
    drawText(margin - 8, size.year.y, String(year.year), { size: size.year.size, fill: theme.ink, weight: 700 }),
    ...drawFigures(year, size, theme),
    ...drawRated(year, size, theme),
    ...drawMonths(year, size, theme),
    drawGround(margin, months.ground, column - 8),
    drawGround(stack.x, stack.ground, stack.width),
    ...drawStack(year, size, theme),
    '</svg>',
  ].join('')
}
