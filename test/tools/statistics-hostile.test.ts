import { describe, expect, it } from 'vitest'
import { readStatistics } from '../../src/transfer/reader/statistics/read-statistics'
import { randomFrom } from '../support/inputs/malformed-files'
import { reasonOf } from '../support/statistics/compare'
import {
  insert,
  manyRows,
  md5Of,
  query,
  SCHEMA,
  writeDatabase,
  writeStatistics,
} from '../support/statistics/write-file'

const PAGE = 4096
const { books, rows } = manyRows(2000)
/** Its rows have a root with several leaves, and its last book a record that overflows. */
const FILE = writeStatistics([...books, { id: 99, title: 'T'.repeat(9000), authors: '', md5: md5Of(99) }], rows)
const rootOf = (file: Uint8Array, table: string) =>
  Number(query(file, `select rootpage from sqlite_schema where name = '${table}'`)[0]?.[0])
const ROOT = (rootOf(FILE, 'page_stat_data') - 1) * PAGE
const BOOKS = (rootOf(FILE, 'book') - 1) * PAGE

/** A copy of the file that `edit` has changed. */
const change = (edit: (view: DataView, bytes: Uint8Array) => void, file = FILE) => {
  const bytes = file.slice()
  edit(new DataView(bytes.buffer), bytes)
  return bytes
}
const firstLeaf = (view: DataView) => (view.getUint32(ROOT + view.getUint16(ROOT + 12)) - 1) * PAGE
/** A cell of the first leaf: the first one ends with the page. */
const cellOf = (view: DataView, at = 20) => firstLeaf(view) + view.getUint16(firstLeaf(view) + 8 + 2 * at)

/** The place of the first overflow page of the last book. Its record has a size of two bytes, and a rowid of one. */
const overflowAt = (view: DataView) => {
  const cell = BOOKS + view.getUint16(BOOKS + 8 + 2 * (view.getUint16(BOOKS + 3) - 1))
  const size = (view.getUint8(cell) & 0x7f) * 128 + view.getUint8(cell + 1)
  const least = Math.floor(((PAGE - 12) * 32) / 255) - 23
  return cell + 3 + least + ((size - least) % (PAGE - 4))
}
const setOverflow = (view: DataView, toNext: (page: number) => number) => {
  const page = view.getUint32(overflowAt(view))
  view.setUint32((page - 1) * PAGE, toNext(page))
}

/** Adds interior pages, each of which has only the next as its child, and the last one the former root. */
const deepen = (depth: number) => {
  const pages = FILE.length / PAGE
  const bytes = new Uint8Array(FILE.length + depth * PAGE)
  bytes.set(FILE)
  const view = new DataView(bytes.buffer)
  view.setUint32(28, pages + depth)
  bytes.copyWithin(FILE.length, ROOT, ROOT + PAGE)
  for (let n = 0; n < depth; n++) {
    const page = n === 0 ? ROOT : FILE.length + n * PAGE
    bytes.fill(0, page, page + PAGE)
    bytes[page] = 5
    view.setUint32(page + 8, n === depth - 1 ? pages + 1 : pages + n + 2)
  }
  return bytes
}

