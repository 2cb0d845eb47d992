import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { toCsv } from '../../../src/transfer/entries/csv-writer'
import { decodeText } from '../../../src/transfer/reader/text'
import { randomFrom } from '../../support/inputs/malformed-files'
import { encodeAs, read, reasonOf, utf16Of } from '../../support/transfer/import-files'
import { parseCsv } from '../../support/transfer/independent-reader'

// Each cell of a file, as its service wrote it or altered, is stored, reported, or left out as docs/import.md says.

const FILES = Object.entries(
  import.meta.glob<string>('../../fixtures/imports/real/{goodreads,storygraph,librarything}*.{csv,tsv}', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
).map(([path, text]) => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  rows: path.endsWith('.tsv')
    ? text
        .split('\n')
        .filter(Boolean)
        .map((row) => row.split('\t'))
    : parseCsv(text),
}))

const IGNORED: Record<string, string[]> = {
  goodreads: ['Author l-f', 'Average Rating', 'n_ratings', 'Bookshelves with positions'],
  librarything:
    'Sort Character,Primary Author Role,Summary,Physical Description,Weight,Height,Thickness,Length,Dimensions,LCCN,Original Languages,LC Classification,Subjects,Dewey Decimal,Dewey Wording,Source'.split(
      ',',
    ),
}
/** Values that say nothing about a book. */
const NOTHING = /^(?:0|No|false|=""|\[\]|Your library|Author(?:\|Author)*)$/
const isNothing = (column: string, cell: string) =>
  NOTHING.test(cell.trim()) || !cell.trim() || (cell === '1' && /Count|Copies/.test(column))
/** Columns of which one repeats what the others say. */
const REPEATING = [
  ['ISBN', 'ISBN13', 'ISBNs'],
  ['Bookshelves', 'Exclusive Shelf'],
  ['Year Published', 'Original Publication Year'],
  ['Date Read', 'read_dates', 'Read Count', 'Last Date Read', 'Dates Read'],
  ['Acquired', 'Entry Date'],
  ['Primary Author', 'Secondary Author'],
]

type Table = string[][]
type Alter = (rows: Table, random: (below: number) => number) => Table
const mapColumn = (rows: Table, column: number, change: (cell: string, row: number) => string) =>
  rows.map((row, at) => row.map((cell, i) => (i === column ? change(cell, at) : cell)))
const columnOf = ([header = []]: Table, random: (below: number) => number) => random(header.length)

const ALTERATIONS: Record<string, Alter> = {
  'as it is': (rows) => rows,
  'a column emptied': (rows, random) => mapColumn(rows, columnOf(rows, random), (cell, row) => (row === 0 ? cell : '')),
  'a column doubled': (rows, random) => {
    const column = columnOf(rows, random)
    return rows.map((row) => [...row, row[column] ?? ''])
  },
  'a column renamed': (rows, random) =>
    mapColumn(rows, columnOf(rows, random), (cell, row) => (row === 0 ? `My ${cell} column` : cell)),
  'a column removed': (rows, random) => {
    const column = columnOf(rows, random)
    return rows.map((row) => row.filter((_, at) => at !== column))
  },
  'columns in another order': (rows, random) => {
    const by = columnOf(rows, random)
    return rows.map((row) => [...row.slice(by), ...row.slice(0, by)])
  },
  'rows cut short': (rows, random) => rows.map((row, at) => (at === 0 ? row : row.slice(0, 1 + random(row.length)))),
  'a cell too many': (rows) => rows.map((row, at) => (at === 0 ? row : [...row, 'more'])),
  'rows removed': (rows, random) => rows.slice(0, 2 + random(rows.length - 1)),
}

/** The cells of a file that are neither stored nor reported nor left out on purpose. */
const findLost = (rows: Table) => {
  const [header = [], ...body] = rows
  const reason = reasonOf(toCsv(rows))
  // A file that is refused as a whole loses nothing.
  if (reason !== undefined) return typeof reason === 'string' ? [] : [reason]
  const { entries, format, unknownColumns } = read(toCsv(rows))
  const known = new Set([...(IGNORED[format] ?? []), ...unknownColumns])
  const taken = (row: number, columns: string[]) => {
    const cells = body[row]?.map((cell, at) => (columns.includes(header[at] ?? '') ? '' : cell)) ?? []
    // Without the title, a book fails. Other rows say in which order its dates are.
    const { entries } = read(toCsv([header, ...body.slice(0, row), cells, ...body.slice(row + 1)]))
    return JSON.stringify(
      entries.find(({ line }) => line === lines[row]),
      (key, value) => (key === 'cells' ? [] : value),
    )
  }
  const lines = entries.map(({ line }) => line)
  return body.flatMap((cells, row) => {
    if (entries[row]?.failure) return []
    const all = taken(row, [])
    return header.flatMap((column, at) => {
      const cell = cells[at] ?? ''
      if (isNothing(column, cell) || known.has(column)) return []
      const repeating = REPEATING.find((columns) => columns.includes(column)) ?? []
      const isTaken = [[column], repeating].some((columns) => columns.length > 0 && taken(row, columns) !== all)
      return isTaken ? [] : [`${column}: ${cell}`]
    })
  })
}

const random = randomFrom(env.SEED)

describe('a file of a service', () => {
  it.each(Object.entries(ALTERATIONS))('loses no cell unnoticed: %s', (_, alter) => {
    const file = FILES[random(FILES.length)]
    if (!file) throw new Error('There are no files')
    const rows = alter(file.rows, random)
    // The header has the names that the reader gives to repeated columns.
    const names = rows[0]?.map((name, at, all) => (all.indexOf(name) < at ? `${name} (${at + 1})` : name)) ?? []
    expect(findLost([names, ...rows.slice(1)]), file.name).toEqual([])
    expect(entriesOf(rows)).toEqual(entriesOf([names, ...rows.slice(1)]))
  })

  it('is the same in other encodings, with other delimiters and line ends', { tags: ['slow'] }, () => {
    for (const { name, rows } of FILES) {
      const text = toCsv(rows)
      const entries = read(text).entries
      const semicolons = rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')).join('\n')
      for (const other of [`\ufeff${text}`, utf16Of(text, false), utf16Of(text, true)]) {
        expect(read(other).entries, name).toEqual(entries)
      }
      const western = encodeAs('windows-1252', text)
      const isWhole = decodeText(western, 'windows-1252').text === text
      if (isWhole) expect(read(western, { encoding: 'windows-1252' }).entries, name).toEqual(entries)
      for (const other of [semicolons, `sep=;\n${semicolons}`]) {
        expect(read(other).entries.map(withoutLine), name).toEqual(entries.map(withoutLine))
      }
    }
  })
})

/** The entries of a table, or why it is refused: without a column of titles, for example. */
const entriesOf = (rows: Table) => reasonOf(toCsv(rows)) ?? read(toCsv(rows)).entries.map(withoutCells)

const withoutCells = (entry: object) => ({ ...entry, cells: null })
const withoutLine = (entry: object) => ({ ...entry, line: 0 })
