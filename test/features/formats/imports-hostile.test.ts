import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { readFile } from '../../../src/transfer/reader/read-file'
import calibre from '../../fixtures/imports/calibre.csv?raw'
import korean from '../../fixtures/imports/generic-ko.csv?raw'
import goodreads from '../../fixtures/imports/goodreads.csv?raw'
import notebook from '../../fixtures/imports/kindle-notebook.xhtml?raw'
import koreaderLua from '../../fixtures/imports/koreader.lua?raw'
import library from '../../fixtures/imports/library.json?raw'
import librarythingJson from '../../fixtures/imports/librarything.json?raw'
import librarything from '../../fixtures/imports/librarything.tsv?raw'
import storygraph from '../../fixtures/imports/storygraph.csv?raw'
import { damage, randomFrom } from '../../support/inputs/malformed-files'
import { bytesOf, libraryFile, NO_OPTIONS as options, outcomeOf } from '../../support/transfer/import-files'

const FILES = [goodreads, storygraph, librarything, librarythingJson, library, calibre, korean, koreaderLua, notebook]

describe('a hostile import', () => {
  it('gives entries or a reason, but no other error', { tags: ['slow'] }, () => {
    const random = randomFrom(env.SEED)
    for (let run = 0; run < 200; run++) {
      const { kinds, bytes } = damage(FILES, run, random)
      expect(() => outcomeOf(bytes), `file ${run}: ${kinds}`).not.toThrow()
    }
  })

  it.each<[string, string]>([
    ['a long name of a column', `Title,${'x'.repeat(90_000)}\n${'A,\n'.repeat(10_000)}`],
    [
      'many columns',
      `Title,${Array.from({ length: 199 }, (_, n) => `${n}`.padEnd(100, 'x')).join()}\n${'A\n'.repeat(10_000)}`,
    ],
    [
      'losses in a column with a long name',
      `Title,ISBN${' '.repeat(96)}${'x'.repeat(80_000)}\n${'A,x\n'.repeat(1000)}`,
    ],
    [
      'losses in many columns',
      [
        ['title,author_text', ...Array.from({ length: 198 }, (_, n) => `${n}_id`.padStart(100, 'x'))].join(),
        ...Array.from({ length: 10_000 }, (_, n) => `Book ${n},${',é'.repeat(198)}`),
      ].join('\n'),
    ],
    [
      'losses in many lists',
      JSON.stringify({
        format: 'reading-library',
        version: 1,
        books: Array.from({ length: 10_000 }, () => ({
          title: 'A',
          readings: Array(10).fill({}),
          progress: Array(45).fill(1),
        })),
      }),
    ],
  ])('takes no more memory than a large file: %s', { tags: ['slow'] }, (_, file) => {
    const length = JSON.stringify(readFile(bytesOf(file), options).entries).length
    expect(length).toBeLessThan(60_000_000)
  })

  it('says that a row has more losses, and that its cells are left out', { tags: ['slow'] }, () => {
    const names = Array.from({ length: 198 }, (_, n) => `${n}_id`.padStart(100, 'x'))
    const row = ',é'.repeat(198)
    const file = [`title,author_text,${names}`, ...Array.from({ length: 2000 }, () => `,${row}`)].join('\n')
    const { entries } = readFile(bytesOf(file), options)
    const [first, last] = [entries[0], entries.at(-1)]
    const more = (count: number) => ({ code: 'not-supported', field: 'more', count })
    expect([first?.losses.length, first?.losses.at(-1)]).toEqual([101, more(98)])
    expect(first?.cells.names).toHaveLength(200)
    expect(last?.losses.slice(5)).toEqual([more(193), { code: 'too-many', field: 'cells' }])
    expect(last?.cells.names).toEqual([])
  })

  const nulls = (count: number) => Array(count).fill('0').join()
  it.each<[string, string, RegExp]>([
    ['books of JSON', `[{"entries":[],"created_on":1},${nulls(10_000)}]`, /more than 10,000 books/],
    ['objects', `[{"entries":[],"created_on":1},${'{},'.repeat(375_000)}0]`, /more than 750,000 JSON values/],
    ['properties', `{"entries":[],"created_on":1${',"":0'.repeat(750_000)}}`, /more than 750,000 JSON values/],
    ['items', `[{"entries":[],"created_on":1}${',0'.repeat(750_000)}]`, /more than 750,000 JSON values/],
    [
      'books of clippings',
      Array.from(
        { length: 10_001 },
        (_, n) =>
          `Book ${n}\r\n- Your Highlight on page 1 | Added on Monday, 2 March 2026 09:00:00\r\n\r\nx\r\n==========\r\n`,
      ).join(''),
      /more than 10,000 books/,
    ],
  ])('refuses too many %s before it makes entries of them', (_, file, reason) => {
    expect(() => readFile(bytesOf(file), options)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(reason) }),
    )
  })

  it('refuses more readings, memos and progress events than the largest export has', { tags: ['slow'] }, () => {
    const withReadings = (each: number) =>
      bytesOf(`Title,Exclusive Shelf,read_dates\n${`A,read,${'2026;'.repeat(each)}\n`.repeat(1000)}A,read,\n`)
    expect(readFile(withReadings(200), options).entries).toHaveLength(1001)
    const memos = Array.from({ length: 3000 }, () => ({ memoContent: 'x' }))
    const progress = Array.from({ length: 1000 }, (_, n) => ({
      ...{ at: new Date(n).toISOString(), page: 1, kind: 'PROGRESS' },
    }))
    const toFile = (books: object[]) => bytesOf(libraryFile(...books))
    const full = Array.from({ length: 50 }, () => ({ title: 'A', memos, progress }))
    expect(readFile(toFile(full), options).entries).toHaveLength(50)
    const message = expect.stringMatching(/^The file has more than 200,000 readings, memos and progress events\./)
    const readings = [{ finishedAt: '2026' }]
    expect(() => readFile(toFile([...full, { title: 'B', readings }]), options)).toThrow(
      expect.objectContaining({ message }),
    )
  })

  it('can be as large as a file may be', () => {
    for (const part of ['x"', ',', '\n']) {
      expect(() => outcomeOf(bytesOf(`Title,Author\n"${part.repeat((10 * 2 ** 20) / part.length)}`))).not.toThrow()
    }
  })
})
