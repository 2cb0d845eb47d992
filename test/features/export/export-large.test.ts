import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { exportMember } from '../../../scripts/members/export'
import type { LibraryExport } from '../../../src/transfer/export/responses'
import { parseTable } from '../../../src/transfer/reader/csv-rows'
import { toCursor } from '../../../src/values/cursor'
import { type Reader, signUp } from '../../support/api'
import { fillShelf, LAST_READING, measure, memberDatabase, memberSlot, select } from '../../support/database'
import { insertSittings } from '../../support/devices/sittings'
import { memberIdOf } from '../../support/images/images'
import { download } from '../../support/transfer/imports'

const BOOKS = 2500

const fillMemos = async (reader: Reader, bookId: number, count: number, content: string) =>
  select(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?3)
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select (select coalesce(max(memoId), 0) from memos) + i, ?1, ?2,
      (select coalesce(max(position), 0) from memos where memberId = ?2) + i, 'SUMMARY', i || ?4, 1, 'PRIVATE',
      '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`,
    bookId,
    await memberIdOf(reader),
    count,
    content,
  )

const linksOf = (headers: Headers) =>
  Object.fromEntries(
    [...(headers.get('Link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, to, name]) => [name, to]),
  )

describe('a library of many books', () => {
  let reader: Reader
  let ids: number[]
  beforeAll(async () => {
    reader = await signUp()
    await fillShelf(await memberIdOf(reader), BOOKS)
    const rows = await select('select bookId from books where memberId = ? order by bookId', await memberIdOf(reader))
    ids = rows.map(({ bookId }) => Number(bookId))
  })

  it('is exported in pages of up to 200 books, one database call each', async () => {
    let books: LibraryExport['books'] = []
    const { calls, read } = await measure(async () => {
      books = (await reader.get('/export')).body.books
    })
    expect(books.map(({ bookId }) => bookId)).toEqual(ids)
    expect(books.filter(({ memos }) => memos.length === 1)).toHaveLength(ids.filter((id) => id % 10 === 0).length)
    // One call confirms the caller. The first pages have 50 and 100 books. One call each is for the images and the trash.
    expect(calls).toBe(1 + 2 + Math.ceil((BOOKS - 150) / 200) + 2)
    expect(read).toBeLessThan(25 * BOOKS)
  })

  it('is exported as CSV and Markdown in as few database calls', async () => {
    let files: string[] = []
    const { calls } = await measure(async () => {
      files = [(await reader.get('/export.csv')).body, (await reader.get('/export/memos.md')).body]
    })
    expect(parseTable(files[0] ?? '')).toHaveLength(BOOKS + 1)
    expect(files[1]?.match(/^> A memo$/gm)).toHaveLength(ids.filter((id) => id % 10 === 0).length)
    expect(calls).toBe(2 + 2 + Math.ceil((BOOKS - 150) / 200) + 3)
  })

  it('sends the first books before it loads the last ones', async () => {
    const { calls } = await measure(async () => {
      const response = await download(reader, '/export.csv')
      const body = response.body?.getReader()
      await body?.read()
      await body?.read()
      await body?.cancel()
    })
    expect(calls).toBeLessThan(5)
  })

  it('reads about the same number of rows for every page', async () => {
    const costs = []
    for (const at of [400, 1200, 2400]) {
      const last = ids[at] ?? 0
      const path = `/export.csv?part=2&plan=${toCursor({ part: 2, exportedAt: 0, after: last - 200, last })}`
      costs.push(await measure(async () => expect(parseTable((await reader.get(path)).body)).toHaveLength(201)))
    }
    expect(new Set(costs.map(({ calls }) => calls)).size).toBe(1)
    const reads = costs.map(({ read }) => read)
    expect(Math.max(...reads) - Math.min(...reads)).toBeLessThan(50)
  })

  it('releases all leases if clients disconnect', async () => {
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 12 }, async (_, n) => {
          const member = n % 2 ? reader : await signUp()
          const response = await download(member, '/export')
          await response.body?.cancel()
        }),
      )
    }
    const member = await signUp()
    await fillShelf(await memberIdOf(member), 10)
    expect((await member.get('/export')).body.books).toHaveLength(10)
  })
})

