import { describe, expect, it } from 'vitest'
import { toCsv } from '../../../src/transfer/entries/csv-writer'
import { MAX_ROWS } from '../../../src/transfer/entries/entry'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import { read, readByTitle, reasonOf } from '../../support/transfer/import-files'

const cells = (text: string) => parseTable(text).map((row) => row.cells)

describe('a table', () => {
  it.each([
    [',', 'Title,Author\n"A, b",C\n'],
    [';', 'Title;Author\n"A, b";C\n'],
    ['tab', 'Title\tAuthor\nA, b\tC\n'],
    ['|', 'Title|Author\nA, b|C\n'],
    ['what the line for Excel names', 'sep=;\r\nTitle;Author\r\nA, b;C\r\n'],
  ])('is split at %s', (_, text) => {
    expect(cells(text)).toEqual([
      ['Title', 'Author'],
      ['A, b', 'C'],
    ])
  })

  it('has lines that end with CRLF and LF, and newlines in quotes', () => {
    const text = 'Title,Review\r\nA,"one\r\ntwo"\nB,"three\nfour"\r\nC,"five"\nD,six'
    expect(parseTable(text)).toEqual([
      { line: 1, cells: ['Title', 'Review'] },
      { line: 2, cells: ['A', 'one\r\ntwo'] },
      { line: 4, cells: ['B', 'three\nfour'] },
      { line: 6, cells: ['C', 'five'] },
      { line: 7, cells: ['D', 'six'] },
    ])
  })

  it('has doubled quotes, and single ones that do not end a cell', () => {
    expect(cells('Title,B\n"a ""b"" c",1\n"d "e" f",2\n"g" ,3\nh "i" j,4\n"""k""",""\n')).toEqual([
      ['Title', 'B'],
      ['a "b" c', '1'],
      ['d "e" f', '2'],
      ['g', '3'],
      ['h "i" j', '4'],
      ['"k"', ''],
    ])
  })

  it.each([',', ';'])('may have line breaks in the names of columns, split at %s', (delimiter) => {
    const rows = [
      ['Title', '"Date\nread"', 'Author'],
      ['A', '"b;c,d"', 'E'],
    ]
    expect(cells(rows.map((row) => row.join(delimiter)).join('\n'))).toEqual([
      ['Title', 'Date\nread', 'Author'],
      ['A', 'b;c,d', 'E'],
    ])
  })

  it('may have each whole line in quotes once more', () => {
    const wrapped = '"Title,""My, Author"",ISBN"\n"A,""Oh, Mina"",1"\n'
    expect(cells(wrapped)).toEqual([
      ['Title', 'My, Author', 'ISBN'],
      ['A', 'Oh, Mina', '1'],
    ])
    expect(cells('Title,Author\n"A,""Oh, Mina"""\n')[1]).toEqual(['A', 'Oh, Mina'])
  })

  it('has no blank rows', () => {
    expect(parseTable('\n\nTitle,B\n\n , \nA,1\n\n').map(({ line }) => line)).toEqual([3, 6])
  })

  it('pads short rows, and reports what they lack and long ones have too much', () => {
    const { entries } = read('Title,Author,ISBN\nA\nB,C,,\nD,E,,F\nG,H,\n,I\n')
    expect(entries).toMatchObject([
      { title: 'A', author: null, failure: null, losses: [{ code: 'short-row', field: 'Author' }] },
      { title: 'B', author: 'C', losses: [] },
      { title: 'D', losses: [{ code: 'bad-row', field: 'column 4' }] },
      { title: 'G', losses: [] },
      { failure: 'no-title', losses: [{ code: 'short-row', field: 'ISBN' }] },
    ])
  })

  it('numbers columns that are empty or repeated', () => {
    const { entries } = read('Title,,Title\nA,b,c\n')
    expect(entries[0]?.cells).toEqual({ names: ['Title', '(2)', 'Title (3)'], values: ['A', 'b', 'c'] })
  })

  it('keeps columns with the names of object members apart', () => {
    const { entries } = read('Title,__proto__,constructor\nA,b,c\n')
    expect(entries[0]?.cells).toEqual({ names: ['Title', '__proto__', 'constructor'], values: ['A', 'b', 'c'] })
  })

  it('is refused with the line of a quote that is never closed', () => {
    expect(reasonOf('Title,Review\nA,b\nC,"d\ne,f\n')).toMatch('line 3 is never closed')
    expect(cells('Title\tAuthor\n"A\tB\n')).toEqual([
      ['Title', 'Author'],
      ['"A', 'B'],
    ])
  })

  it('is refused if it is too large', () => {
    expect(reasonOf(`Title${',x'.repeat(200)}\n`)).toMatch('200 columns')
    expect(reasonOf(`Title\n${'A\n'.repeat(MAX_ROWS + 1)}`)).toMatch('10,000 rows')
    expect(read(`Title\n${Array.from({ length: MAX_ROWS }, (_, at) => `A${at}\n`).join('')}`).entries).toHaveLength(
      MAX_ROWS,
    )
    expect(reasonOf(`Title\nA\n${'x'.repeat(100_001)}\n`)).toMatch(/line 3 .*100,000/)
  })
})

describe('a written table', () => {
  it('is read back as it was', () => {
    const rows = [
      ['a "b"', 'c, d', 'e\r\nf'],
      [' g ', '', '="0446675504"'],
    ]
    expect(cells(toCsv([['x', 'y', 'z'], ...rows]))).toEqual([['x', 'y', 'z'], ...rows])
  })

  it('leaves formulas as they are', () => {
    const rows = [['=1+1', '+1', '-1', '@a', 'a=1']]
    const header = ['a', 'b', 'c', 'd', 'e']
    expect(toCsv([header, ...rows])).toBe('a,b,c,d,e\r\n=1+1,+1,-1,@a,a=1\r\n')
  })
})

describe('a repeated book', () => {
  it.each([
    ['the identifier', 'Title,Source Id\nA,x:1\nA: B,x:1\n', ['A']],
    ['the ISBN', 'Title,ISBN\nA,9780446675505\nA: B,0446675504\n', ['A']],
    ['not an identifier of another title', 'Title,Source Id\nA,x:1\nB,x:1\n', ['A', 'B']],
    ['not an ISBN of another volume', 'Title,ISBN\nA 1,9780446675505\nA 2,9780446675505\n', ['A 1', 'A 2']],
    [
      'title and first author',
      'Title,Author\nThe Tide! (Sea #2),Mina  Oh\nthe TIDE,"mina oh, Joon Park"\n',
      ['The Tide! (Sea #2)'],
    ],
    ['not only the title', 'Title,Author\nA,Mina Oh\nA,Joon Park\n', ['A', 'A']],
    ['not an edition with another identifier', 'Title,Source Id\nA,x:1\nA,x:2\n', ['A', 'A']],
    ['not a title of other punctuation', 'Title\n?\n!\n', ['?', '!']],
  ])('is marked by %s', (_, file, titles) => {
    const { entries } = read(file)
    expect(entries.filter(({ failure }) => !failure).map(({ title }) => title)).toEqual(titles)
    expect(entries.every(({ failure }) => !failure || failure === 'duplicate-in-file')).toBe(true)
  })

  it('fails only if no row before it failed', () => {
    expect(readByTitle('Title,Source Id\n,x:1\nA,x:1\n')).toMatchObject({
      '': { failure: 'no-title' },
      A: { failure: null },
    })
  })
})
