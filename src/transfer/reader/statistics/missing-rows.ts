import { type Cursor, readVarint } from '../sqlite/database'
import { createCollector, documentOf, isCounted, type Rows, sortRows, startOf, toKey } from './rows'
import type { Documents } from './statistics-file'

// Rows that were counted, but are not in the current file. A version; then each document, in ascending order: its 16
// bytes, the number of its rows, and of each how many seconds it starts after the one before, its page and its duration.
// Numbers are varints of SQLite.

const VERSION = 1
const DOCUMENT_BYTES = 16
/** A start takes up to six bytes, a page five, a duration three. */
const ROW_BYTES = 14
const COUNT_BYTES = 3

const createWriter = (size: number) => {
  const bytes = new Uint8Array(size)
  let length = 0
  return {
    addBytes: (added: Uint8Array) => {
      bytes.set(added, length)
      length += added.length
    },
    addNumber: (value: number) => {
      let unit = 1
      while (value >= 128 * unit) unit *= 128
      for (; unit > 1; unit /= 128) bytes[length++] = 128 + (Math.floor(value / unit) % 128)
      bytes[length++] = value % 128
    },
    written: () => bytes.slice(0, length),
  }
}

/** Returns the same bytes for the same rows. Null for none. */
export const encodeMissing = (rows: Rows, documents: Documents): Uint8Array | null => {
  if (rows.length === 0) return null
  const names = documents.names()
  const ranges = new Map<string, { from: number; to: number }>()
  for (let at = 0; at < rows.length; at++) {
    const name = names[documentOf(rows.keys[at] ?? 0)] ?? ''
    const range = ranges.get(name)
    if (range) range.to = at + 1
    else ranges.set(name, { from: at, to: at + 1 })
  }
  const size = 1 + ranges.size * (DOCUMENT_BYTES + COUNT_BYTES) + rows.length * ROW_BYTES
  const { addBytes, addNumber, written } = createWriter(size)
  addNumber(VERSION)
  for (const [name, { from, to }] of [...ranges].sort(([one], [other]) => (one < other ? -1 : 1))) {
    addBytes(Uint8Array.fromHex(name))
    addNumber(to - from)
    let last = 0
    for (let at = from; at < to; at++) {
      const start = startOf(rows.keys[at] ?? 0)
      addNumber(start - last)
      addNumber(rows.pages[at] ?? 0)
      addNumber(rows.durations[at] ?? 0)
      last = start
    }
  }
  return written()
}

/**
 * Reads what `encodeMissing` has written.
 * @throws Error if it is anything else: no file can cause that
 */
export const decodeMissing = (bytes: Uint8Array, documents: Documents): Rows => {
  const { add, collected } = createCollector()
  const cursor: Cursor = { at: 0 }
  const check = (isValid: boolean) => {
    if (!isValid || cursor.at > bytes.length) throw new Error(`the rows that files lack are damaged at ${cursor.at}`)
  }
  const readNumber = () => readVarint(bytes, cursor)
  check(readNumber() === VERSION)
  for (let last = ''; cursor.at < bytes.length; ) {
    // A copy: toHex() of Node 24 ignores where a view begins.
    const name = bytes.slice(cursor.at, cursor.at + DOCUMENT_BYTES).toHex()
    cursor.at += DOCUMENT_BYTES
    check(name > last)
    last = name
    const document = documents.indexOf(name)
    const count = readNumber()
    check(count > 0)
    let start = 0
    let previous = -1
    for (let n = 0; n < count; n++) {
      const later = readNumber()
      const [page, duration] = [readNumber(), readNumber()]
      start += later
      check((later > 0 || page > previous) && isCounted(start, page, duration))
      previous = page
      add(toKey(document, start), page, duration)
    }
  }
  return sortRows(collected())
}
