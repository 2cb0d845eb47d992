import { beforeEach, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { BLOCK_PRICE, BOOK_PRICE, NOTE_PRICE, PRICED_ROWS } from '../../../src/values/prices'
import { type Reader, signUp } from '../../support/api'
import { memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'

let reader: Reader
let memberId: number
let bookId: number
beforeEach(async () => {
  reader = await signUp()
  memberId = await memberIdOf(reader)
  bookId = (await reader.createBook({ title: 'A', author: null })).bookId
})

const used = async () => {
  expect(await findMismatches(memberDatabase())).toEqual([])
  const [member] = await select('select textBytes from members where memberId = ?', memberId)
  return Number(member?.textBytes)
}
const allow = async (more: number) =>
  select('update members set maxTextBytes = ? where memberId = ?', (await used()) + more, memberId)
const patch = async (body: object) => expect((await reader.patch(`/books/${bookId}`, body)).status).toBe(200)
const rowsOf = async (table: string) => (await select(`select * from ${table} where memberId = ?`, memberId)).length
const read = (n: number) => patch({ currentPage: n + 1 })
const readPages = async (from: number, to: number) => {
  for (let n = from; n < to; n++) await read(n)
}
/** Finishes the book and begins it again, which archives a reading. */
const readAgain = async (day: number) => {
  await patch({ bookStatus: 'DONE', readEndDate: `2026-01-0${day}T00:00:00` })
  await patch({ bookStatus: 'ING' })
}

it('counts a memo of one character as the row that it takes', async () => {
  await allow(3 * (NOTE_PRICE + 1))
  const send = () => reader.post(`/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' })
  const statuses = []
  for (let n = 0; n < 5; n++) statuses.push((await send()).status)
  expect(statuses).toEqual([201, 201, 201, 409, 409])
})

it('counts the tags of books and the progress events of a book by the twenty', async () => {
  const before = await used()
  await readPages(0, PRICED_ROWS - 1)
  expect(await used()).toBe(before)
  await readPages(PRICED_ROWS - 1, PRICED_ROWS + 1)
  expect(await used()).toBe(before + BLOCK_PRICE)
  await reader.delete(`/books/${bookId}`)
  const none = await used()
  for (let n = 0; n < PRICED_ROWS; n++) {
    const { bookId: tagged } = await reader.createBook({ title: 'A', author: null })
    expect((await reader.send('PUT', `/books/${tagged}/tags`, { body: { tags: ['Tag'] } })).status).toBe(200)
  }
  expect((await used()) - none).toBe(PRICED_ROWS * (BOOK_PRICE + 4) + BLOCK_PRICE)
  await reader.delete('/tags?tag=Tag')
  expect((await used()) - none).toBe(PRICED_ROWS * (BOOK_PRICE + 4))
})

it('counts archived readings, and what deletes them', async () => {
  const before = await used()
  await patch({ bookStatus: 'ING' })
  for (const day of [1, 2, 3]) await readAgain(day)
  expect(await rowsOf('readings')).toBe(3)
  expect(await used()).toBe(before + 3 * NOTE_PRICE)
  const [reading] = await select('select readingId from readings where memberId = ?', memberId)
  await reader.delete(`/readings/${reading?.readingId}`)
  expect(await used()).toBe(before + 2 * NOTE_PRICE)
  await reader.delete(`/books/${bookId}`)
  await reader.delete('/trash')
  expect(await used()).toBe(0)
})

it('never refuses an update of a book: what it causes counts against creations, and stops growing', async () => {
  await patch({ bookStatus: 'ING' })
  await allow(1)
  await readPages(0, PRICED_ROWS / 2)
  await readAgain(1)
  expect(await rowsOf('readings')).toBe(1)
  const full = await used()
  expect(await reader.post('/books', { title: 'B' })).toMatchObject({ status: 409 })
  await readPages(PRICED_ROWS, 3 * PRICED_ROWS)
  for (const day of [2, 3, 4]) await readAgain(day)
  // Those of a day are merged. The reading changes instead of being archived.
  expect(await rowsOf('progress')).toBeLessThan(2 * PRICED_ROWS)
  expect(await rowsOf('readings')).toBe(1)
  expect(await used()).toBeLessThanOrEqual(full + BLOCK_PRICE)
})
