// How many rows a member's requests can write in a day: the requests that write the most, again and again, each as often as
// its limit allows. Rows as D1 counts them, with those of triggers and index entries.
import { setTimeout } from 'node:timers/promises'
import { MAX_EVENTS } from '../../../src/values/prices'
import { libraryFile } from '../../support/transfer/import-files'
import type { Context, Report } from '../harness/attack'
import type { Request } from '../harness/client'
import { insertMember, jsonRequest, type Member, registerBook } from '../harness/members'
import type { Service } from '../harness/service'

const MINUTES = 24 * 60
/** The limits of a member in wrangler.toml, and MAX_PER_DAY. */
const [WRITES, LARGE_WRITES, IMPORTS] = [1000 * MINUTES, 30 * MINUTES, 20]

/** Sends requests, and adds up the rows that they write. */
const createWriter = (service: Service, { token }: Member) => {
  const total = { writes: 0, rows: 0 }
  const send = async (request: Request, expected: number) => {
    const { status, headers, body } = await service.request({ ...request, token })
    if (status !== expected) throw new Error(`${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`)
    total.rows += Number(headers.get('X-All-Rows-Written'))
    return body as Record<string, number>
  }
  const write = (method: string, path: string, body: unknown, expected = 200) => {
    const { tags = [] } = (body ?? {}) as { tags?: string[] }
    total.writes += 1 + Math.floor(tags.length / 10)
    return send(body === undefined ? { method, path } : jsonRequest(method, path, body), expected)
  }
  return { total, write, send }
}
type Writer = ReturnType<typeof createWriter>

const namesOf = (letter: string) => Array.from({ length: 30 }, (_, n) => `${letter}${n}`)
const FULL_BOOK = {
  ...{ title: 'First', author: 'One', isbn: '9788936434120', itemPage: 300, bookStatus: 'DONE', star: 5 },
  ...{ readStartDate: '2025-01-01T00:00:00', readEndDate: '2025-02-01T00:00:00' },
}
const PATCHES = [
  { bookStatus: 'ING', currentPage: 10, star: 4, author: 'Two' },
  { bookStatus: 'DONE', currentPage: 20, star: 3, author: 'One', readEndDate: '2025-03-01T00:00:00' },
]
/** As many as a merge moves. */
const MOVED = 2500
const fillMemos = (service: Service, { memberId }: Member, bookId: number) =>
  service.database
    .prepare(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select (select coalesce(max(memoId), 0) from memos) + i, ?2, ?3,
        (select coalesce(max(position), 0) from memos where memberId = ?3) + i, 'SUMMARY', 'x', 1, 'PUBLIC', '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`)
    .bind(MOVED, bookId, memberId)
    .run()

type Cycle = {
  name: string
  /** How many such writes a member can send in a day. */
  perDay: number
  prepare?: (service: Service, member: Member, bookId: number) => Promise<unknown>
  /** Writes, and ends as it began, so that it can be repeated all day; the book may be another one. */
  run: (writer: Writer, bookId: number) => Promise<unknown>
}

const CYCLES: Cycle[] = [
  {
    name: 'thirty tags of a book replaced',
    perDay: WRITES,
    run: async ({ write }, bookId) => {
      for (const letter of ['a', 'b']) await write('PUT', `/books/${bookId}/tags`, { tags: namesOf(letter) })
    },
  },
  {
    name: 'book with thirty tags deleted and registered again',
    perDay: WRITES,
    run: async ({ write }) => {
      const { bookId } = await write('POST', '/books', FULL_BOOK, 201)
      await write('PUT', `/books/${bookId}/tags`, { tags: namesOf('c') })
      await write('DELETE', `/books/${bookId}`, undefined, 204)
    },
  },
  {
    name: 'memo written and deleted',
    perDay: WRITES,
    run: async ({ write }, bookId) => {
      const memo = await write('POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'x' }, 201)
      await write('DELETE', `/memos/${memo.memoId}`, undefined, 204)
    },
  },
  {
    name: 'book changed',
    perDay: WRITES,
    run: async ({ write }, bookId) => {
      for (const patch of PATCHES) await write('PATCH', `/books/${bookId}`, patch)
    },
  },
  {
    name: 'largest book merged into a new one',
    perDay: LARGE_WRITES,
    prepare: fillMemos,
    run: async ({ write, send }, bookId) => {
      const target = await send(jsonRequest('POST', '/books', { title: 'x' }), 201)
      await write('POST', `/books/${target.bookId}/merge`, { from: bookId })
      return target.bookId
    },
  },
  {
    name: 'largest book deleted and restored',
    perDay: LARGE_WRITES,
    prepare: fillMemos,
    run: async ({ write, send }, bookId) => {
      await send({ method: 'DELETE', path: `/books/${bookId}` }, 204)
      await write('POST', `/trash/book-${bookId}/restore`, {})
    },
  },
]

/** The file with the most rows to write, and its undo. The quota has room for its memos, and the file for its events. */
const importAndUndo = async ({ total, send }: Writer, length: number) => {
  total.writes += 1
  const memos = Array.from({ length: 200 }, (_, n) => ({ memoContent: `${n}` }))
  const progress = Array.from({ length: MAX_EVENTS }, (_, n) => ({
    at: new Date(1_700_000_000_000 + n * 1000).toISOString(),
    ...{ page: n + 1, kind: 'PROGRESS' },
  }))
  const books = Array.from({ length }, (_, n) => ({ title: `Imported ${n}`, memos, progress }))
  const file = { method: 'POST', path: '/imports', body: libraryFile(...books), type: 'application/json' }
  const { importId } = await send(file, 202)
  const poll: Request = { method: 'GET', path: `/imports/${importId}` }
  while (((await send(poll, 200)).status as unknown) === 'RUNNING') await setTimeout(100)
  await send({ method: 'DELETE', path: `/imports/${importId}` }, 200)
}

export const fillDay = async ({ start, quick, progress }: Context): Promise<Report> => {
  // A minute of the limit of writes.
  const [most, books] = quick ? [20, 4] : [1000, 140]
  const service = await start({ entry: 'test/bench/workers/measured.ts', uploadsPerMinute: 1e9, slots: 1 })
  const imports: Cycle = {
    name: 'import of the largest file and its undo',
    perDay: IMPORTS,
    run: (writer) => importAndUndo(writer, books),
  }
  const figures: Report['figures'] = []
  for (const { name, perDay, prepare, run } of [...CYCLES, imports]) {
    progress(name)
    const member = await insertMember(service)
    await service.request({ method: 'GET', path: '/changes?size=1', token: member.token })
    let bookId = await registerBook(service, member, FULL_BOOK)
    await prepare?.(service, member, bookId)
    const writer = createWriter(service, member)
    // The first cycle may write what the others find.
    bookId = Number((await run(writer, bookId)) ?? bookId)
    const writes = (perDay / WRITES) * most
    Object.assign(writer.total, { writes: 0, rows: 0 })
    do bookId = Number((await run(writer, bookId)) ?? bookId)
    while (writer.total.writes < writes)
    const perWrite = Math.round(writer.total.rows / writer.total.writes)
    const result = `${perDay.toLocaleString('en')} × ${perWrite}`
    figures.push([`${name}: rows written in a day`, perWrite * perDay, result])
  }
  return { figures, failures: [] }
}