describe('a hostile SQLite file', () => {
  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(), /^It is no SQLite file\.$/],
    ['text', new TextEncoder().encode('Title,Author\n'), /^It is no SQLite file\.$/],
    ['half a header', FILE.slice(0, 50), /cut off/],
    ['half of its pages', FILE.slice(0, FILE.length / 2), /cut off/],
    ['no page', FILE.slice(0, 2000), /cut off/],
    ['a page size of 1000', change((view) => view.setUint16(16, 1000)), /no valid page size/],
    ['a page size of 256', change((view) => view.setUint16(16, 256)), /no valid page size/],
    [
      'pages that are nearly all reserved',
      change((view) => view.setUint32(16, 0x0200_0101)).map((byte, at) => (at === 20 ? 0xff : byte)),
      /no valid page size/,
    ],
    ['a later version', change((view) => view.setUint8(19, 3)), /version of the SQLite file is not known/],
    ['an unknown encoding', change((view) => view.setUint32(56, 4)), /version of the SQLite file is not known/],
    [
      'a root that is its own child',
      change((view) => view.setUint32(ROOT + 8, ROOT / PAGE + 1)),
      /page \d+ is used twice/,
    ],
    [
      'a page with two parents',
      change((view) => view.setUint32(ROOT + 8, firstLeaf(view) / PAGE + 1)),
      /page \d+ is used twice/,
    ],
    ['a child that is page 0', change((view) => view.setUint32(ROOT + 8, 0)), /no page 0\./],
    ['a child behind the end', change((view) => view.setUint32(ROOT + 8, 1e6)), /no page 1000000\./],
    [
      'a child that is the page of an index',
      change((view) => view.setUint8(firstLeaf(view), 10)),
      /no page of its table/,
    ],
    ['30 levels', deepen(30), /no page of its table/],
    ['65,535 cells', change((view) => view.setUint16(firstLeaf(view) + 3, 0xffff)), /too many cells/],
    [
      'more cells than there are',
      change((view) => view.setUint16(firstLeaf(view) + 3, view.getUint16(firstLeaf(view) + 3) + 1)),
      /outside of page|longer than|used twice|1 MiB|known type/,
    ],
    ['a cell in the header', change((view) => view.setUint16(firstLeaf(view) + 8, 4)), /outside of page/],
    ['a cell behind the page', change((view) => view.setUint16(firstLeaf(view) + 8, PAGE - 1)), /outside of page/],
    [
      'a record of 2^63 bytes',
      change((view, bytes) => bytes.fill(0xff, cellOf(view), cellOf(view) + 9)),
      /over|more than/,
    ],
    ['a record behind the page', change((view) => view.setUint8(cellOf(view, 0), 0x7f)), /longer than its/],
    ['a header behind the record', change((view) => view.setUint8(cellOf(view) + 2, 0x7f)), /longer than its cell/],
    [
      'a value of 2^56 bytes',
      change((view, bytes) => bytes.set([12, 1, 10, ...Array(7).fill(0xff), 0x7f], cellOf(view))),
      /longer than its cell/,
    ],
    ['a reserved type', change((view) => view.setUint8(cellOf(view) + 3, 10)), /no known type/],
    ['overflow that ends early', change((view) => setOverflow(view, () => 0)), /no page 0\./],
    ['overflow in a circle', change((view) => setOverflow(view, (page) => page)), /used twice/],
  ])('with %s is refused with a sentence', (_, file, reason) => {
    expect(reasonOf(file)).toMatch(reason)
    expect(reasonOf(file)).toMatch(/^[A-Z].*\.$/)
  })

  it('whose cells are one record of 60 KB is refused: all records have more bytes than the file', () => {
    const file = writeDatabase((database) => {
      database.exec(`pragma page_size = 65536; ${SCHEMA}`)
      insert(database, [{ id: 1, title: 'T'.repeat(60_000), authors: '', md5: md5Of(1) }], [])
    })
    const page = (rootOf(file, 'book') - 1) * 65_536
    const cells = (count: number) =>
      change((view) => {
        view.setUint16(page + 3, count)
        for (let at = 1; at < count; at++) view.setUint16(page + 8 + 2 * at, view.getUint16(page + 8))
      }, file)
    expect(reasonOf(cells(2))).toBeUndefined()
    expect(reasonOf(cells(100))).toMatch(/records overlap/)
  })

  it('with 10 MB of overflow is refused', { tags: ['slow'] }, () => {
    const file = writeStatistics([{ id: 1, title: 'T'.repeat(10_000_000), authors: '', md5: md5Of(1) }], [])
    expect(reasonOf(file)).toBe('A record of the SQLite file has more than 1 MiB.')
  })

  it('is refused wherever it is cut off', () => {
    const small = writeStatistics(books, rows.slice(0, 50))
    for (let length = 0; length < small.length; length += 173) {
      expect(reasonOf(small.slice(0, length)), `${length} bytes`).toMatch(/cut off|no SQLite file/)
    }
  })

  it('is read or refused after bits were changed, and read in the same way again', {
    tags: ['slow'],
  }, () => {
    const random = randomFrom(Number(process.env.SEED ?? 1))
    const schema = SCHEMA.replace(/create (?:unique )?index.+;|create table numbers.+;|unique \(.+\),/g, '')
    const file = writeDatabase((database) => {
      database.exec(`pragma page_size = 512; ${schema}`)
      insert(database, books.slice(0, 3), rows.slice(0, 100))
    })
    const reasons = new Map<string, number>()
    for (let run = 0; run < 2000; run++) {
      const bytes = file.slice()
      for (let n = 0; n <= random(4); n++) {
        const at = random(bytes.length)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
      }
      const reason = reasonOf(bytes)
      const kind = reason?.replaceAll(/\d+/g, 'n') ?? 'read'
      reasons.set(kind, (reasons.get(kind) ?? 0) + 1)
      if (reason !== undefined) continue
      const again = readStatistics(bytes, { file: bytes, missing: null }, { timeZone: 'UTC', maxSittings: 1 })
      expect(again).toMatchObject({ added: [], isComplete: true, missing: null })
    }
    console.log(Object.fromEntries([...reasons].sort(([, one], [, other]) => other - one)))
    expect(reasons.get('read')).toBeGreaterThan(200)
    expect(reasons.size).toBeGreaterThan(10)
  })
})
