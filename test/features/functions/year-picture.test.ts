import { describe, expect, it } from 'vitest'
import { drawYear, type YearPicture } from '../../../src/library/stats/picture/draw'
import { THEMES } from '../../../src/library/stats/picture/theme'
import { HOSTILE, toYear, YEARS } from '../../support/stats/years'

const OPTIONS = (['light', 'dark'] as const).flatMap((theme) =>
  (['card', 'page'] as const).map((size) => ({ theme, size })),
)
const gzippedSize = async (text: string) => {
  const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return (await new Response(zipped).arrayBuffer()).byteLength
}
const TEXT = /<text [^<>]*>([^<>]*)<\/text>/g
const readTexts = (svg: string) => [...svg.matchAll(TEXT)].map(([, text]) => text)

describe('the picture of a year', () => {
  it.each(OPTIONS)('keeps hostile titles inside their texts: $theme $size', (options) => {
    const plain = drawYear(toYear(HOSTILE.map(() => 'Demian')), options)
    const hostile = drawYear(toYear(HOSTILE), options)
    expect(hostile.replace(TEXT, '')).toBe(plain.replace(TEXT, ''))
    // Controls, noncharacters and lone surrogates are not allowed in XML, and directions must not leak.
    expect(hostile.match(/[\p{Cc}\p{Cs}\ufffe\uffff\u202a-\u202e\u2066-\u2069]/gu)).toBeNull()
    expect(readTexts(hostile)).toContain('lone � and �')
    expect(readTexts(hostile)).toContain('null bell line tab')
  })

  it('cuts titles between graphemes', () => {
    const family = '👨‍👩‍👧‍👦'
    const texts = readTexts(drawYear(toYear([family.repeat(100), '각'.repeat(100)]), { theme: 'light', size: 'page' }))
    const cut = texts.filter((text) => text?.endsWith('…'))
    expect(cut.length).toBeGreaterThan(3)
    expect(cut.filter((text) => !text?.match(RegExp(`^(?:(?:${family})+|각+)…$`)))).toEqual([])
  })

  it('draws a cut title only where at least ten letters fit', () => {
    const title = 'A long title of a book that never ends, not even here'
    const cut = [5, 80].map((books) => {
      const texts = readTexts(drawYear(toYear(Array(books).fill(title)), { theme: 'light', size: 'card' }))
      return texts.flatMap((text = '') => (text.endsWith('…') ? text.length - 1 : []))
    })
    expect(cut.map(({ length }) => length > 0)).toEqual([true, true])
    expect(cut.flat().filter((letters) => letters < 10)).toEqual([])
  })

  it('writes titles from right to left by their first letter', () => {
    const titles = ['"النبي" in English', 'The Prophet (النبي)']
    const drawn = drawYear(toYear(titles, { bestRated: [] }), { theme: 'light', size: 'page' })
    expect(drawn.match(/direction="rtl"[^<]*/g)).toEqual(['direction="rtl">"النبي" in English'])
  })

  it('states the height, the figures and what it leaves out', () => {
    const drawn = drawYear(YEARS.large as YearPicture, { theme: 'light', size: 'card' })
    // 858,993,458,800 pages of 0.0635 mm
    expect(drawn).toContain('<title>2026: 12,345,678 books, 858,993,458,800 pages, 5,454,608,463 cm of books</title>')
    expect(readTexts(drawn)).toContain('Height: 0.0635 mm a page · pale: pages unknown')
    // The year comes before them.
    const figures = [...drawn.matchAll(/<text x="(\d+)"[^>]*font-size="(\d+)"[^>]*font-weight="700">([\d,]+)</g)].slice(
      1,
    )
    const ends = figures.map(([, x, size, figure = '']) => Number(x) + figure.length * 0.5 * Number(size))
    expect(ends).toHaveLength(3)
    expect(ends.slice(0, 2).filter((end, index) => end > Number(figures[index + 1]?.[1]))).toEqual([])
    const thousands = toYear(Array.from({ length: 1500 }, () => 'Demian'))
    expect(readTexts(drawYear(thousands, { theme: 'light', size: 'card' })).at(-1)).toMatch(/ · the first 1,000$/)
  })

  it.each(OPTIONS)('is small and the same each time: $theme $size', async (options) => {
    // As many different letters as fit.
    const toTitle = (index: number) =>
      String.fromCharCode(...Array.from({ length: 500 }, (_, at) => 0xac00 + ((index * 7919 + at * 6007) % 11172)))
    const years = [...Object.values(YEARS), toYear(Array.from({ length: 400 }, (_, index) => toTitle(index)))]
    for (const year of years) {
      const drawn = drawYear(year, options)
      expect(drawn).toBe(drawYear(structuredClone(year), options))
      expect(await gzippedSize(drawn)).toBeLessThan(20_000)
    }
  })

  it.each(Object.entries(THEMES))('has legible texts: %s', (_, theme) => {
    const toLight = (channel: string) => {
      const share = Number.parseInt(channel.padEnd(2, channel), 16) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    }
    const toLuminance = (colour: string) => {
      const channels = colour.slice(1).match(colour.length === 4 ? /./g : /../g) ?? []
      return channels.reduce(
        (sum, channel, index) => sum + toLight(channel) * ([0.2126, 0.7152, 0.0722][index] ?? 0),
        0,
      )
    }
    const pairs = [
      ...theme.spines,
      theme.unknown,
      ...[theme.ink, theme.faint, theme.star].map((text) => [text, theme.paper]),
    ]
    for (const pair of pairs) {
      const [dark = 0, light = 0] = pair.map(toLuminance).sort((one, other) => one - other)
      expect((light + 0.05) / (dark + 0.05), pair.join(' on ')).toBeGreaterThanOrEqual(4.5)
    }
  })
})
