// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { type Reader, signUp } from '../../support/api'
import { randomFrom } from '../../support/inputs/malformed-files'
import { booksOf, importFile, rowsOf } from '../../support/transfer/imports'

// Books that have an identifier or an ISBN of another book: of converters that number rows, of spreadsheets that round
// numbers, of box sets.

type Row = { id: string; title: string; author: string; isbn?: string }
const HEADER = 'Book Id,Title,Author,ISBN13,Exclusive Shelf,My Review,Bookshelves'
/** A file of Goodreads. The review and the tag of each row name its title. */
const toFile = (rows: Row[]) =>
  [
    HEADER,
    ...rows.map(({ id, title, author, isbn = '' }) => [id, title, author, isbn, 'read', `Of ${title}`, title].join()),
  ].join('\n')

const importRows = async (reader: Reader, rows: Row[], query = '') => {
  const { importId } = await importFile(reader, toFile(rows), query)
  return (await rowsOf(reader, importId)).toSorted((one, other) => one.line - other.line)
}

/** What the library has of each book: its title, its reviews and its tags. */
const libraryOf = async (reader: Reader) => {
  const books: { bookId: number; title: string }[] = await booksOf(reader)
  return Promise.all(
    books.map(async ({ bookId, title }) => {
      const memos: { memoContent: string }[] = (await reader.get(`/books/${bookId}?memoAuthority=ALL`)).body.memosList
      const tags: string[] = (await reader.get(`/books/${bookId}/tags`)).body.tags
      return [title, memos.map(({ memoContent }) => memoContent), tags]
    }),
  )
}
/** The same, by the rows of the files: each book has only its own. */
const expected = (...rows: Row[]) => rows.map(({ title }) => [title, [`Of ${title}`], [title]])

const HARBOUR = { title: 'Quiet Harbour', author: 'Ana Reed' }
const SHORE = { title: 'Other Shore', author: 'Ben Field' }
const ISBN = '9788936434120'
const first = { id: '', title: 'Land 1', author: 'Ana Reed', isbn: ISBN }
const second = { ...first, title: 'Land 2' }

const CASES: [what: string, one: Row, other: Row, code: string | null][] = [
  ['an identifier that a spreadsheet damaged', { id: '2.42E+08', ...HARBOUR }, { id: '2.42E+08', ...SHORE }, null],
  ['a number of a row', { id: '1', ...HARBOUR }, { id: '1', ...SHORE }, 'possible-duplicate'],
  ['a rounded identifier', { id: '242000000', ...HARBOUR }, { id: '242000000', ...SHORE }, 'possible-duplicate'],
  ['an ISBN', { id: '', ...HARBOUR, isbn: ISBN }, { id: '', ...SHORE, isbn: ISBN }, 'possible-duplicate'],
  ['the ISBN of a box set', first, second, 'possible-duplicate'],
  ['the ISBN of a box set, without a number', { ...first, title: 'Land' }, second, 'possible-duplicate'],
  [
    'the ISBN of a Korean box set',
    { ...first, title: '토지 상' },
    { ...first, title: '토지 하' },
    'possible-duplicate',
  ],
  ['the identifier of another volume', { ...first, id: '7' }, { ...second, id: '7' }, 'possible-duplicate'],
]

describe.each(['', '?merge=overwrite'])('two books that share %j', (query) => {
  it.each(CASES)('%s stay two books', { tags: ['slow'] }, async (_, one, other, code) => {
    const inOne = await signUp()
    await importRows(inOne, [one, other], query)
    expect(await libraryOf(inOne)).toEqual(expected(one, other))
    const reader = await signUp()
    const [created] = await importRows(reader, [one], query)
    const [row] = await importRows(reader, [other], query)
    expect(row).toMatchObject({ outcome: 'created', code })
    expect(row?.bookId).not.toBe(created?.bookId)
    expect(await libraryOf(reader)).toEqual(expected(one, other))
    for (const file of [[other, one], [one], [other]]) {
      for (const again of await importRows(reader, file, query)) expect(again).toMatchObject({ outcome: 'unchanged' })
    }
    expect(await libraryOf(reader)).toEqual(expected(one, other))
  })
})

it('volumes whose number is in a column stay several books', async () => {
  const file = '제목,저자,시리즈,권\n토지,박경리,토지,1\n토지,박경리,토지,2\n'
  const reader = await signUp()
  expect(await importFile(reader, file)).toMatchObject({ counts: { created: 2 } })
  expect(await importFile(reader, file)).toMatchObject({ counts: { unchanged: 2 } })
  expect(await importFile(reader, '제목,저자,권\n토지,박경리,3\n')).toMatchObject({ counts: { created: 1 } })
})

it('a book stays the same if its title or its author was edited', async () => {
  const reader = await signUp()
  const row = { id: '7', title: 'Land', author: 'Ana Reed' }
  const [created] = await importRows(reader, [row])
  for (const edited of [
    { ...row, title: 'Land 1' },
    { ...row, title: 'Ground' },
    { ...row, author: 'Mina Oh' },
  ]) {
    expect(await importRows(reader, [edited])).toMatchObject([{ bookId: created?.bookId }])
  }
})

it('a file whose identifiers are those of other books mixes none', async () => {
  const random = randomFrom(env.SEED)
  const names = ['Harbour', 'Shore', 'Lantern', 'Orchard', 'Glacier', 'Meadow']
  const authors = ['Ana Reed', 'Ben Field', 'Mina Oh', 'Leo Ruiz', 'Ida Park', 'Tom Vale']
  const books = names.flatMap((title, at) =>
    [`${title} 1`, `${title} 2`].map((title) => ({ title, author: authors[at] ?? '' })),
  )
  const toRows = () =>
    books.map((book) => ({
      ...book,
      id: ['2.42E+08', `${1 + random(4)}`, '242000000', ''][random(4)] ?? '',
      isbn: random(2) ? ISBN : '',
    }))
  const reader = await signUp()
  for (const query of ['', '', '?merge=overwrite']) {
    const rows = toRows()
    await importRows(reader, rows, query)
    // A row that could be several books is left out; one with the identifier of another is a book of its own.
    const found = await libraryOf(reader)
    expect(new Set(found.map(([title]) => title))).toEqual(new Set(books.map(({ title }) => title)))
    for (const [title, memos, tags] of found) expect([memos, tags]).toEqual([[`Of ${title}`], [title]])
  }
})
