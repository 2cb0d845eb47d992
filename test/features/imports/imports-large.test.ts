import { describe, expect, it } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { expectSmallParameters, importFile, rowsOf } from '../../support/transfer/imports'

// Imports whose rows are as large as rows can be.

const times = (count: number, make: (n: number) => string) => Array.from({ length: count }, (_, n) => make(n))

/** Imports a file into a library that has room for this many books. */
const importWithRoomFor = async (books: number, reader: Reader, file: string) => {
  const changed = { MAX_BOOKS: String(books) }
  const { body } = await expectSmallParameters(() => reader.send('POST', '/imports', { raw: file, changed }))
  return (await reader.get(`/imports/${body.importId}`)).body
}

describe('the parameters of an import fit into D1', () => {
  it('if a quota refuses rows with much text', { tags: ['slow'] }, async () => {
    const reader = await signUp()
    const cell = 'x'.repeat(80_000)
    const file = ['Title,Author,Whatever', ...times(125, (n) => `Book ${n},Ana Ruiz,${cell}`)].join('\n')
    expect(await importWithRoomFor(1, reader, file)).toMatchObject({
      status: 'DONE',
      counts: { created: 1, failed: 124 },
    })
  })

  it('if the books of the library have the longest identifiers', async () => {
    const reader = await signUp()
    const memberId = await memberIdOf(reader)
    await fillShelf(memberId, 120)
    // In the JSON of JSON, a quotation mark is four characters.
    const others = times(19, (n) => `x:${n + 10}${'"'.repeat(196)}`)
    const edit = `update books set author = 'Ana Ruiz', sourceIds = ? where memberId = ?`
    await select(edit, JSON.stringify(others), memberId)
    const rows = times(120, (n) => `${n + 1},Book ${n + 1},Ana Ruiz,to-read,2026/01/02`)
    const file = ['Book Id,Title,Author,Exclusive Shelf,Date Added', ...rows].join('\n')
    const { counts } = await expectSmallParameters(() => importFile(reader, file))
    expect(counts).toMatchObject({ updated: 120 })
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('if the names of columns are long', async () => {
    const reader = await signUp()
    const names = ['Genres', 'BCID', 'Condition', 'Owned Copies', 'Recommended For', 'Recommended By']
    const columns = names.map((name) => name.padEnd(100) + '\u0001'.repeat(60_000))
    const file = `Book Id,Title,Author,Exclusive Shelf,Date Added,${columns}\n1,Tide,,read,,${names}\n`
    const { importId } = await expectSmallParameters(() => importFile(reader, file))
    const losses = names.map((name) => ({ code: 'not-supported', field: name.padEnd(100) }))
    const [row] = await rowsOf(reader, importId)
    expect(row?.outcome).toBe('created')
    expect(row?.losses).toEqual(expect.arrayContaining(losses))
  })
})
