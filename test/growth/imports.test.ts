// @module-tag slow
import { expect, it } from 'vitest'
import { emptyEntry, type FormatName } from '../../src/transfer/entries/entry'
import { createMatcher, type Origin } from '../../src/transfer/imports/plan/matching'
import { HOSTILE_TEXTS } from '../support/inputs/hostile-texts'
import { MAX_EXPONENT, measureExponent } from '../support/runtime/exponent'
import { HOSTILE_FILES, HOSTILE_SIZES, readAndMatch, toHostileImport } from '../support/transfer/hostile-imports'

// `npm run attack -- growth` takes all texts and sizes of all formats.
const NAMES = 'names of up to 480 characters'
it.each<[FormatName, string, string]>([
  ['csv', 'separators', NAMES],
  ['goodreads', 'combining marks', NAMES],
  ['goodreads', 'numerals', NAMES],
  ['kindle', 'dashes', 'rows'],
  ['library', 'authors of one letter', 'rows'],
  ['openreads', 'tags of 100 characters', 'cells of up to 20,000 characters'],
])('reads and matches a file in proportion to its size: %s, %s, %s', async (format, text, size) => {
  const [part = '', toSize] = [HOSTILE_TEXTS[text], HOSTILE_SIZES[size]]
  if (!toSize) throw new Error(`${size} is no size`)
  const make = (factor: number) => toHostileImport(format, part, toSize(factor))
  expect((await measureExponent(make, readAndMatch)).exponent).toBeLessThanOrEqual(MAX_EXPONENT)
})

it('reads a hostile file of each format', () => {
  for (const format of Object.keys(HOSTILE_FILES) as FormatName[]) {
    const { entries, format: found } = toHostileImport(format, 'é: ', { rows: 2, length: 480 })
    expect(found).toBe(format)
    expect(entries.map(({ title, failure }) => [title?.slice(0, 3), failure])).toEqual(entries.map(() => ['é: ', null]))
  }
})

it.each(['sourceIds', 'bookId'] as const)(
  'matches books that share the same %s in proportion to them',
  async (shared) => {
    const exact = { star: 0, readStartDate: null, readEndDate: null, progress: [], sittings: [] }
    const make = (factor: number) =>
      Array.from({ length: 1000 * factor }, (_, at) => ({
        ...emptyEntry(at),
        title: `Book ${at}`,
        ...(shared === 'bookId' ? { exact: { ...exact, bookId: 5 } } : { sourceIds: ['x:1'] }),
      }))
    const match = (entries: ReturnType<typeof make>) => {
      const origins = entries.map((_, at): Origin => ({ bookId: at + 1, origin: 5, title: `Other ${at}` }))
      const { offer, match } = createMatcher(
        entries,
        new Map(shared === 'bookId' ? origins.map((origin) => [origin.bookId, origin]) : []),
        new Set(),
      )
      for (const at of entries.keys()) {
        offer({
          bookId: at + 1,
          title: `Other ${at}`,
          subtitle: null,
          author: null,
          isbn: null,
          seriesNumber: null,
          sourceIds: '["x:1"]',
        })
      }
      return match(entries)
    }
    expect((await measureExponent(make, match)).exponent).toBeLessThanOrEqual(MAX_EXPONENT)
  },
)
