import { expect, it } from 'vitest'
import { toNames } from '../../../src/devices/documents/match'
import { emptyEntry } from '../../../src/transfer/entries/entry'
import { type BookIdentity, createMatcher } from '../../../src/transfer/imports/plan/matching'
import { type Reader, signUp } from '../../support/api'
import { measure, memberDatabase } from '../../support/database'
import { addDevice } from '../../support/devices/device'
import { memberIdOf } from '../../support/images/images'

const BOOKS = [
  ['Demian', null, 'Hermann Hesse'],
  ['Sapiens', 'A Brief History of Humankind', 'Yuval Noah Harari'],
  ['Good Omens', null, 'Terry Pratchett, Neil Gaiman'],
  ['소년이 온다', null, '한강'],
  ['L’Étranger', null, 'Camus, Albert'],
  ['Dune', null, 'Frank Herbert'],
  ['Dune', null, 'Herbert, Frank'],
  ['Emma', null, 'Jane Austen'],
  ['Emma', null, 'Alexander McCall Smith'],
  ['It', null, null],
  ['Saga, Volume 1', null, 'Brian K. Vaughan'],
  ['Saga, Volume 2', null, 'Brian K. Vaughan'],
] as const

const addBooks = async (reader: Reader) => {
  const known: BookIdentity[] = []
  for (const [title, subtitle, author] of BOOKS) {
    const { bookId } = await reader.createBook({ title, author })
    if (subtitle) await reader.patch(`/books/${bookId}/edition`, { subtitle })
    known.push({ bookId, title, subtitle, author, isbn: null, seriesNumber: null, sourceIds: null })
  }
  return known
}

it('links a document only to the book that an import would find, and else lets it wait', {
  tags: ['slow'],
}, async () => {
  const reader = await signUp()
  const device = await addDevice(reader)
  const known = await addBooks(reader)
  const cases: [title: string, authors: string, linked: boolean][] = [
    ['Demian', 'Hermann Hesse', true],
    ['DEMIAN', 'hesse, hermann', true],
    ['Demian', 'Thomas Mann', false],
    ['Demian', '', false],
    ['Demian: The Story', 'Hermann Hesse', false],
    ['Sapiens: A Brief History of Humankind', 'Yuval Noah Harari', true],
    ['Sapiens', 'Yuval Noah Harari', false],
    ['Good Omens', 'Terry Pratchett\nNeil Gaiman', true],
    ['소년이 온다', '한강', true],
    ["L'Etranger", 'Albert Camus', true],
    ['Dune', 'Frank Herbert', true],
    ['dune', 'Frank Herbert', false],
    ['Emma', 'Jane Austen', true],
    ['Emma', 'Austen, Jane', false],
    ['It', 'Stephen King', false],
    ['Saga, Volume 2', 'Brian K. Vaughan', true],
    ['Saga, Volume 3', 'Brian K. Vaughan', false],
  ]
  for (const [n, [title, authors]] of cases.entries())
    await device.push({ document: `d${n}`, percentage: 0.1, metadata: { title, authors } })
  const { item } = (await reader.get('/documents?size=100')).body
  for (const [n, [title, authors, linked]] of cases.entries()) {
    const entry = { ...emptyEntry(1), title, author: authors.replace('\n', ', ') || null }
    const matcher = createMatcher([entry], new Map(), new Set())
    for (const book of known) matcher.offer(book)
    const match = matcher.match([entry]).get(entry)
    const found = item.find(({ documentId }: { documentId: string }) => documentId === `d${n}`)
    expect([title, authors, found.state]).toEqual([title, authors, linked ? 'LINKED' : 'WAITING'])
    if (linked) expect(match).toEqual({ kind: 'same', bookId: found.book.bookId })
  }
})

it('reads at most 500 books of a title', { tags: ['slow'] }, async () => {
  const reader = await signUp()
  const device = await addDevice(reader)
  const { bookId } = await reader.createBook({ title: 'Saga', author: 'Brian K. Vaughan' })
  const addVolumes = (from: number, to: number) =>
    memberDatabase()
      .prepare(
        `with recursive volumes(n) as (select ?3 union all select n + 1 from volumes where n < ?4)
         insert into books (bookId, memberId, title, subtitle, createdAt)
         select ?1 + n, ?2, 'Saga', 'Volume ' || n, '2026-01-01T00:00:00' from volumes`,
      )
      .bind(bookId, memberId, from, to)
      .run()
  const memberId = await memberIdOf(reader)
  const push = (document: string) =>
    device.push({ document, percentage: 0.1, metadata: { title: 'Saga', authors: 'Brian K. Vaughan' } })
  const stateOf = async (document: string) =>
    (await reader.get('/documents')).body.item.find(({ documentId }: { documentId: string }) => documentId === document)
      .state

  await addVolumes(1, 499)
  await push('a')
  expect(await stateOf('a')).toBe('LINKED')
  await addVolumes(500, 4000)
  expect((await measure(() => push('b'))).read).toBeLessThan(2000)
  expect(await stateOf('b')).toBe('WAITING')
})

it('takes no longer for hostile names', () => {
  const { spellings } = toNames(': '.repeat(150), `${'a\n'.repeat(150)}`)
  expect(spellings.length).toBeLessThan(5000)
})
