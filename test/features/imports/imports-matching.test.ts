// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Bindings } from '../../../src/env'
import type { ImportRow } from '../../../src/transfer/imports/responses'
import calibre from '../../fixtures/imports/calibre.csv?raw'
import goodreads from '../../fixtures/imports/goodreads.csv?raw'
import hardcover from '../../fixtures/imports/hardcover.csv?raw'
import kindle from '../../fixtures/imports/kindle.txt?raw'
import koreader from '../../fixtures/imports/koreader.json?raw'
import librarything from '../../fixtures/imports/librarything.tsv?raw'
import readwise from '../../fixtures/imports/readwise.csv?raw'
import storygraph from '../../fixtures/imports/storygraph.csv?raw'
import { type Reader, signUp } from '../../support/api'
import { booksOf, finishImport, importFile, rowsOf, startImport } from '../../support/transfer/imports'
import { wrapEnv } from '../../support/wrap-database'

// Some fixtures give the identifier of one book to another.
const FILES = {
  ...{ calibre, goodreads, kindle, koreader, readwise },
  hardcover: hardcover.replace('B0ABCDEF12', ''),
  librarything: librarything.replace(/\b(?:978)?\d{9}[\dX]\b/g, ''),
  storygraph: storygraph.replace('0306406152', ''),
}
const NAMES = Object.keys(FILES) as (keyof typeof FILES)[]

type Book = { bookId: number; title: string; author: string | null }
type Library = { reader: Reader; books: Book[]; rows: ImportRow[] }

