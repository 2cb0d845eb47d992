// @module-tag slow
import { describe, expect, it } from 'vitest'
import { kindle } from '../../src/transfer/reader/formats/highlights/kindle'
import { koreaderJson } from '../../src/transfer/reader/formats/highlights/koreader'
import { readwiseApi } from '../../src/transfer/reader/formats/highlights/readwise-api'
import { readwise } from '../../src/transfer/reader/formats/highlights/tables'
import { readFile } from '../../src/transfer/reader/read-file'
import { expectLinear } from '../support/runtime/growth'
import { bytesOf, NO_OPTIONS as options, outcomeOf, read, sourceOf } from '../support/transfer/import-files'

const MIB = 1024 * 1024

describe('a file', () => {
  const header = 'Title,Exclusive Shelf,Date Read,ISBN,My Review,Additional Authors,Bookshelves,read_dates,My Rating\n'
  const inCell = (part: string) => (size: number) => {
    const cell = part.repeat(20_000 / part.length).replaceAll('"', '""')
    return `${header}${`"A","read"${`,"${cell}"`.repeat(7)}\n`.repeat(Math.ceil(size / 140_000))}`
  }
  const repeated =
    (part: string, start = '') =>
    (size: number) =>
      start + part.repeat(size / part.length)

  it.each<[string, (size: number) => string]>([
    ['quotes', repeated('"')],
    ['quotes below a header', repeated('"', 'Title,Author\n')],
    ['an unclosed quote', repeated('x', 'Title,Author\n"')],
    ['quotes in a quoted cell', repeated('x"', 'Title,Author\n"')],
    ['cells with one quote', repeated(',"x', 'Title,Author\n')],
    ['quotes and blanks', repeated('"  ', 'Title,Author\n"')],
    ['columns', repeated('a,')],
    ['cells of a row', repeated(',', 'Title,Author\nA,')],
    ['rows', repeated('\n', 'Title\n')],
    ['returns', repeated('\r', 'Title\n')],
    ['tabs', repeated('\t', 'Title\tAuthor\n')],
    ['wrapped rows', repeated('"A,""B,C"""\n', 'Title,Author\n')],
    ['nested arrays', repeated('[')],
    ['nested objects', (size) => `{"1":{"title":"A","workcode":${'['.repeat(size / 6)}${']'.repeat(size / 6)}}}`],
    [
      'items',
      (size) =>
        `{"0":{"title":"A","workcode":1}${Array.from({ length: size / 10 }, (_, at) => `,"a${at}":{}`).join('')}}`,
    ],
    ['commas in cells', inCell(', ')],
    ['digits in cells', inCell('1')],
    ['blanks in cells', inCell('1 ')],
    ['bars in cells', inCell('|;')],
    ['brackets in cells', inCell('(#')],
    ['combining marks in cells', inCell('\u0301\u0323')],
  ])('takes time in proportion to its size: %s', (_, make) =>
    expectLinear(560_000, (size) => bytesOf(make(size)), outcomeOf),
  )

  it('looks shelves up in a map of them', async () => {
    const make = (size: number) => ({
      file: bytesOf(`Title,Exclusive Shelf\n${Array.from({ length: size }, (_, n) => `A${n},shelf ${n}\n`).join('')}`),
      shelfMap: Object.fromEntries(Array.from({ length: 2 * size }, (_, n) => [`shelf ${n}`, 'DONE'] as const)),
    })
    await expectLinear(2000, make, ({ file, shelfMap }) => {
      const { entries } = readFile(file, { columns: {}, shelfMap })
      expect(entries.every(({ status }) => status === 'DONE')).toBe(true)
    })
  })
})

describe('clippings of Kindle', () => {
  const clipping = (metadata: string, text: string, title = 'The Salt Archive (Mina Oh)') =>
    `${title}\n- ${metadata}\n\n${text}\n==========\n`
  const at = 'Added on Tuesday, March 5, 2024 9:12:45 PM'
  const highlight = (location: string, text: string) => clipping(`Your Highlight on Location ${location} | ${at}`, text)
  const note = (location: string, text: string) => clipping(`Your Note on Location ${location} | ${at}`, text)
  const blocks = (count: number) =>
    Array.from({ length: 0.6 * count }, (_, n) => highlight(`${n}-${n + 9}`, `Text ${n}`)).join('') +
    Array.from({ length: 0.4 * count }, (_, n) => note(`${n}`, `Note ${n}`)).join('')

  it.each<[string, number, (size: number) => string]>([
    ['blocks', 10_000, blocks],
    ['one line', 10 * MIB, (size) => 'a'.repeat(size)],
    ['only separators', MIB / 4, (size) => '==========\n'.repeat(size)],
    ['one line of equals signs', 5 * MIB, (size) => '='.repeat(size)],
    ['blanks before no separator', MIB, (size) => `${' '.repeat(size)}=\n${'\t'.repeat(size)}`],
    ['only line ends', MIB, (size) => '\r\n'.repeat(size)],
    [
      'a huge title',
      MIB,
      (size) => `${'('.repeat(size)}${')'.repeat(size - 200)}\n- Your Note on page 1 | x\n\nx\n==========`,
    ],
    ['huge metadata', MIB, (size) => clipping(`${'loc'.repeat(size)}${'1'.repeat(5 * size)}`, 'x')],
    ['digits as metadata', 5000, (size) => clipping('1'.repeat(450), 'x').repeat(size)],
    ['combining marks', 2000, (size) => clipping(`1 | ${'\u0301\u0316'.repeat(240)}`, 'x').repeat(size)],
    [
      'edits of periodic texts',
      MIB,
      (size) => highlight('1-2', `${'a'.repeat(5 * size)}b`) + highlight('1-2', `b${'a'.repeat(size)}b`),
    ],
    [
      'many texts at one start',
      12_000,
      (size) => Array.from({ length: size }, (_, at) => highlight('1-2', `${at}.`)).join(''),
    ],
    ['a huge limit message', 9 * MIB, (size) => highlight('1-2', '<'.repeat(size))],
  ])('reads %s in linear time', (_, size, make) =>
    expectLinear(size, make, (text) => {
      kindle.matches(sourceOf(text))
      kindle.read(sourceOf(text), options)
    }),
  )
})

