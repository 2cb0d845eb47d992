import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { sweep } from '../../../src/sweep'
import { READER_PROTOCOL } from '../../../src/transfer/entries/reader-protocol'
import { signUp } from '../../support/api'
import { memberDatabase, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { eventually } from '../../support/runtime/clock'
import * as transfer from '../../support/transfer/imports'
import { booksOf, countsOf, finishImport, importFile, rowsOf, startImport } from '../../support/transfer/imports'

const HEADER =
  'Book Id,Title,Author,ISBN13,My Rating,Publisher,Number of Pages,Date Read,Date Added,Bookshelves,Exclusive Shelf,My Review'
const goodreads = (...rows: string[]) => [HEADER, ...rows].join('\n')
// Two of its tags differ only in case.
const SALT =
  '81234,"The Salt Archive (Harbour, #2)",Mina  Oh,"=""9780446675505""",4,Quay House,312,2026/03/14,2025/12/30,"sea, favourites, Sea",read,"Slow, then not.<br/>Read twice."'
const TIDE = '81235,Low Tide,Ana Ruiz,"=""""",0,,,,2026/01/02,,to-read,'
const LAMP = '81236,램프,오미나,"=""""",5,,210,,2026/02/03,,currently-reading,'

/** A line of an entry, and then an error. */
const breakOff = () =>
  new ReadableStream({
    type: 'bytes',
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode('{}\n'))
    },
    pull: () => Promise.reject(new Error('Worker exceeded memory limit.')),
  })