const titleOf = (title: string) => title.replace(/ \(Harbour.*/, '').toLowerCase()
const SURNAMES = ['Oh', 'Ruiz', 'Park', 'Kim']
const writerOf = ({ author }: Book) => author?.match(new RegExp(SURNAMES.join('|')))?.[0]
const findBook = ({ books }: Library, row: ImportRow | undefined) => books.find(({ bookId }) => bookId === row?.bookId)

describe('books that two services have', () => {
  const libraries = new Map<string, Library>()
  beforeAll(async () => {
    for (const name of NAMES) {
      const reader = await signUp()
      const { importId } = await importFile(reader, FILES[name])
      libraries.set(name, { reader, books: await booksOf(reader), rows: await rowsOf(reader, importId) })
    }
  })

  it.each(NAMES)('are neither doubled without a flag nor mixed up: after %s', { tags: ['slow'] }, async (first) => {
    const library = libraries.get(first) as Library
    for (const [name, other] of libraries) {
      if (name === first) continue
      const { importId } = await importFile(library.reader, FILES[name as keyof typeof FILES], '?dryRun=true')
      for (const row of await rowsOf(library.reader, importId)) {
        const imported = findBook(
          other,
          other.rows.find(({ line }) => line === row.line),
        )
        if (!imported) continue
        const match = findBook(library, row)
        const sameTitle = library.books.filter(({ title }) => titleOf(title) === titleOf(imported.title))
        const says = `${name}: ${imported.title} by ${imported.author}`
        if (match)
          expect([titleOf(match.title), writerOf(match)], says).toEqual([titleOf(imported.title), writerOf(imported)])
        else
          expect(row, says).toMatchObject({
            outcome: 'created',
            code: sameTitle.length > 0 ? 'possible-duplicate' : null,
          })
        const isCertain = sameTitle.some((book) => writerOf(book) && writerOf(book) === writerOf(imported))
        if (isCertain && name === 'kindle') expect(match, says).toBeDefined()
      }
    }
  })
})

const GENERIC = 'Title,Author,ISBN'
const importRows = async (reader: Reader, ...rows: string[]) => {
  const { importId } = await importFile(reader, [GENERIC, ...rows].join('\n'))
  return (await rowsOf(reader, importId)).map(({ outcome, code, bookId }) => ({ outcome, code, bookId }))
}

describe('a row', () => {
  it.each([
    ['another order of names', '"Niebo","Lem, Stanisław",', 'Niebo,Stanislaw Lem,'],
    ['the series in the title', '"Tide (Harbour, #2)",Ana Ruiz,', '"Tide (Harbour Book 2)","Ruiz, Ana",'],
    ['a subtitle that names the genre', 'Tide: A Novel,Ana Ruiz,', 'Tide,Ana Ruiz,'],
  ])('is the same book in spite of %s', async (_, first, second) => {
    const reader = await signUp()
    const [created] = await importRows(reader, first)
    expect(await importRows(reader, second)).toEqual([{ outcome: 'unchanged', code: null, bookId: created?.bookId }])
    expect(await importRows(reader, first)).toMatchObject([{ outcome: 'unchanged' }])
  })

  it.each([
    ['has a subtitle', 'Sapiens,Yuval Noah Harari,', '"Sapiens: A Brief History","Harari, Yuval Noah",'],
    ['has no subtitle', '"Sapiens: A Brief History",Yuval Noah Harari,', 'Sapiens,"Harari, Yuval Noah",'],
    ['has no series before the title', 'Rings: The Two Towers,J.R.R. Tolkien,', 'The Two Towers,John R. Tolkien,'],
    ['spells the author otherwise', 'Idiot,Fyodor Dostoevsky,', 'Idiot,Fiodor Dostojewski,'],
    ['has another author', 'Poems,Ana Ruiz,', 'Poems,Joon Park,'],
    ['has no author', 'Sapiens: A Brief History,,', 'Sapiens,Yuval Noah Harari,'],
    ['has another number in the series', '"Tide (Harbour, #2)",Ana Ruiz,', '"Tide (Harbour, #3)",Ana Ruiz,'],
    ['has another ISBN', 'Tide,Ana Ruiz,9780306406157', 'Tide,Ana Ruiz,9780446675505'],
  ])('is flagged if it %s, and is the same book from then on', async (_, first, second) => {
    const reader = await signUp()
    await importRows(reader, first)
    const [created] = await importRows(reader, second)
    expect(created).toMatchObject({ outcome: 'created', code: 'possible-duplicate' })
    expect(await importRows(reader, second)).toEqual([{ outcome: 'unchanged', code: null, bookId: created?.bookId }])
    expect(await importRows(reader, first)).toMatchObject([{ outcome: 'unchanged' }])
  })

  it.each([
    ['another author with part of the title', 'Sapiens: A Brief History,Yuval Noah Harari,', 'Sapiens,Joon Park,'],
    ['another subtitle', 'Rings: The Two Towers,J.R.R. Tolkien,', 'Rings: The Return,J.R.R. Tolkien,'],
  ])('is a new book with %s', async (_, first, second) => {
    const reader = await signUp()
    await importRows(reader, first)
    expect(await importRows(reader, second)).toMatchObject([{ outcome: 'created', code: null }])
  })
})

describe('a subtitle', () => {
  const IN_TITLE = 'Title,Author\nSapiens: A Brief History,Yuval Noah Harari'
  const APART = 'Title,Subtitle,Author\nSapiens,A Brief History,Yuval Noah Harari'
  const NONE = 'Title,Author,ISBN\nSapiens,Yuval Noah Harari,9780446675505'

  it.each([
    ['in the title, then apart', IN_TITLE, APART],
    ['apart, then in the title', APART, IN_TITLE],
  ])('%s is that of the same book, which stays as it is', async (_, first, second) => {
    const reader = await signUp()
    await importFile(reader, first)
    const stored = await booksOf(reader)
    const edition = async () => (await reader.get(`/books/${stored[0].bookId}/edition`)).body
    const before = await edition()
    expect(await importFile(reader, second)).toMatchObject({ counts: { unchanged: 1 } })
    expect(await edition()).toEqual(before)
    const { counts } = await importFile(reader, second, '?merge=overwrite')
    expect(counts).toMatchObject(second === APART ? { updated: 1 } : { unchanged: 1 })
    expect(await edition()).toMatchObject({ title: 'Sapiens', subtitle: 'A Brief History' })
  })

  it('is filled, and removed by the undo', async () => {
    const reader = await signUp()
    await importFile(reader, NONE)
    const [{ bookId }] = await booksOf(reader)
    const { importId, counts } = await importFile(reader, APART.replace('\n', ',ISBN\n').concat(',9780446675505'))
    expect(counts).toMatchObject({ updated: 1 })
    expect((await reader.get(`/books/${bookId}/edition`)).body.subtitle).toBe('A Brief History')
    expect((await reader.delete(`/imports/${importId}`)).body).toMatchObject({ removed: 0, restored: 1 })
    expect((await reader.get(`/books/${bookId}/edition`)).body.subtitle).toBeNull()
  })

  it('tells books of one title apart, also within a file', async () => {
    const reader = await signUp()
    const file = 'Title,Subtitle,Author\nRings,The Two Towers,J.R.R. Tolkien\nRings,The Return,J.R.R. Tolkien'
    expect(await importFile(reader, file)).toMatchObject({ counts: { created: 2 } })
    expect(await importFile(reader, file)).toMatchObject({ counts: { unchanged: 2 } })
  })
})

describe('a merged book', () => {
  const merge = async (reader: Reader, bookId: number, from: number) =>
    expect((await reader.post(`/books/${bookId}/merge`, { from })).status).toBe(200)

  it('is the same book for both files if they have ISBNs', async () => {
    const reader = await signUp()
    const files = ['Tide,Ana Ruiz,9780306406157', 'Tide,Ana Ruiz,9780446675505']
    const [[first], [second]] = [await importRows(reader, files[0] ?? ''), await importRows(reader, files[1] ?? '')]
    await merge(reader, first?.bookId ?? 0, second?.bookId ?? 0)
    for (const file of files) {
      expect(await importRows(reader, file)).toEqual([{ outcome: 'unchanged', code: null, bookId: first?.bookId }])
    }
  })

  it('is the same book for an import that runs during the merge', async () => {
    const reader = await signUp()
    const identified = 'Book Id,Title,Author,Exclusive Shelf\n7,Sapiens,Yuval Noah Harari,to-read'
    const [first] = await rowsOf(reader, (await importFile(reader, identified)).importId)
    const { bookId } = await reader.createBook({ title: 'A Brief History' })
    // The first call of one statement loads the library.
    let isMerged = false
    const withMerge = wrapEnv<Bindings>(() => async (call, queries) => {
      const answer = await call()
      if (queries === 1 && !isMerged) {
        isMerged = true
        await merge(reader, bookId, first?.bookId ?? 0)
      }
      return answer
    })
    const { body } = await startImport(reader, identified, '', withMerge(env))
    expect(await finishImport(reader, body.importId)).toMatchObject({ counts: { unchanged: 1 } })
    expect(await booksOf(reader)).toHaveLength(1)
  })

  it('is the same book for the file whose title it has, if another one has identifiers', async () => {
    const reader = await signUp()
    const identified = 'Book Id,Title,Author,Exclusive Shelf\n7,Sapiens,Yuval Noah Harari,to-read'
    const named = '"Sapiens: A Brief History","Harari, Yuval Noah",'
    const { importId } = await importFile(reader, identified)
    const [first] = await rowsOf(reader, importId)
    const [second] = await importRows(reader, named)
    await merge(reader, second?.bookId ?? 0, first?.bookId ?? 0)
    expect(await importRows(reader, named)).toEqual([{ outcome: 'unchanged', code: null, bookId: second?.bookId }])
    expect((await importFile(reader, identified)).counts).toMatchObject({ unchanged: 1 })
    expect(await booksOf(reader)).toHaveLength(1)
  })
})
