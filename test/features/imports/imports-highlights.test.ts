// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { measure, memberDatabase } from '../../support/database'
import * as transfer from '../../support/transfer/imports'
import { booksOf, rowsOf } from '../../support/transfer/imports'

type Item = { text: string; note?: string; time?: number; page?: number }
const koreader = (...entries: Item[]) =>
  JSON.stringify({ title: 'Low Tide', author: 'Ana Ruiz', created_on: 1, entries: entries.map(toEntry) })
const toEntry = (item: Item) => ({ sort: 'highlight', drawer: '', page: 1, ...item })

const [FIRST, SECOND] = [1_760_000_000, 1_760_086_400]
const BOTH = [
  { text: 'Salt.', time: FIRST },
  { text: 'Tide.', time: SECOND },
]

/** Imports a file with one book. Returns its row of the report. */
const importRow = async (reader: Reader, file: string, query = '') => {
  const { status, importId } = await transfer.importFile(reader, file, query)
  expect(status).toBe('DONE')
  expect(await findMismatches(memberDatabase())).toEqual([])
  const [row] = await rowsOf(reader, importId)
  return { importId, ...row }
}
const memosOf = async (reader: Reader): Promise<{ memoId: number; memoContent: string }[]> => {
  const [book] = await booksOf(reader)
  const { body } = await reader.get(`/books/${book.bookId}?memoAuthority=ALL`)
  return body.memosList.toSorted((one: { memoId: number }, other: { memoId: number }) => one.memoId - other.memoId)
}
const textsOf = async (reader: Reader) => (await memosOf(reader)).map(({ memoContent }) => memoContent)

describe('an edited highlight', () => {
  it('replaces its text, and an undo brings the old one back', async () => {
    const reader = await signUp()
    await importRow(reader, koreader(...BOTH))
    const [first] = await memosOf(reader)
    const row = await importRow(reader, koreader({ text: 'Salt.', note: 'Why?', time: FIRST, page: 9 }))
    expect(row).toMatchObject({ outcome: 'updated', losses: [] })
    expect(row.changes).toEqual([{ field: 'memo: highlight 1', from: 'Salt.', to: 'Salt.\n\nWhy?' }])
    expect(await textsOf(reader)).toEqual(['Salt.\n\nWhy?', 'Tide.'])
    expect((await memosOf(reader))[0]?.memoId).toBe(first?.memoId)
    expect((await reader.delete(`/imports/${row.importId}`)).body).toMatchObject({ restored: 1, kept: [{ left: [] }] })
    expect(await textsOf(reader)).toEqual(['Salt.', 'Tide.'])
    expect(await importRow(reader, koreader({ text: 'Salt!', time: FIRST }))).toMatchObject({ outcome: 'updated' })
    expect(await textsOf(reader)).toEqual(['Salt!', 'Tide.'])
  })

  it('is kept if it was edited here', async () => {
    const reader = await signUp()
    await importRow(reader, koreader(...BOTH))
    for (const { memoId } of await memosOf(reader)) await reader.patch(`/memos/${memoId}`, { memoContent: 'Mine.' })
    const edited = koreader({ text: 'Salt!', time: FIRST }, { text: 'Tide!', time: SECOND }, { text: 'New.', time: 1 })
    const row = await importRow(reader, edited)
    expect(row.losses).toEqual([{ code: 'text-kept', field: 'highlights', count: 2 }])
    expect(await textsOf(reader)).toEqual(['Mine.', 'Mine.', 'New.'])
  })

  it('is only shown by a dry run', async () => {
    const reader = await signUp()
    await importRow(reader, koreader(...BOTH))
    const row = await importRow(reader, koreader({ text: 'Salt!', time: FIRST }), '?dryRun=true')
    expect(row).toMatchObject({ outcome: 'updated', changes: [{ from: 'Salt.', to: 'Salt!' }] })
    expect(await textsOf(reader)).toEqual(['Salt.', 'Tide.'])
  })
})

it.each([
  ['another time', koreader({ text: 'Salt!', time: FIRST + 1 })],
  ['no time', koreader({ text: 'Salt!' })],
  ['a time that it shares with another', koreader({ text: 'Salt!', time: FIRST }, { text: 'Sea.', time: FIRST })],
])('adds a highlight with %s beside the earlier one', async (_, file) => {
  const reader = await signUp()
  await importRow(reader, koreader(...BOTH))
  await importRow(reader, file)
  expect(await textsOf(reader)).toEqual(expect.arrayContaining(['Salt.', 'Tide.', 'Salt!']))
})

it('reads no memos of the book a second time to find the highlights of an earlier import', async () => {
  const reader = await signUp()
  const many = Array.from({ length: 60 }, (_, at) => ({ text: `Number ${at}`, time: FIRST + at }))
  await importRow(reader, koreader(...many))
  const timed = await measure(() => transfer.importFile(reader, koreader({ text: 'New.', time: 5 })))
  const untimed = await measure(() => transfer.importFile(reader, koreader({ text: 'Newer.' })))
  expect(timed.read - untimed.read).toBeLessThan(20)
})

it('replaces a hundred highlights of a book at a time, of as many as it has', { tags: ['slow'] }, async () => {
  const reader = await signUp()
  const itemsOf = (edited: number) =>
    Array.from({ length: 2000 }, (_, at) => ({ text: `${at < 2000 - edited ? 'Old' : 'New'} ${at}`, time: FIRST + at }))
  await importRow(reader, koreader(...itemsOf(0)))
  const first = await importRow(reader, koreader(...itemsOf(150)))
  expect(first.losses).toEqual([{ code: 'text-kept', field: 'highlights', count: 50 }])
  expect((await textsOf(reader)).filter((text) => text.startsWith('New'))).toHaveLength(100)
  const second = await importRow(reader, koreader(...itemsOf(150)))
  expect(second.losses).toEqual([])
  expect((await textsOf(reader)).filter((text) => text.startsWith('New'))).toHaveLength(150)
  expect(await textsOf(reader)).toHaveLength(2000)
})

it('does not take a note with an address for a review', async () => {
  const reader = await signUp()
  const note = {
    title: 'Low Tide',
    note: 'A note.',
    text: '',
    highlighted_at: '2026-03-14',
    highlight_url: 'https://a.example/review/1',
  }
  await importRow(reader, JSON.stringify({ highlights: [note] }))
  const csv = await (await transfer.download(reader, '/export.csv')).text()
  expect(csv).toContain('Low Tide')
  expect(csv).not.toContain('A note.')
})
