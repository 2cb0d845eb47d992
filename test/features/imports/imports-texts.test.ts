// @module-tag one-slot
import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, readerWith, signUp } from '../../support/api'
import { memberDatabase } from '../../support/database'
import { libraryFile } from '../../support/transfer/import-files'
import * as transfer from '../../support/transfer/imports'
import { booksOf, rowsOf } from '../../support/transfer/imports'

const goodreads = (review: string, { notes = '', title = 'Low Tide', isbn = '' } = {}) =>
  `Book Id,Title,Author,ISBN13,Exclusive Shelf,My Review,Private Notes\n1,${title},Ana Ruiz,${isbn},to-read,"${review}","${notes}"\n`

/** Imports a file with one book. Returns its row of the report. */
const importRow = async (reader: Reader, file: string, query = '') => {
  const { status, importId } = await transfer.importFile(reader, file, query)
  expect(status).toBe('DONE')
  expect(await findMismatches(memberDatabase())).toEqual([])
  const [row] = await rowsOf(reader, importId)
  return row
}
type Memo = Record<'memoContent' | 'memoAuthority' | 'createdAt' | 'updatedAt', string> & { memoId: number }
const memosOf = async (reader: Reader): Promise<Memo[]> => {
  const [book] = await booksOf(reader)
  const { body } = await reader.get(`/books/${book.bookId}?memoAuthority=ALL`)
  return body.memosList.toSorted((one: Memo, other: Memo) => one.memoId - other.memoId)
}
const textsOf = async (reader: Reader) => (await memosOf(reader)).map(({ memoContent }) => memoContent)

const OVERWRITE = '?merge=overwrite'
const KEPT = { code: 'text-kept', field: 'my review' }

