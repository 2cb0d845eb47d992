import { refuse } from '../limits'

// A reader of whole tables of SQLite files, by https://www.sqlite.org/fileformat2.html. Indexes, freelists and the log of
// WAL mode are not read.

const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100
const MIN_USABLE = 480
/** By their number in the header. Files without tables have 0. */
const ENCODINGS: Record<number, string> = { 0: 'utf-8', 1: 'utf-8', 2: 'utf-16le', 3: 'utf-16be' }

export const refuseDamaged = (what: string): never => refuse(`The SQLite file is damaged: ${what}.`)

export type Cursor = { at: number }

/** Reads an integer of 64 bits in SQLite's variable length, and moves the cursor behind it. Beyond 2^53, it is rounded. */
export const readVarint = (bytes: Uint8Array, cursor: Cursor) => {
  let [high, low] = [0, 0]
  for (let n = 0; n < 8; n++) {
    const byte = bytes[cursor.at++] ?? 0
    if (n < 4) high = high * 128 + (byte & 0x7f)
    else low = low * 128 + (byte & 0x7f)
    if (byte < 0x80) return n < 4 ? high : high * 128 ** (n - 3) + low
  }
  low = low * 256 + (bytes[cursor.at++] ?? 0)
  return (high < 2 ** 27 ? high : high - 2 ** 28) * 2 ** 36 + low
}

/**
 * Reads the header of a file.
 * @throws ImportFileError if it is no SQLite file, or is cut off
 */
export const openDatabase = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (new TextDecoder('latin1').decode(bytes.subarray(0, MAGIC.length)) !== MAGIC) refuse('It is no SQLite file.')
  if (bytes.length < HEADER_BYTES) refuseDamaged('it is cut off')
  const storedSize = view.getUint16(16)
  const pageSize = storedSize === 1 ? 65_536 : storedSize
  const usable = pageSize - view.getUint8(20)
  const isPower = pageSize >= 512 && (pageSize & (pageSize - 1)) === 0
  if (!isPower || usable < MIN_USABLE) refuseDamaged('it has no valid page size')
  const encoding = ENCODINGS[view.getUint32(56)]
  // From version 3 on, readers must refuse a file.
  if (view.getUint8(19) > 2 || view.getUint32(44) > 4 || !encoding)
    refuse('The version of the SQLite file is not known.')
  // Old versions of SQLite do not update the number of pages.
  const isCurrent = view.getUint32(24) === view.getUint32(92) && view.getUint32(28) > 0
  const pages = isCurrent ? view.getUint32(28) : Math.floor(bytes.length / pageSize)
  if (pages * pageSize > bytes.length || pages === 0) refuseDamaged('it is cut off')

  const visited = new Uint8Array(pages + 1)
  let budget = bytes.length
  return {
    bytes,
    view,
    usable,
    decoder: new TextDecoder(encoding, { fatal: false, ignoreBOM: true }),
    /** Where a page begins. A page is part of one table or one record, so each is read once. */
    visitPage: (page: number) => {
      if (page < 1 || page > pages) refuseDamaged(`it has no page ${page}`)
      if (visited[page]) refuseDamaged(`page ${page} is used twice`)
      visited[page] = 1
      return (page - 1) * pageSize
    },
    /** Counts the bytes of a record: all records together cannot have more than the file. This bounds all work. */
    spend: (count: number) => {
      budget -= count
      if (budget < 0) refuseDamaged('its records overlap')
    },
  }
}
export type Database = ReturnType<typeof openDatabase>
