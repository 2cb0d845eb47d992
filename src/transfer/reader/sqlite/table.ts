import { refuse } from '../limits'
import { type Cursor, type Database, readVarint, refuseDamaged } from './database'

/** SQLite itself goes no deeper. */
const MAX_DEPTH = 20
/** The longest record that is read. */
const MAX_RECORD = 1024 * 1024

const LEAF = 13
const INTERIOR = 5
const INDEX_PAGES = [2, 10]

/** Bytes of the values of each serial type. From FIRST_BLOB on, even ones are blobs and odd ones texts. */
const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
const RESERVED = [10, 11]
const FIRST_BLOB = 12

export type Table = {
  /** The page of its root. */
  root: number
  /** The positions of columns in records, by their names in lower case. */
  columns: Map<string, number>
  /** The column that is the rowid: records have null for it. */
  rowidAt?: number
}

/** The row that a visitor is called with. Only valid during that call. */
export type Row = {
  /** Undefined unless it is a number that is, rounded, a safe integer. */
  integer: (column: number) => number | undefined
  text: (column: number) => string | undefined
}

const createRow = (database: Database, rowidAt: number | undefined) => {
  let { bytes, view } = database
  let rowid = 0
  let count = 0
  const types: number[] = []
  const starts: number[] = []
  const cursor: Cursor = { at: 0 }

  const load = (id: number, source: Uint8Array, sourceView: DataView, start: number, end: number) => {
    rowid = id
    bytes = source
    view = sourceView
    cursor.at = start
    const headerEnd = start + readVarint(bytes, cursor)
    let value = headerEnd
    for (count = 0; cursor.at < headerEnd && value <= end; count++) {
      const type = readVarint(bytes, cursor)
      if (type < 0 || RESERVED.includes(type)) refuseDamaged('a value has no known type')
      types[count] = type
      starts[count] = value
      value += SIZES[type] ?? Math.floor((type - FIRST_BLOB) / 2)
    }
    if (value > end || cursor.at > headerEnd) refuseDamaged('a record is longer than its cell')
  }

  /** Null for columns that were added to the table after the record was written. */
  const typeOf = (column: number) => (column < count ? (types[column] ?? 0) : 0)

  const numberAt = (type: number, at: number) => {
    switch (type) {
      case 1:
        return view.getInt8(at)
      case 2:
        return view.getInt16(at)
      case 3:
        return view.getInt8(at) * 2 ** 16 + view.getUint16(at + 1)
      case 4:
        return view.getInt32(at)
      case 5:
        return view.getInt16(at) * 2 ** 32 + view.getUint32(at + 2)
      case 6:
        return view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4)
      case 7:
        return Math.round(view.getFloat64(at))
      case 8:
        return 0
      case 9:
        return 1
      default:
        return Number.NaN
    }
  }

  const row: Row = {
    integer: (column) => {
      const number = column === rowidAt ? rowid : numberAt(typeOf(column), starts[column] ?? 0)
      return Number.isSafeInteger(number) ? number : undefined
    },
    text: (column) => {
      const [type, start = 0] = [typeOf(column), starts[column]]
      if (type <= FIRST_BLOB || type % 2 === 0) return undefined
      return database.decoder.decode(bytes.subarray(start, start + (type - FIRST_BLOB - 1) / 2))
    },
  }
  return { row, load }
}

/**
 * Calls `visit` with each row of a table.
 * @throws ImportFileError if the table cannot be read
 */
export const readTable = (database: Database, table: Table, visit: (row: Row) => void) => {
  const { bytes, view, usable } = database
  const { row, load } = createRow(database, table.rowidAt)
  const cursor: Cursor = { at: 0 }
  const maxLocal = usable - 35
  const minLocal = Math.floor(((usable - 12) * 32) / 255) - 23

  /** A record that continues on overflow pages. */
  const join = (start: number, local: number, size: number) => {
    const record = new Uint8Array(size)
    record.set(bytes.subarray(start, start + local))
    let next = view.getUint32(start + local)
    for (let at = local; at < size; at += usable - 4) {
      const page = database.visitPage(next)
      record.set(bytes.subarray(page + 4, page + Math.min(usable, 4 + size - at)), at)
      next = view.getUint32(page)
    }
    return record
  }

  const readCell = (at: number, pageEnd: number) => {
    cursor.at = at
    const size = readVarint(bytes, cursor)
    const rowid = readVarint(bytes, cursor)
    if (size < 0 || size > MAX_RECORD) refuse('A record of the SQLite file has more than 1 MiB.')
    // Two varints of at least a byte each, and the pointer to the cell.
    database.spend(size + 4)
    const start = cursor.at
    const split = minLocal + ((size - minLocal) % (usable - 4))
    const local = size <= maxLocal ? size : split <= maxLocal ? split : minLocal
    if (start + local + (local < size ? 4 : 0) > pageEnd) refuseDamaged('a cell is longer than its page')
    if (local === size) load(rowid, bytes, view, start, start + size)
    else {
      const record = join(start, local, size)
      load(rowid, record, new DataView(record.buffer), 0, size)
    }
    visit(row)
  }

  const walk = (page: number, depth: number) => {
    const start = database.visitPage(page)
    const end = start + usable
    const header = start + (page === 1 ? 100 : 0)
    const kind = view.getUint8(header)
    if (depth === 0 && INDEX_PAGES.includes(kind)) refuse('The SQLite file has a table WITHOUT ROWID.')
    if ((kind !== LEAF && kind !== INTERIOR) || depth > MAX_DEPTH) refuseDamaged(`page ${page} is no page of its table`)
    const cells = view.getUint16(header + 3)
    const pointers = header + (kind === LEAF ? 8 : 12)
    const content = pointers + 2 * cells
    if (content > end) refuseDamaged(`page ${page} has too many cells`)
    for (let pointer = pointers; pointer < content; pointer += 2) {
      const cell = start + view.getUint16(pointer)
      if (cell < content || cell + 4 > end) refuseDamaged(`a cell is outside of page ${page}`)
      if (kind === LEAF) readCell(cell, end)
      else walk(view.getUint32(cell), depth + 1)
    }
    if (kind === INTERIOR) walk(view.getUint32(header + 8), depth + 1)
  }
  walk(table.root, 0)
}
