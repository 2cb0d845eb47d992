import type { Entry } from './entry'

// The form in which the reader sends entries: lines of JSON. The names of the columns, which the rows of a table share, are only
// in the first of several lines that have the same ones.

/** Returns a function that writes entries as lines, without line ends. */
export const createLineWriter = () => {
  let sent: string[] | undefined
  return (entry: Entry) => {
    const { names, values } = entry.cells
    if (names === sent) return JSON.stringify({ ...entry, cells: { values } })
    sent = names
    return JSON.stringify(entry)
  }
}

export type ReceivedEntry = Entry & {
  /** Characters as JSON, with the names of its columns. */
  size: number
}

/** Returns a function that reads entries from lines, in the order in which they were written. */
export const createLineReader = () => {
  let names: string[] = []
  let namesSize = 0
  return (line: string): ReceivedEntry => {
    const entry: Entry = JSON.parse(line)
    const { cells } = entry
    if (cells.names) {
      names = cells.names
      namesSize = names.reduce((sum, name) => sum + name.length, 0)
      return Object.assign(entry, { size: line.length })
    }
    cells.names = names
    return Object.assign(entry, { size: line.length + namesSize })
  }
}