describe('a large book', () => {
  let reader: Reader
  let bookId: number
  const content = '\u0001'.repeat(60_000)
  beforeAll(async () => {
    reader = await signUp()
    await reader.createBook({ title: 'Before' })
    bookId = (await reader.createBook({ title: 'Large' })).bookId
    await reader.createBook({ title: 'After' })
    await fillMemos(reader, bookId, 20, content)
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 999)
      insert into progress (memberId, bookId, at, page, kind, total) select ?1, ?2, 1577836800000 + i * 1000, i, 'PROGRESS', i from n`,
      await memberIdOf(reader),
      bookId,
    )
    await insertSittings(await memberIdOf(reader), bookId, [
      { day: '1970-01-01', seconds: 60 },
      { day: '2026-12-31', seconds: 120 },
    ])
    for (let n = 1; n <= 5; n++) {
      await reader.post(`/books/${bookId}/readings`, { finishedAt: `${2000 + n}`, note: `${n}${'가'.repeat(60_000)}` })
    }
  })

  it('is loaded in parts and exported completely', async () => {
    let books: LibraryExport['books'] = []
    const { calls } = await measure(async () => {
      books = (await reader.get('/export')).body.books
    })
    expect(books.map(({ title }) => title)).toEqual(['Before', 'Large', 'After'])
    const large = books[1]
    expect(large?.memos.map(({ memoContent }) => memoContent)).toEqual(
      Array.from({ length: 20 }, (_, n) => `${n + 1}${content}`),
    )
    expect(large?.progress.map(({ page }) => page)).toEqual(Array.from({ length: 999 }, (_, n) => n + 1))
    expect(large?.readings.map(({ note }) => note?.[0])).toEqual(['1', '2', '3', '4', '5'])
    expect(large?.sittings).toEqual([
      { date: '1970-01-01', minutes: 1 },
      { date: '2026-12-31', minutes: 2 },
    ])
    // The caller, images, trash, three pages; sizes and parts of readings, memos, events and sittings.
    expect(calls).toBe(1 + 1 + 1 + 3 + (1 + 5) + (1 + 5) + (1 + 1) + (1 + 1))
  })

  it('is exported completely in the other formats', async () => {
    const { body } = await reader.get('/export/memos.md')
    expect(body.match(/^### Summary, page 1, 2026-01-01$/gm)).toHaveLength(20)
    const [, , row] = parseTable((await reader.get('/export.csv')).body)
    expect(row?.cells).toContain(',2001;,2002;,2003;,2004;,2005')
    expect(row?.cells.find((cell) => cell.length > 60_000)?.[0]).toBe('5')
  })

  it('holds no lease after HEAD requests and disconnects', async () => {
    const member = await signUp()
    const other = await member.createBook({ title: 'Large' })
    await fillMemos(member, other.bookId, 20, content)
    for (let n = 0; n < 8; n++) expect((await member.send('HEAD', '/export')).status).toBe(200)
    for (let n = 0; n < 8; n++) {
      const body = (await download(member, '/export')).body?.getReader()
      await body?.read()
      await body?.cancel()
    }
    expect((await member.get('/export')).body.books[0].memos).toHaveLength(20)
  })
})

/** Follows the links from part to part. */
async function* loadParts(reader: Reader, first = '/export') {
  for (let path: string | undefined = first; path; ) {
    const answer = await reader.get(path)
    expect(answer.status).toBe(200)
    yield answer
    path = linksOf(answer.headers).next
  }
}

describe('a library beyond the size of a part', () => {
  let reader: Reader
  const bookIds: number[] = []
  beforeAll(async () => {
    reader = await signUp()
    for (let n = 0; n < 5; n++) {
      const { bookId } = await reader.createBook({ title: `Book ${n}` })
      bookIds.push(bookId)
      await fillMemos(reader, bookId, 4, 'x'.repeat(60_000))
      // As if there were more memos.
      await memberDatabase().prepare('update books set memoBytes = 3 * 1024 * 1024 where bookId = ?').bind(bookId).run()
    }
  })
  const titlesOf = ({ books }: LibraryExport) => books.map(({ title }) => title)

  it('is exported in the same parts by operators', async () => {
    const stored = { slot: memberSlot(), memberId: await memberIdOf(reader), database: memberDatabase() }
    const parts: LibraryExport[] = []
    for await (const part of exportMember(stored, '')) parts.push(await part.json())
    expect(parts.map(titlesOf)).toEqual([['Book 0', 'Book 1'], ['Book 2', 'Book 3'], ['Book 4']])
  })

  it('is exported in several parts, each a complete file with a link to the next one', async () => {
    const parts: LibraryExport[] = []
    const relations: string[][] = []
    for await (const { headers, body } of loadParts(reader)) {
      parts.push(body)
      relations.push(Object.keys(linksOf(headers)))
      expect(headers.get('Content-Disposition')).toMatch(new RegExp(`-part-${parts.length}\\.json"$`))
      expect(headers.get('RateLimit')).toMatch(parts.length === 1 ? /^"export";r=19;/ : /^"export-part";r=39\d;/)
      // In no part.
      if (parts.length === 1) await reader.createBook({ title: 'Later' })
    }
    expect(parts.map(({ part, last }) => [part, last])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ])
    expect(parts.map(titlesOf)).toEqual([['Book 0', 'Book 1'], ['Book 2', 'Book 3'], ['Book 4']])
    expect(new Set(parts.map(({ exportedAt }) => exportedAt)).size).toBe(1)
    expect(relations).toEqual([['first', 'next'], ['first', 'next'], ['first']])
  })

  it('is exported with each book once, even if others are deleted between the parts', async () => {
    const member = await signUp()
    const ids: number[] = []
    for (let n = 0; n < 6; n++) ids.push((await member.createBook({ title: `Book ${n}` })).bookId)
    await select('update books set memoBytes = 3 * 1024 * 1024 where memberId = ?', await memberIdOf(member))
    const titles: string[][] = []
    for await (const { body } of loadParts(member)) {
      titles.push(titlesOf(body))
      // The last book of this part, and the first of the next one.
      if (titles.length === 1) for (const n of [1, 2]) await member.delete(`/books/${ids[n]}`)
    }
    expect(titles).toEqual([['Book 0', 'Book 1'], ['Book 3', 'Book 4'], ['Book 5']])
  })

  it('has parts that can be requested by number, each counted as an export', async () => {
    const { headers, body } = await reader.get('/export?part=2')
    expect(titlesOf(body)).toEqual(['Book 2', 'Book 3'])
    expect(headers.get('RateLimit')).toMatch(/^"export";r=18;/)
    expect(await reader.get('/export?part=4')).toMatchObject({
      status: 400,
      body: {
        violationErrors: [
          { propertyPath: 'part', rejectedValue: '4', reason: 'must be at most 3, the number of parts' },
        ],
      },
    })
  })

  it('is exported without reading the books of other parts', async () => {
    const read: number[] = []
    const all = loadParts(reader)
    for (let isDone = false; !isDone; ) {
      const cost = await measure(async () => {
        isDone = (await all.next()).done === true
      })
      if (!isDone) read.push(cost.read)
    }
    expect(Math.max(...read.slice(1))).toBeLessThan(Number(read[0]) + 20)
  })

  const plan = { part: 2, exportedAt: 0, after: 1, last: 1 }
  it.each([
    ['x', 2],
    ['e30', 2],
    ...[
      { part: 1 },
      { part: 1.5 },
      { exportedAt: 253_402_300_800_000 },
      { exportedAt: -1 },
      { after: 0 },
      { last: '1' },
      { last: 1e16 },
    ].map((change): [string, number] => [toCursor({ ...plan, ...change }), 2]),
    ['9'.repeat(9000), 2],
  ])('is not exported with the invalid plan %s', async (sent, part) => {
    expect(await reader.get(`/export?part=${part}&plan=${sent}`)).toMatchObject({
      status: 400,
      body: {
        violationErrors: [{ propertyPath: 'plan', reason: 'must be from the Link header of the part before' }],
      },
    })
  })

  it('is not exported with the plan of another part', async () => {
    for (const query of ['?', '?part=3&']) {
      expect(await reader.get(`/export${query}plan=${toCursor(plan)}`)).toMatchObject({
        status: 400,
        body: { violationErrors: [{ propertyPath: 'plan', reason: 'must belong to the requested part' }] },
      })
    }
  })

  it('is not exported in larger parts with a forged plan', async () => {
    const forged = toCursor({ part: 2, exportedAt: 0, after: 1, last: Number.MAX_SAFE_INTEGER })
    const { headers, body } = await reader.get(`/export?part=2&plan=${forged}`)
    expect(titlesOf(body)).toEqual(['Book 0', 'Book 1'])
    expect(linksOf(headers).next).toMatch(/^\/export\?part=3&plan=/)
    const stranger = await signUp()
    await stranger.createBook({ title: 'Own' })
    const [first] = bookIds
    const theirs = toCursor({ ...plan, after: Number(first) - 1, last: bookIds.at(-1) })
    expect(titlesOf((await stranger.get(`/export?part=2&plan=${theirs}`)).body)).toEqual([])
    expect(titlesOf((await stranger.get(`/export?part=2&plan=${forged}`)).body)).toEqual(['Own'])
  })
})

