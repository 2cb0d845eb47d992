import { MAX_COLUMNS, MAX_ROWS } from '../entries/entry'
import { refuse } from './limits'

export const MAX_CELL = 100_000

export type TableRow = { line: number; cells: string[] }

const DELIMITERS = [',', ';', '\t', '|'] as const
type Delimiter = (typeof DELIMITERS)[number]

/** Counts the lines that begin between two places of a text. */
export const countLines = (text: string, from: number, to: number) => {
  let lines = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

const NEWLINE = /\n/g

/**
 * Splits a text into rows (RFC 4180). Lines may end with CRLF or LF, even in one file. A quote inside a quoted cell
 * that is not doubled belongs to the cell, unless a delimiter or the end of the line follows. Blank rows are left out.
 * All cells beyond MAX_COLUMNS are one.
 * @returns the line of a quote that is never closed if there is one
 */
const split = (text: string, delimiter: Delimiter, hasQuotes: boolean, maxRows: number): TableRow[] | number => {
  const rows: TableRow[] = []
  const delimiterOrNewline = new RegExp(`[\\n${delimiter}]`, 'g')
  // Programs in Python write \r\r\n on Windows.
  const cellEnd = new RegExp(` *(?:${delimiter === '|' ? '\\|' : delimiter}|\\r{0,2}\\n|\\r{0,2}$)`, 'y')
  const findClosing = (from: number) => {
    for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at)) {
      if (text[at + 1] === '"') at += 2
      else {
        cellEnd.lastIndex = at + 1
        if (cellEnd.test(text)) return at
        at++
      }
    }
    return -1
  }

  let at = 0
  let line = 1
  while (at < text.length && rows.length < maxRows) {
    const start = at
    const cells: string[] = []
    for (let isLast = false; !isLast; ) {
      const isQuoted = hasQuotes && text[at] === '"'
      const closing = isQuoted ? findClosing(at + 1) : 0
      if (closing === -1) return line + countLines(text, start, at)
      const ends = cells.length < MAX_COLUMNS ? delimiterOrNewline : NEWLINE
      ends.lastIndex = isQuoted ? closing : at
      const end = ends.test(text) ? ends.lastIndex - 1 : text.length
      isLast = text[end] !== delimiter
      const cell = isQuoted ? text.slice(at + 1, closing).replaceAll('""', '"') : text.slice(at, end)
      cells.push(isLast && !isQuoted && cell.endsWith('\r') ? cell.slice(0, -1) : cell)
      if (cell.length > MAX_CELL) {
        const where = line + countLines(text, start, at)
        refuse(`A cell on line ${where} has more than 100,000 characters. Check the quotation marks near it.`)
      }
      at = end + 1
    }
    if (cells.some((cell) => cell.trim())) rows.push({ line, cells })
    line += countLines(text, start, at)
  }
  return rows
}

/** Some exporters wrap each whole line into one more pair of quotes. */
const unwrap = (row: TableRow, delimiter: Delimiter) => {
  const [cell = ''] = row.cells
  const inner = row.cells.length === 1 && cell.includes(delimiter) ? split(cell, delimiter, true, 2) : 0
  return typeof inner === 'object' && inner.length === 1 && inner[0] ? { ...row, cells: inner[0].cells } : row
}

const splitHeader = (line: string, delimiter: Delimiter) => {
  const rows = split(line, delimiter, true, 1)
  return typeof rows === 'object' && rows[0] ? unwrap(rows[0], delimiter).cells.length : 0
}

/** The delimiter that splits the header into most cells. Undefined if none splits it. */
const detectDelimiter = (header: string) => {
  const counts = DELIMITERS.map((delimiter) => splitHeader(header, delimiter))
  const most = Math.max(...counts)
  return most > 1 ? DELIMITERS[counts.indexOf(most)] : undefined
}

/** A line for Excel that names the delimiter. */
const SEP = /^sep=[^\r\n]\r?\n/
/** LibraryThing does not quote: a quote at the start of a title is part of it. */
const isLibraryThing = (header: string) => /sort character/i.test(header)

/**
 * Reads a table with a header and any of the usual delimiters.
 * @throws ImportFileError if it is too large, or a quote is never closed
 */
export const parseTable = (text: string): TableRow[] => {
  const sep = SEP.exec(text)?.[0] ?? ''
  const body = text.slice(sep.length)
  const start = body.trimStart().slice(0, MAX_CELL)
  const [header = ''] = start.split('\n', 1)
  // Without a second column in its first line, the header may have a line break in a name.
  const delimiter = detectDelimiter(header) ?? detectDelimiter(start) ?? ','
  const isTabs = delimiter === '\t'
  let rows = split(body, delimiter, !(isTabs && isLibraryThing(header)), MAX_ROWS + 2)
  if (typeof rows === 'number' && isTabs) rows = split(body, delimiter, false, MAX_ROWS + 2)
  if (typeof rows === 'number') {
    return refuse(`The quotation mark on line ${rows} is never closed. The file may be cut off: export it again.`)
  }
  if (rows.length > MAX_ROWS + 1) {
    refuse('The file has more than 10,000 rows. Split it into several files, each with the header.')
  }
  const table = rows.map((row) => unwrap(row, delimiter))
  if ((table[0]?.cells.length ?? 0) > MAX_COLUMNS) {
    refuse('The file has more than 200 columns. It is not a list of books.')
  }
  return sep ? table.map((row) => ({ ...row, line: row.line + 1 })) : table
}