describe('an import', () => {
  it('creates the books of a file, with edition, tags, review and dates', async () => {
    const reader = await signUp()
    const imported = await importFile(reader, goodreads(SALT, TIDE, LAMP))
    expect(imported).toMatchObject({
      status: 'DONE',
      format: 'goodreads',
      dryRun: false,
      rows: 3,
      counts: countsOf({ created: 3 }),
    })
    const [salt, tide, lamp] = await booksOf(reader)
    expect(salt).toMatchObject({
      title: 'The Salt Archive (Harbour, #2)',
      author: 'Mina Oh',
      publisher: 'Quay House',
      itemPage: 312,
      star: 4,
      bookStatus: 'DONE',
      readStartDate: null,
      readEndDate: '2026-03-14T00:00:00',
      createdAt: '2025-12-30T00:00:00',
      memoCount: 1,
    })
    expect(tide).toMatchObject({ title: 'Low Tide', bookStatus: 'YET', star: 0, readEndDate: null })
    expect(lamp).toMatchObject({ title: '램프', author: '오미나', bookStatus: 'ING', star: 5 })
    const edition = await reader.get(`/books/${salt.bookId}/edition`)
    expect(edition.body).toMatchObject({ isbn: '9780446675505', sourceIds: ['goodreads:81234'] })
    expect((await reader.get(`/books/${salt.bookId}/tags`)).body.tags).toEqual(['favourites', 'sea'])
    const [memo] = (await reader.get(`/books/${salt.bookId}?memoAuthority=ALL`)).body.memosList
    expect(memo).toMatchObject({ memoType: 'THOUGHT', memoBookPage: 0, memoAuthority: 'PRIVATE' })
    expect(await rowsOf(reader, imported.importId)).toMatchObject([
      { line: 2, outcome: 'created', code: null, bookId: salt.bookId },
      { line: 3, outcome: 'created', bookId: tide.bookId },
      { line: 4, outcome: 'created', bookId: lamp.bookId },
    ])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('changes nothing if the same file is sent twice', async () => {
    const reader = await signUp()
    const file = goodreads(SALT, TIDE, LAMP)
    await importFile(reader, file)
    const before = await booksOf(reader)
    const again = await importFile(reader, file)
    expect(again.counts).toEqual(countsOf({ unchanged: 3 }))
    expect(await booksOf(reader)).toEqual(before)
  })

  it('imports a row that is shorter than the header, and says what is missing', async () => {
    const reader = await signUp()
    const file = goodreads('81235,Low Tide,Ana Ruiz')
    const losses = [{ code: 'short-row', field: 'ISBN13' }]
    const first = await importFile(reader, file)
    expect(await rowsOf(reader, first.importId)).toMatchObject([{ outcome: 'created', code: null, losses }])
    const second = await importFile(reader, file)
    expect(await rowsOf(reader, second.importId)).toMatchObject([{ outcome: 'unchanged', code: null, losses }])
  })

  it('adds what a newer export adds, and keeps what was edited here', async () => {
    const reader = await signUp()
    await importFile(reader, goodreads(SALT, TIDE))
    const [salt, tide] = await booksOf(reader)
    await reader.patch(`/books/${salt.bookId}`, { star: 2, publisher: 'Another House' })
    const finished = TIDE.replace(
      '81235,Low Tide,Ana Ruiz,"=""""",0,,,,2026/01/02,,to-read,',
      '81235,Low Tide,Ana Ruiz,"=""""",3,Ebb,120,2026/04/05,2026/01/02,coast,read,',
    )
    const newer = await importFile(reader, goodreads(SALT, finished, LAMP))
    expect(newer.counts).toEqual(countsOf({ created: 1, updated: 1, unchanged: 1 }))
    const books = await booksOf(reader)
    expect(books).toHaveLength(3)
    expect(books[0]).toMatchObject({ star: 2, publisher: 'Another House' })
    expect(books[1]).toMatchObject({
      bookId: tide.bookId,
      star: 3,
      publisher: 'Ebb',
      itemPage: 120,
      bookStatus: 'DONE',
      readEndDate: '2026-04-05T00:00:00',
    })
    expect((await reader.get(`/books/${tide.bookId}/tags`)).body.tags).toEqual(['coast'])
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('writes only the report in a dry run', async () => {
    const reader = await signUp()
    const dry = await importFile(reader, goodreads(SALT, TIDE), '?dryRun=true')
    expect(dry).toMatchObject({ dryRun: true, counts: countsOf({ created: 2 }) })
    expect(await booksOf(reader)).toEqual([])
    expect(await rowsOf(reader, dry.importId)).toMatchObject([
      { outcome: 'created', bookId: null },
      { outcome: 'created', bookId: null },
    ])
  })

  it('reports rows that fail, in the columns of the file', async () => {
    const reader = await signUp()
    const nameless = '81237,,Nobody,"=""""",0,,,,2026/01/02,,to-read,'
    const imported = await importFile(reader, goodreads(nameless, TIDE, TIDE))
    expect(imported.counts).toEqual(countsOf({ created: 1, failed: 1, skipped: 1 }))
    expect(await rowsOf(reader, imported.importId, 'failed')).toMatchObject([{ line: 2, code: 'no-title' }])
    expect(await rowsOf(reader, imported.importId, 'skipped')).toMatchObject([{ line: 4, code: 'duplicate-in-file' }])
    const failed = await reader.get(`/imports/${imported.importId}/failed.csv`)
    expect(failed.body).toBe(`${HEADER}\r\n81237,,Nobody,"=""""",0,,,,2026/01/02,,to-read,\r\n`)
  })

  it('lists any number of rows that failed without empty lines, or an empty line if none did', async () => {
    const reader = await signUp()
    const nameless = Array.from({ length: 450 }, (_, n) => `${n},,Nobody,,0,,,,2026/01/02,,to-read,`)
    const failed = await importFile(reader, goodreads(...nameless))
    const lines = [HEADER, ...nameless].map((line) => `${line}\r\n`)
    expect((await reader.get(`/imports/${failed.importId}/failed.csv`)).body).toBe(lines.join(''))
    const complete = await importFile(reader, goodreads(TIDE))
    expect((await reader.get(`/imports/${complete.importId}/failed.csv`)).body).toBe('\r\n')
  })

  it('is undone: what it created and nobody changed is removed', async () => {
    const reader = await signUp()
    const own = await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz' })
    const imported = await importFile(reader, goodreads(SALT, TIDE, LAMP))
    expect(imported.counts).toEqual(countsOf({ created: 2, updated: 1 }))
    const [, , lamp] = await booksOf(reader)
    await reader.patch(`/books/${lamp.bookId}`, { currentPage: 12 })
    const undone = await reader.delete(`/imports/${imported.importId}`)
    expect(undone).toMatchObject({
      status: 200,
      body: { removed: 1, kept: [{ title: 'Low Tide' }, { title: '램프' }] },
    })
    expect((await booksOf(reader)).map(({ bookId }: { bookId: number }) => bookId)).toEqual([own.bookId, lamp.bookId])
    expect((await reader.get(`/imports/${imported.importId}`)).status).toBe(404)
    expect(await findMismatches(memberDatabase())).toEqual([])
  })

  it('lists no kept books when a dry run is deleted', async () => {
    const reader = await signUp()
    await reader.createBook({ title: 'Low Tide', author: 'Ana Ruiz' })
    const dry = await importFile(reader, goodreads(TIDE, LAMP), '?dryRun=true')
    expect(dry.counts).toEqual(countsOf({ created: 1, updated: 1 }))
    expect((await reader.delete(`/imports/${dry.importId}`)).body).toEqual({ removed: 0, restored: 0, kept: [] })
  })

  it('deletes the file when it has ended', async () => {
    const reader = await signUp()
    await importFile(reader, goodreads(SALT))
    const prefix = `imports/${await memberIdOf(reader)}/`
    await eventually(async () => expect((await env.IMAGES.list({ prefix })).objects).toEqual([]))
  })

  it('fails if the file cannot be stored, and the next one may start', async () => {
    const reader = await signUp()
    const put = () => Promise.reject(new Error('put: We encountered an internal error.'))
    const IMAGES = { put, delete: async () => {} } as unknown as R2Bucket
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await startImport(reader, goodreads(SALT), '', { IMAGES })
    vi.restoreAllMocks()
    expect(answer.status).toBe(503)
    expect((await reader.get('/imports')).body).toMatchObject([
      { status: 'FAILED', reason: 'The file could not be stored. Send it again.' },
    ])
    expect((await importFile(reader, goodreads(SALT))).counts).toEqual(countsOf({ created: 1 }))
  })

  it.each([
    ['fails', async () => Promise.reject(new Error('Worker exceeded memory limit.'))],
    ['stops in the middle', async () => ({ protocol: READER_PROTOCOL, count: 1, entries: breakOff() })],
    ['sends too few entries', async () => ({ protocol: READER_PROTOCOL, count: 2, entries: new Response('').body })],
    ['has another version', async () => ({ protocol: READER_PROTOCOL + 1, lines: [] })],
  ])('changes nothing if the Worker that reads files %s', async (_, read) => {
    const reader = await signUp()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await startImport(reader, goodreads(SALT), '', transfer.readingWith(read))
    expect(logged.mock.calls.join()).toMatch(
      /UNAVAILABLE: file reader: Error: (Worker exceeded memory limit|0 of 2 entries|protocol \d, not)/,
    )
    vi.restoreAllMocks()
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '5'])
    expect((await reader.get('/imports')).body).toEqual([])
    expect((await importFile(reader, goodreads(SALT))).counts).toEqual(countsOf({ created: 1 }))
  })

  it('lists the columns that the format does not know', async () => {
    const reader = await signUp()
    const file = `Title,Exclusive Shelf,${'Z'.repeat(200)},Verdict\nA,read,,★★\nB,read,,★\n`
    const { body: started } = await startImport(reader, file, '?dryRun=true')
    const unreadColumns = [{ column: 'Verdict', looksLike: 'RATING', samples: ['★★', '★'] }]
    expect(started).toMatchObject({ format: 'goodreads', unknownColumns: ['Z'.repeat(100), 'Verdict'], unreadColumns })
    const { unknownColumns } = started
    expect(await finishImport(reader, started.importId)).toMatchObject({ unknownColumns, unreadColumns })
    expect(await importFile(reader, 'Title\nA\n')).toMatchObject({ unknownColumns: [], unreadColumns: [] })
  })

  it('takes maps of at most 200 names', async () => {
    const reader = await signUp()
    const names = Array.from({ length: 201 }, (_, n) => [`shelf ${n}`, 'DONE'])
    const form = transfer.importForm(goodreads(SALT), { shelfMap: Object.fromEntries(names) })
    const { status, body } = await startImport(reader, form)
    expect([status, body.fieldErrors]).toEqual([
      400,
      [{ field: 'shelfMap', rejectedValue: expect.anything(), reason: 'must have at most 200 entries' }],
    ])
  })

  it('refuses a map that is not JSON, is nested too deeply, or has the key __proto__', async () => {
    const reader = await signUp()
    for (const [columns, reason] of [
      ['{"title":', 'must be JSON: it ends too early: a value is missing at line 1, column 10'],
      ['{"title":"Name",}', 'must be JSON: trailing comma at line 1, column 16'],
      [`{"title":${'['.repeat(2_000)}${']'.repeat(2_000)}}`, 'must be JSON: it is nested deeper than 64 levels'],
      ['{"__proto__":"Title"}', 'must be a JSON object of strings, without __proto__'],
    ] as const) {
      const { status, body } = await startImport(reader, transfer.importForm(goodreads(SALT), { columns }))
      const fieldErrors = [{ field: 'columns', rejectedValue: null, reason }]
      expect({ status, body }).toMatchObject({ status: 400, body: { fieldErrors } })
    }
  })

  it('refuses a map of over 16 KiB', async () => {
    const reader = await signUp()
    const columns = `{"title":"Title"${' '.repeat(16_384)}}`
    const { status, body } = await startImport(reader, transfer.importForm(goodreads(SALT), { columns }))
    const fieldErrors = [{ field: 'columns', rejectedValue: null, reason: 'must be at most 16 KiB' }]
    expect({ status, body }).toMatchObject({ status: 400, body: { fieldErrors } })
  })

  it('ends immediately if the file has no rows', async () => {
    const reader = await signUp()
    for (const query of ['?dryRun=true', '']) {
      expect((await startImport(reader, goodreads(), query)).body).toMatchObject({ status: 'DONE', rows: 0 })
    }
  })

  it('retries after a failure of the Worker that reads files', async () => {
    const reader = await signUp()
    const read = vi.fn((...values: Parameters<typeof env.READER.read>) => env.READER.read(...values))
    read.mockRejectedValueOnce(new Error('Network connection lost.'))
    const { status, body } = await startImport(reader, goodreads(SALT), '', transfer.readingWith(read))
    expect([status, read.mock.calls.length]).toEqual([202, 2])
    expect((await finishImport(reader, body.importId)).counts).toEqual(countsOf({ created: 1 }))
  })

  it('imports 3,000 rows in at most 60 database calls', { tags: ['slow'] }, async () => {
    const reader = await signUp()
    const rows = Array.from({ length: 3000 }, (_, n) =>
      SALT.replace('81234', String(n)).replace('9780446675505', '').replace('The Salt Archive', `Archive ${n}`),
    )
    const imported = await importFile(reader, goodreads(...rows))
    expect(imported.counts).toEqual(countsOf({ created: 3000 }))
  })
})

it('refuses a file that it cannot read, and names what it is', async () => {
  const reader = await signUp()
  const answer = await startImport(reader, new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]))
  expect(answer).toMatchObject({ status: 422, body: { message: expect.stringContaining('ZIP') } })
  expect((await reader.get('/imports')).body).toEqual([])
})