describe('the reviews and notes of a file', () => {
  it('are added to a book that has other memos', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz' })
    await reader.createMemo(bookId, { memoContent: 'My own thought.' })
    expect(await importRow(reader, goodreads('Slow.', { notes: 'From Mina.' }))).toMatchObject({ outcome: 'updated' })
    expect(await textsOf(reader)).toEqual(['My own thought.', 'Slow.', 'From Mina.'])
    expect(await importRow(reader, goodreads('Slow.', { notes: 'From Mina.' }))).toMatchObject({ outcome: 'unchanged' })
    expect(await textsOf(reader)).toHaveLength(3)
  })

  it('replace those of an earlier import with merge=overwrite, and otherwise are a loss', async () => {
    const reader = await signUp()
    await importRow(reader, goodreads('Slow.', { notes: 'From Mina.' }))
    const [before] = await memosOf(reader)
    const versionBefore = (await reader.get(`/memos/${before?.memoId}`)).headers.get('ETag')
    const corrected = goodreads('Slow, then not.', { notes: 'From Mina.' })
    expect(await importRow(reader, corrected)).toMatchObject({ outcome: 'unchanged', losses: [KEPT] })
    expect(await importRow(reader, corrected, `${OVERWRITE}&dryRun=true`)).toMatchObject({ outcome: 'updated' })
    expect(await textsOf(reader)).toEqual(['Slow.', 'From Mina.'])
    expect(await importRow(reader, corrected, OVERWRITE)).toMatchObject({ outcome: 'updated', losses: [] })
    const [after] = await memosOf(reader)
    expect(after).toMatchObject({
      memoId: before?.memoId,
      memoContent: 'Slow, then not.',
      createdAt: before?.createdAt,
    })
    expect(await textsOf(reader)).toHaveLength(2)
    const headers = { 'If-Match': versionBefore ?? '' }
    expect((await reader.send('DELETE', `/memos/${before?.memoId}`, { headers })).status).toBe(412)
    expect(await importRow(reader, goodreads('Shorter.'), OVERWRITE)).toMatchObject({ outcome: 'updated' })
    expect(await textsOf(reader)).toEqual(['Shorter.', 'From Mina.'])
  })

  it('cannot be guessed with an access token that may not read memos', async () => {
    const reader = await signUp()
    const { importId } = await transfer.importFile(reader, goodreads('Slow.'))
    const scopes = ['library:read', 'library:write', 'memos:write']
    const { body } = await reader.post('/tokens', { name: 'imports', scopes })
    const importer = readerWith(reader.email, body.token)
    const answers = [
      await transfer.startImport(importer, goodreads('Slow.'), '?dryRun=true'),
      await importer.get('/imports'),
      await importer.get(`/imports/${importId}`),
      await importer.get(`/imports/${importId}/rows?page=1&size=10`),
      await importer.delete(`/imports/${importId}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
    expect((await reader.get('/imports')).body).toHaveLength(1)
  })

  it('never replace one that was edited here', async () => {
    const reader = await signUp()
    await importRow(reader, goodreads('Slow.'))
    const [memo] = await memosOf(reader)
    await reader.patch(`/memos/${memo?.memoId}`, { memoContent: 'Edited here.' })
    for (const query of ['', OVERWRITE]) {
      expect(await importRow(reader, goodreads('Slow, then not.'), query)).toMatchObject({
        outcome: 'unchanged',
        losses: [KEPT],
      })
    }
    expect(await textsOf(reader)).toEqual(['Edited here.'])
  })

  it('are added again if they were deleted here', async () => {
    const reader = await signUp()
    await importRow(reader, goodreads('Slow.'))
    const [memo] = await memosOf(reader)
    await reader.delete(`/memos/${memo?.memoId}`)
    expect(await importRow(reader, goodreads('Slow.'))).toMatchObject({ outcome: 'updated' })
    expect(await textsOf(reader)).toEqual(['Slow.'])
  })

  it('do not replace that of another service, which may have a column of the same name', async () => {
    const reader = await signUp()
    const storygraph = 'Title,Authors,Read Status,Star Rating,Review\nLow Tide,Ana Ruiz,to-read,,First.\n'
    const hardcover = 'Title,Author,Hardcover Book ID,Status,Review\nLow Tide,Ana Ruiz,7,Want to Read,Second.\n'
    await importRow(reader, storygraph)
    await importRow(reader, hardcover, OVERWRITE)
    expect(await textsOf(reader)).toEqual(['First.', 'Second.'])
  })

  it('fail with their row if the text that they replace leaves too little room', async () => {
    const reader = await signUp()
    await importRow(reader, goodreads('Slow.'))
    const changed = { MAX_BOOK_TEXT_BYTES: '20' }
    const { body } = await transfer.startImport(reader, goodreads('Slow, then not at all.'), OVERWRITE, changed)
    await transfer.finishImport(reader, body.importId)
    expect(await rowsOf(reader, body.importId)).toMatchObject([{ outcome: 'failed', code: 'quota' }])
    expect(await textsOf(reader)).toEqual(['Slow.'])
  })
})

describe('a corrected title', () => {
  it('arrives with merge=overwrite if an identifier of the book is the same', async () => {
    const reader = await signUp()
    await importRow(reader, goodreads(''))
    const corrected = goodreads('', { title: 'Élow Tide' })
    expect(await importRow(reader, corrected)).toMatchObject({ outcome: 'unchanged' })
    expect(await importRow(reader, corrected, OVERWRITE)).toMatchObject({ outcome: 'updated' })
    expect(await booksOf(reader)).toMatchObject([{ title: 'Élow Tide' }])
    const found = await reader.get(`/books/search?q=${encodeURIComponent('élow')}`)
    expect(JSON.stringify(found.body)).toContain('Élow Tide')
    expect(await importRow(reader, corrected, OVERWRITE)).toMatchObject({ outcome: 'unchanged' })
  })

  it('arrives with merge=overwrite if the ISBN is the same', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'Low Tied', author: 'Ana Ruiz' })
    await reader.patch(`/books/${bookId}/edition`, { isbn: '9780306406157' })
    const file = goodreads('', { isbn: '9780306406157' })
    expect(await importRow(reader, file, OVERWRITE)).toMatchObject({ outcome: 'updated', bookId })
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide' }])
  })

  it('leaves the book that of an imported export', async () => {
    const reader = await signUp()
    const other = await signUp()
    const { bookId } = await other.createBook({ title: 'Low Tied', author: 'Ana Ruiz' })
    await other.patch(`/books/${bookId}/edition`, { isbn: '9780306406157' })
    const file = JSON.stringify((await other.get('/export')).body)
    await importRow(reader, file)
    await importRow(reader, goodreads('', { isbn: '9780306406157' }), OVERWRITE)
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide' }])
    expect(await importRow(reader, file)).toMatchObject({ outcome: 'unchanged' })
    expect(await booksOf(reader)).toHaveLength(1)
  })

  it('of another spelling arrives with merge=overwrite if the title is otherwise the same', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'LOW TIDE', author: 'Ana Ruiz' })
    expect(await importRow(reader, goodreads(''))).toMatchObject({ outcome: 'updated', bookId })
    expect(await booksOf(reader)).toMatchObject([{ title: 'LOW TIDE' }])
    expect(await importRow(reader, goodreads(''), OVERWRITE)).toMatchObject({ outcome: 'updated', bookId })
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide' }])
  })

  it('arrives together with a cover from an edited export', async () => {
    const reader = await signUp()
    const { bookId } = await reader.createBook({ title: 'LOW TIDE', cover: 'https://covers.example/1.jpg' })
    const file = JSON.stringify((await reader.get('/export')).body)
    await reader.patch(`/books/${bookId}/edition`, { title: 'Low Tide', cover: null })
    expect(await importRow(reader, file)).toMatchObject({ outcome: 'updated', bookId })
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide', cover: 'https://covers.example/1.jpg' }])
    const edited = file.replace('LOW TIDE', 'Low tide').replace('/1.jpg', '/2.jpg')
    expect(await importRow(reader, edited, OVERWRITE)).toMatchObject({ outcome: 'updated', bookId })
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low tide', cover: 'https://covers.example/2.jpg' }])
  })
})

describe('memos that a file marks as public', () => {
  const KEEP = '?keepVisibility=true'
  const memos = ['PUBLIC', 'PRIVATE'].map((memoAuthority) => ({ memoContent: memoAuthority, memoAuthority }))
  const file = libraryFile({ title: 'Low Tide', memos })
  const visibilitiesOf = async (reader: Reader) => (await memosOf(reader)).map(({ memoAuthority }) => memoAuthority)

  it('become private, with a loss', async () => {
    const reader = await signUp()
    const loss = { code: 'made-private', field: 'memos' }
    expect(await importRow(reader, file)).toMatchObject({ outcome: 'created', losses: [loss] })
    expect(await visibilitiesOf(reader)).toEqual(['PRIVATE', 'PRIVATE'])
    expect(await importRow(reader, file)).toMatchObject({ outcome: 'unchanged', losses: [] })
  })

  it('stay public with keepVisibility=true', async () => {
    const reader = await signUp()
    expect(await importRow(reader, file, KEEP)).toMatchObject({ outcome: 'created', losses: [] })
    expect(await visibilitiesOf(reader)).toEqual(['PUBLIC', 'PRIVATE'])
  })

  it('stay public when an interrupted import is continued', async () => {
    const reader = await signUp()
    const { importId } = await transfer.interruptImport(reader, file, file, KEEP)
    const [book] = await booksOf(reader)
    await reader.delete(`/books/${book.bookId}`)
    await transfer.finishImport(reader, importId)
    expect(await visibilitiesOf(reader)).toEqual(['PUBLIC', 'PRIVATE'])
  })
})

describe('a book imported from an exported library', () => {
  const fileOf = async (reader: Reader) => JSON.stringify((await reader.get('/export')).body)
  const withImported = async () => {
    const [owner, reader] = [await signUp(), await signUp()]
    const { bookId } = await owner.createBook({ title: 'Low Tied', author: 'Ana Ruiz' })
    await owner.patch(`/books/${bookId}/edition`, { isbn: '9780306406157', sourceIds: ['goodreads:1'] })
    await importRow(reader, await fileOf(owner))
    return { owner, reader, bookId }
  }

  it('is still matched after its title was corrected in that library', async () => {
    const { owner, reader, bookId } = await withImported()
    await owner.patch(`/books/${bookId}/edition`, { title: 'Low Tide' })
    expect(await importRow(reader, await fileOf(owner), OVERWRITE)).toMatchObject({ outcome: 'updated' })
    expect(await booksOf(reader)).toMatchObject([{ title: 'Low Tide' }])
  })

  it('is a possible duplicate of one from a copy of that library', async () => {
    const { owner, reader } = await withImported()
    const copy = await signUp()
    await importRow(copy, await fileOf(owner))
    expect(await importRow(reader, await fileOf(copy))).toMatchObject({
      outcome: 'created',
      code: 'possible-duplicate',
    })
  })
})
