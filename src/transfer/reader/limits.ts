import { MAX_NAME } from '../../values/contract'
import { truncate } from '../../values/text/truncate'
import { type Cells, type Code, type Entry, ImportFileError, type Loss, MAX_ROWS } from '../entries/entry'

export const refuse = (reason: string): never => {
  throw new ImportFileError(reason)
}

/** Checks the number of entries. Call it before they are made, which takes far more memory than the file. */
export const checkCount = (entries: number, what = 'books') => {
  if (entries > MAX_ROWS) refuse(`The file has more than 10,000 ${what}. Split it into several files.`)
}

/** The first losses one by one, and as `more` the numbers of the others by code. */
export const sumUp = (losses: Loss[], listed: number): Loss[] => {
  const counts = new Map<Code, number>()
  for (const { code, count = 1 } of losses.slice(listed)) counts.set(code, (counts.get(code) ?? 0) + count)
  return [...losses.slice(0, listed), ...[...counts].map(([code, count]) => ({ code, field: 'more', count }))]
}

/** Readings, memos and progress events of all books. A reading of `read_dates` takes only five bytes of the file. */
const MAX_ROWS_OF_BOOKS = 200_000
/** Characters of the losses of all rows, as JSON. Beyond them, a row lists only a few. */
const MAX_FILE_LOSSES = 8 * 1024 * 1024
const FEW_LOSSES = 5
const LOSS_LENGTH = '{"code":"","field":""},'.length
/** Characters of the cells of all rows, with their names: more than any list of books has. */
const MAX_FILE_CELLS = 16 * 1024 * 1024
/** Characters of each cell that a row keeps, if together they have more than MAX_CELLS. */
const MAX_KEPT_CELL = 2000
const MAX_CELLS = 100_000

const lengthOf = ({ names, values }: Cells) => {
  const add = (sum: number, text: string) => sum + text.length
  return values.reduce(add, names.reduce(add, 0))
}

const cutCells = (cells: Cells): Cells => {
  if (lengthOf(cells) <= MAX_CELLS) return cells
  const count = MAX_CELLS / MAX_KEPT_CELL
  return {
    names: cells.names.slice(0, count).map((name) => truncate(name, MAX_NAME)),
    values: cells.values.slice(0, count).map((value) => truncate(value, MAX_KEPT_CELL)),
  }
}

/**
 * Leaves out losses and cells beyond the limits: those of many short rows below long names would be far larger than the
 * file.
 * @throws ImportFileError if the books have too many readings, memos and progress events
 */
export const limitEntries = (entries: Entry[]) => {
  let [rows, losses, cells] = [0, 0, 0]
  for (const entry of entries) {
    rows += entry.readings.length + entry.memos.length + (entry.exact?.progress.length ?? 0)
    if (rows > MAX_ROWS_OF_BOOKS) {
      refuse('The file has more than 200,000 readings, memos and progress events. Split it into several files.')
    }
    for (const { code, field } of entry.losses) losses += LOSS_LENGTH + code.length + field.length
    if (losses > MAX_FILE_LOSSES && entry.losses.length > FEW_LOSSES) {
      entry.losses = sumUp(entry.losses, FEW_LOSSES)
    }
    entry.cells = cutCells(entry.cells)
    cells += lengthOf(entry.cells)
    if (cells <= MAX_FILE_CELLS) continue
    entry.cells = { names: [], values: [] }
    if (entry.failure) entry.losses.push({ code: 'too-many', field: 'cells' })
  }
}
