import { expect, it } from 'vitest'
import { decodeMissing, encodeMissing } from '../../src/transfer/reader/statistics/missing-rows'
import { readStatistics } from '../../src/transfer/reader/statistics/read-statistics'
import { createCollector, sortRows, toKey } from '../../src/transfer/reader/statistics/rows'
import { createDocuments } from '../../src/transfer/reader/statistics/statistics-file'
import { readMissing } from '../support/statistics/compare'
import { md5Of, writeStatistics } from '../support/statistics/write-file'

type Row = [document: string, start: number, page: number, duration: number]

const encode = (rows: Row[], order: string[] = []) => {
  const documents = createDocuments()
  for (const name of order) documents.indexOf(name)
  const { add, collected } = createCollector()
  for (const [name, start, page, duration] of rows) add(toKey(documents.indexOf(name), start), page, duration)
  return encodeMissing(sortRows(collected()), documents)
}

const NAMES = ['f'.repeat(32), md5Of(3), md5Of(256)]
const EDGES = [0, 1, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152, 2 ** 31 - 1, 2 ** 35, 253_402_300_799]
const rows = NAMES.flatMap((name) =>
  EDGES.flatMap((edge): Row[] => [
    [name, edge, 1, 1],
    [name, 5, Math.min(edge, 2 ** 31 - 1), 128],
    [name, 6, edge % 1000, Math.min(Math.max(1, edge), 86_400)],
  ]),
)

it('reads back rows of any size, and writes the same bytes whatever order documents have', () => {
  const bytes = encode(rows)
  const longest = new Map<string, number>()
  for (const [name, start, page, duration] of rows) {
    const key = `${name} ${start} ${page}`
    longest.set(key, Math.max(duration, longest.get(key) ?? 0))
  }
  expect(readMissing(bytes)).toEqual([...longest].sort())
  expect(encode(rows.toReversed(), NAMES.toSorted())).toEqual(bytes)
  expect(encode([])).toBeNull()
})

it('takes about four bytes a row', () => {
  const pages = Array.from({ length: 1000 }, (_, at): Row => [md5Of(1), 1_700_000_000 + 60 * at, at, 60])
  expect(encode(pages)?.length).toBeLessThan(4000)
})

const DOCUMENT = [...Array(15).fill(0), 1]
it.each<[string, number[]]>([
  ['another version', [2, ...DOCUMENT, 1, 5, 5, 5]],
  ['nothing', []],
  ['half a document', [1, 0, 0]],
  ['a document without rows', [1, ...DOCUMENT, 0]],
  ['fewer rows than it says', [1, ...DOCUMENT, 2, 5, 5, 5]],
  ['more rows than it says', [1, ...DOCUMENT, 1, 5, 5, 5, 5]],
  ['half a number', [1, ...DOCUMENT, 1, 5, 5, 0x81]],
  ['a row twice', [1, ...DOCUMENT, 2, 5, 5, 5, 0, 5, 5]],
  ['a document twice', [1, ...DOCUMENT, 1, 5, 5, 5, ...DOCUMENT, 1, 6, 6, 6]],
  ['no duration', [1, ...DOCUMENT, 1, 5, 5, 0]],
  ['a page below 0', [1, ...DOCUMENT, 1, 5, ...Array(9).fill(0xff), 5]],
  ['a huge number of rows', [1, ...DOCUMENT, ...Array(8).fill(0xff), 0x7f, 5, 5, 5]],
])('is damaged if it has %s', (_, bytes) => {
  expect(() => decodeMissing(Uint8Array.from(bytes), createDocuments())).toThrow(/damaged/)
})

it('fails if what is stored is damaged: the new file is not at fault', () => {
  const file = writeStatistics([], [])
  const read = (stored: Uint8Array | null, missing: Uint8Array | null) =>
    readStatistics(file, { file: stored, missing }, { timeZone: 'UTC', maxSittings: 1 })
  expect(read(file, null)).toEqual({ documents: [], added: [], isComplete: true, missing: null })
  expect(() => read(file.slice(0, 2000), null)).toThrow(/^stored statistics: .* cut off\.$/)
  expect(() => read(null, file)).toThrow(/^the rows that files lack are damaged/)
})