describe('a library of books of random sizes', () => {
  it.each(['/export', '/export.csv', '/export/memos.md'])(
    'is in the parts of %s with each book once, in order',
    async (path) => {
      const [reader, other] = [await signUp(), await signUp()]
      const [memberId, otherId] = [await memberIdOf(reader), await memberIdOf(other)]
      // Books of two members alternate.
      for (let n = 0; n < 12; n++) for (const id of [memberId, otherId]) await fillShelf(id, 1 + ((7 * n) % 11))
      // From 100 bytes to 6.25 MiB. The columns count more than there is.
      await select(
        `update books set memoBytes = 100 << abs(random() % 17), summaryMemos = 1, memoCount = 1, hasMemos = 1
        where memberId in (?, ?)`,
        memberId,
        otherId,
      )
      await select(
        `insert into readings (readingId, memberId, bookId, createdAt, outcome, note)
      select ${LAST_READING} + row_number() over (order by bookId), memberId, bookId, 0, 'STOPPED',
        substr(hex(zeroblob(32767)), 1, memoBytes) from books where memberId = ?`,
        memberId,
      )
      const rows = await select('select bookId, memoBytes from books where memberId = ? order by bookId', memberId)
      await select(`update books set title = 'T' || bookId || 'T' where memberId = ?`, memberId)
      const parts: string[][] = []
      for await (const { body } of loadParts(reader, path)) {
        const text = typeof body === 'string' ? body : JSON.stringify(body.books)
        parts.push([...text.matchAll(/T(\d+)T/g)].map(([, id]) => String(id)))
      }
      expect(parts.flat()).toEqual(rows.map(({ bookId }) => String(bookId)))
      if (path === '/export.csv') return
      const bytesOf = (id: string | undefined) => Number(rows.find(({ bookId }) => String(bookId) === id)?.memoBytes)
      for (const part of parts.filter(({ length }) => length > 1)) {
        expect(part.reduce((sum, id) => sum + bytesOf(id), 0)).toBeLessThanOrEqual(8 * 1024 * 1024)
      }
      expect(parts.length).toBeGreaterThan(1)
    },
  )
})