/** Not valid, so that each is looked at. */
const SENT = { image_url: 'A', highlighted_at: '2026-03-14T10:15:30Z', color: 'A' }

describe('JSON of KOReader', () => {
  const toDeep = (depth: number) => {
    let deep: unknown = []
    for (let n = 0; n < depth; n++) deep = [deep]
    return deep
  }
  const withEntries = (length: number) => ({
    title: 'Demian',
    entries: Array.from({ length }, () => ({ text: 'Words', page: 1, time: 1 })),
  })

  it.each<[string, number, (size: number) => unknown]>([
    ['many entries', 25_000, withEntries],
    [
      'a long author',
      1_000_000,
      (size) => ({ ...withEntries(1), author: `${' '.repeat(5 * size)}\n${'\n'.repeat(2 * size)}` }),
    ],
    [
      'deep values',
      100_000,
      (size) => {
        const deep = toDeep(size)
        const entries = [deep, { text: deep, note: 'x', page: deep, time: deep }]
        return { documents: [deep, { title: deep, entries }] }
      },
    ],
  ])('reads %s in linear time', (_, size, make) =>
    expectLinear(size, make, (file) => {
      koreaderJson.matches(sourceOf('', file))
      koreaderJson.read(sourceOf('', file), options)
    }),
  )
})

it.each<[string, number, (size: number) => unknown]>([
  ['the same book', 5_000, (length) => Array.from({ length }, (_, n) => ({ title: 'A', text: `${n}`, ...SENT }))],
  ['the same text', 5_000, (length) => Array.from({ length }, () => ({ title: 'A', text: 'A', ...SENT }))],
  [
    'a long address',
    1_000_000,
    (size) => [{ title: 'A', text: 'A', ...SENT, highlight_url: '/annotation/?cfi='.repeat(size / 17) }],
  ],
])('reads highlights of Readwise’s API in linear time: %s', (_, size, make) =>
  expectLinear(size, make, (highlights) => {
    readwiseApi.read(sourceOf('', { highlights }), options)
  }),
)

describe('Lua of KOReader', () => {
  it.each<[string, (size: number) => string]>([
    ['an unclosed string', (size) => `return { ["a"] = "${'\\\\'.repeat(size / 2)}`],
    ['entries', (size) => `return { ["doc_props"] = { ${'["a"] = 1, '.repeat(size / 11)} } }`],
    ['blanks', (size) => `return {${' '.repeat(size)}`],
  ])('takes time in proportion to its size: %s', (_, make) =>
    expectLinear(400_000, make, (text) => {
      try {
        read(text)
      } catch {}
    }),
  )
})

describe('a notebook of Kindle', () => {
  const start = "<div class='bookTitle'>Low Tide</div>"
  it.each<[string, string]>([
    ['headings', "<h3 class='noteHeading'>"],
    ['texts', "<h3 class='noteHeading'>Note - Page 1</h3><div class='noteText'>a</div>"],
    ['tags', '<b '],
    ['separators', ' - '],
    ['entities', '&amp;'],
  ])('takes time in proportion to its size: %s', (_, part) =>
    expectLinear(
      400_000,
      (size) => `${start}<h3 class='noteHeading'>${part.repeat(size / part.length)}`,
      (text) => void read(text),
    ),
  )
})

const wide = (size: number) => [
  ['Highlight', 'Title', 'Document tags', ...Array.from({ length: size / 2 }, (_, at) => `c${at}`)],
  ...Array.from({ length: size }, (_, at) => (at % 2 ? ['Words', 'Demian', `t${at}`] : [`x${at}`])),
]

it('reads many rows and columns of Readwise in linear time', () =>
  expectLinear(12_000, wide, (cells) => {
    const rows = cells.map((cells, at) => ({ line: at + 1, cells }))
    readwise.read(sourceOf('', undefined, rows), options)
  }))