const DAY_MS = 86_400_000
describe('an import that was interrupted', () => {
  it('is continued by the next GET', async () => {
    const reader = await signUp()
    const { importId } = await transfer.interruptImport(reader, goodreads(SALT, TIDE))
    expect(await finishImport(reader, importId)).toMatchObject({ status: 'DONE', counts: countsOf({ unchanged: 2 }) })
    expect(await booksOf(reader)).toHaveLength(2)
  })

  it('is continued by the sweep', async () => {
    const reader = await signUp()
    const { memberId } = await transfer.interruptImport(reader, goodreads(SALT, TIDE))
    await sweep(env)
    expect(await select('select status, done, file from imports where memberId = ?', memberId)).toEqual([
      { status: 'DONE', done: 2, file: null },
    ])
    expect((await env.IMAGES.list({ prefix: `imports/${memberId}/` })).objects).toEqual([])
  })

  it('fails after a day, and its report is deleted after 30', async () => {
    const reader = await signUp()
    const { memberId } = await transfer.interruptImport(reader, goodreads(SALT, TIDE))
    await sweep(env, Date.now() + DAY_MS + 60_000)
    expect(await select('select status, file from imports where memberId = ?', memberId)).toEqual([
      { status: 'FAILED', file: null },
    ])
    await sweep(env, Date.now() + 30 * DAY_MS + 60_000)
    expect(await select('select * from imports where memberId = ?', memberId)).toEqual([])
    expect(await select('select * from importRows where memberId = ?', memberId)).toEqual([])
  })
})

it('leaves nothing after a withdrawal', async () => {
  const reader = await signUp()
  const memberId = await memberIdOf(reader)
  await importFile(reader, goodreads(SALT, TIDE))
  await env.IMAGES.put(`imports/${memberId}/left`, 'a file')
  expect((await reader.delete('/members/me')).status).toBe(204)
  await sweep(env)
  for (const table of ['imports', 'importRows', 'books']) {
    expect(await select(`select * from ${table} where memberId = ?`, memberId), table).toEqual([])
  }
  expect((await env.IMAGES.list({ prefix: `imports/${memberId}/` })).objects).toEqual([])
})
