import { countLines } from '../../../csv-rows'
import { isMetadata, isUndated } from './metadata'

/** The text between two separators. */
export type Block = {
  /** The line where it begins, counted from 1. */
  line: number
  title: string | null
  /** Null if the block is not a clipping. */
  metadata: string | null
  text: string
}

const SEPARATOR = /^[ \t]*={10}[ \t]*$/gm

/** Removes NUL and byte order marks, which also occur before titles, and converts all line ends to LF. */
const normalize = (text: string) => text.replace(/[\uFEFF\0]/g, '').replace(/\r\n?/g, '\n')

/** The first line that is not blank, and the text after it. */
const takeLine = (text: string): [string, string] => {
  const filled = text.trimStart()
  const end = filled.indexOf('\n')
  return end === -1 ? [filled.trimEnd(), ''] : [filled.slice(0, end).trimEnd(), filled.slice(end + 1)]
}

/** KOReader writes each author of a book on a line: `Title (Mina Oh\nJoon Park)`. */
const AUTHOR_LINES = /^[^\n]{1,1000}\([^\n()]{1,500}(?:\n[^\n()]{1,500}){1,20}\)(?=\n[-–—] )/

/** The second line of a clipping as CrossPoint first wrote them, below `Title / Author` and above a text in quotes. */
const CROSSPOINT = /^(?:Chapter: .* \| )?Page (\d{1,9})$/

const toBlock = (block: string, line: number): Block => {
  const text = block.trimStart().replace(AUTHOR_LINES, (lines) => lines.trim().replaceAll('\n', ', '))
  const [first, afterFirst] = takeLine(text)
  const [second, afterSecond] = takeLine(afterFirst)
  if (isMetadata(second)) return { line, title: first, metadata: second, text: afterSecond.trim() }
  const [, page] = CROSSPOINT.exec(second) ?? []
  const [, quoted] = (page && /^"(.*)"$/s.exec(afterSecond.trim())) || []
  if (quoted !== undefined) {
    const at = first.lastIndexOf(' / ')
    const title = at > 0 ? `${first.slice(0, at)} (${first.slice(at + 3)})` : first
    return { line, title, metadata: `- Your Highlight on Page ${page}`, text: quoted.trim() }
  }
  const isUntitled = isMetadata(first)
  return { line, title: null, metadata: isUntitled ? first : null, text: (isUntitled ? afterFirst : text).trim() }
}

/** The blocks of the file that are not blank. Takes linear time. */
export function* readBlocks(file: string): Generator<Block> {
  const text = normalize(file)
  let start = 0
  let line = 1
  for (const { index, 0: separator } of text.matchAll(SEPARATOR)) {
    yield* readBlock(text.slice(start, index), line)
    line += countLines(text, start, index)
    start = index + separator.length
  }
  yield* readBlock(text.slice(start), line)
}

function* readBlock(text: string, line: number): Generator<Block> {
  const blanks = text.length - text.trimStart().length
  if (blanks < text.length) yield toBlock(text, line + countLines(text, 0, blanks))
}

const SAMPLE_LENGTH = 200_000
const SAMPLE_SIZE = 20

/** The second lines of the first clippings, to detect the format. Empty if the text has no separator. */
export const sampleMetadata = (file: string) => {
  const sample = file.slice(0, SAMPLE_LENGTH)
  if (sample.search(SEPARATOR) === -1) return []
  const lines: string[] = []
  for (const { title, metadata } of readBlocks(sample)) {
    // In Markdown, the separator may underline a heading. Clippings also have metadata with `|` and numbers.
    const isOfClipping = metadata && (isUndated(metadata) || (/[|｜]/.test(metadata) && /\d/.test(metadata)))
    if (title && isOfClipping) lines.push(metadata)
    if (lines.length === SAMPLE_SIZE) break
  }
  return lines
}