describe('an attacker', () => {
  afterEach(() => vi.useRealTimers())

  it('cannot make each page read the sizes of many books', async () => {
    const member = await signUp()
    const memberId = await memberIdOf(member)
    await fillShelf(memberId, 120)
    // 200 readings of each, which make a page of six books.
    await select(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
      insert into readings (readingId, memberId, bookId, createdAt, finishedAt, outcome)
      select ${LAST_READING} + row_number() over (order by bookId, i), memberId, bookId, i, '2020', 'FINISHED'
      from books, n where memberId = ?`,
      memberId,
    )
    let books: LibraryExport['books'] = []
    const { read } = await measure(async () => {
      books = (await member.get('/export')).body.books
    })
    expect(books.flatMap(({ readings }) => readings.filter(({ finishedAt }) => finishedAt === '2020'))).toHaveLength(
      120 * 200,
    )
    // Once for the size of the part, up to three times for those of pages, and once for the page; each row and its index.
    expect(read).toBeLessThan(10 * 120 * 200)
  })

  it.each(['withdraws', 'logs out'])('gets no more books once the member %s', async (how) => {
    const member = await signUp()
    await fillShelf(await memberIdOf(member), 600)
    const body = (await download(member, '/export')).body?.getReader()
    const readOn = async (): Promise<unknown> => (await body?.read())?.done || readOn()
    await body?.read()
    const ended = how === 'withdraws' ? await member.delete('/members/me') : await member.send('POST', '/logout')
    expect(ended.status).toBe(204)
    await expect(readOn()).rejects.toThrow('UNAUTHORIZED')
  })

  it('cannot block exports of others with connections that do not read', async () => {
    const [attacker, other] = [await signUp(), await signUp()]
    for (const member of [attacker, other]) await fillShelf(await memberIdOf(member), 300)
    // Otherwise, a connection that does not read would end after 20 seconds.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const plan = toCursor({ part: 2, exportedAt: 0, after: 1, last: Number.MAX_SAFE_INTEGER })
    const opened = Array.from({ length: 30 }, () => download(attacker, `/export.csv?part=2&plan=${plan}`))
    await opened[0]
    // Blocked, the export would wait for ever.
    const { status, body } = await other.get('/export')
    expect([status, body.books?.length]).toEqual([200, 300])
    for (const response of opened) await (await response).body?.cancel()
  })
})
