// The largest responses that the quotas allow, one at a time and ten at once, in the memory of one isolate.
import { setTimeout } from 'node:timers/promises'
import { encode, openSocket, sendRequest } from '../../support/service/http-client'
import { MIB, toMib, watchMemory } from '../../support/service/watch-memory'
import type { Attack, Context, Figure, Report } from '../harness/attack'
import { countStatuses, mergeReports } from '../harness/attack'
import { insertMember, jsonRequest, type Member, registerBook } from '../harness/members'
import type { Service } from '../harness/service'

const MOST_PER_ANSWER = 64 * MIB
const CONCURRENT = 10

const CONTENT = 'x'.repeat(65_535)
/** A control character takes one byte of the quota, but six in JSON. */
const CONTROL_CHARACTERS = '\u0001'.repeat(CONTENT.length)
const MOST_MEMOS = 400

/** Writes memos until the service refuses one. Returns how many it took. */
const writeUntilRefused = async (service: Service, { token }: Member, bookId: number) => {
  const memo = jsonRequest('POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: CONTENT }, { token })
  for (let written = 0; written < MOST_MEMOS; written++) {
    // Unlike service.request, it does not wait for an early response to so long a body.
    if ((await sendRequest(service.url, memo)).status !== 201) return written
  }
  return MOST_MEMOS
}

const fillBook = (service: Service, { memberId }: Member, bookId: number, memoContent: string, memos: number) =>
  service.database
    .prepare(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
      select (select coalesce(max(memoId), 0) from memos) + i, ?2, ?3,
        (select coalesce(max(position), 0) from memos where memberId = ?3) + i, 'SUMMARY', ?4, 1, 'PUBLIC', '2026-01-01T00:00:00', '2026-01-01T00:00:00' from n`)
    .bind(memos, bookId, memberId, memoContent)
    .run()

/** Books with the longest texts, in characters of four bytes. */
const fillLibrary = (service: Service, { memberId }: Member, books: number) =>
  service.database
    .prepare(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into books (bookId, memberId, title, cover, author, createdAt)
      select (select coalesce(max(bookId), 0) from books) + i, ?2, ?3, 'https://x.example/' || ?4, ?3, '2026-01-01T00:00:00' from n`)
    .bind(books, memberId, '\u{1F4D6}'.repeat(500), '\u{1F4D6}'.repeat(2030))
    .run()

/** Books with short texts. */
const fillShelves = (service: Service, { memberId }: Member, books: number) =>
  service.database
    .prepare(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
      insert into books (bookId, memberId, title, author, createdAt)
      select (select coalesce(max(bookId), 0) from books) + i, ?2, 'Book ' || i, 'Mina Oh', '2026-01-01T00:00:00' from n`)
    .bind(books, memberId)
    .run()

/** A year with as many readings, progress events and memos as statistics load. Titles have characters of four bytes. */
const fillYear = async ({ database }: Service, { memberId }: Member) => {
  const ofBooks = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 49999),
    own(bookId, i) as (select bookId, row_number() over () - 1 from books where memberId = ?1)`
  const bookOf = `(select bookId from own where own.i = n.i % 1000)`
  const day = `date('2024-01-01', (n.i / 1000) || ' days')`
  const insert = (sql: string) => database.prepare(sql).bind(memberId).run()
  await insert(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
    insert into books (bookId, memberId, title, createdAt)
    select (select coalesce(max(bookId), 0) from books) + i, ?1, '${'\u{1F4D6}'.repeat(18)}', '2024-01-01T00:00:00' from n`)
  await insert(`${ofBooks}
    insert into readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome)
    select 549755813888 + n.i, ?1, ${bookOf}, 0, ${day}, ${day}, 'FINISHED' from n`)
  await insert(`${ofBooks}
    insert into progress (memberId, bookId, at, page, kind, total)
    select ?1, ${bookOf}, unixepoch('2024-01-01') * 1000 + n.i * 500000, n.i / 1000, 'PROGRESS', n.i / 1000 + 1 from n`)
  await insert(`${ofBooks}
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select (select coalesce(max(memoId), 0) from memos) + n.i + 1, ${bookOf}, ?1,
      (select coalesce(max(position), 0) from memos where memberId = ?1) + n.i + 1, 'SUMMARY', 'A memo', 1, 'PRIVATE',
      ${day} || 'T00:00:00', ${day} || 'T00:00:00' from n`)
}

type Download = { outcome: string; bytes: number }
/** `prepare` returns the path that `read` begins with; by default it reads one response. */
type Case = {
  name: string
  prepare: (service: Service, member: Member) => Promise<string>
  read?: (service: Service, member: Member, path: string) => Promise<Download>
  /** The service runs one at a time, and refuses most of ten. */
  oneAtATime?: true
}

const detailPath = (bookId: number) => `/books/${bookId}?memoAuthority=ALL`
const withMemos =
  (memoContent: string, toPath: (bookId: number) => string) => async (service: Service, member: Member) => {
    const most = await writeUntilRefused(service, member, await registerBook(service, member))
    const bookId = await registerBook(service, member)
    await service.database.prepare('delete from memos').run()
    await fillBook(service, member, bookId, memoContent, most)
    return toPath(bookId)
  }

/** Reads a response without keeping it. Returns its status, or the error, and its size. */
const download = async (service: Service, { token }: Member, path: string): Promise<Download> => {
  let bytes = 0
  try {
    const response = await fetch(new URL(path, service.url), { headers: { Authorization: `Bearer ${token}` } })
    for await (const chunk of response.body ?? []) bytes += chunk.length
    return { outcome: String(response.status), bytes }
  } catch (error) {
    return { outcome: String(error), bytes }
  }
}

/** Reads all pages of changes. Returns the size of the largest. */
const pullAll = async (service: Service, { token }: Member, first: string): Promise<Download> => {
  let bytes = 0
  try {
    for (let path = first; ; ) {
      const response = await fetch(new URL(path, service.url), { headers: { Authorization: `Bearer ${token}` } })
      const text = await response.text()
      if (response.status !== 200) return { outcome: String(response.status), bytes }
      bytes = Math.max(bytes, Buffer.byteLength(text))
      const { next, hasMore } = JSON.parse(text)
      if (!hasMore) return { outcome: '200', bytes }
      path = `${first}&cursor=${next}`
    }
  } catch (error) {
    return { outcome: String(error), bytes }
  }
}

/** Pages of exports have as much text as parts of lists. */
const EXPORTED_BOOKS = 16

const CASES: Case[] = [
  { name: 'detail of long memos', prepare: withMemos(CONTENT, detailPath) },
  {
    name: 'list of long memos',
    prepare: withMemos(CONTENT, (bookId) => `/books/${bookId}/memos?memoType=ALL&page=1&size=1000`),
  },
  { name: 'detail of control characters', prepare: withMemos(CONTROL_CHARACTERS, detailPath) },
  {
    name: 'page of 1,000 books with the longest texts',
    prepare: async (service, member) => {
      await fillLibrary(service, member, 1000)
      return '/books/library?bookStatus=YET&page=1&size=1000'
    },
  },
  {
    name: 'export of memos of control characters',
    prepare: async (service, member) => {
      for (let n = 0; n < EXPORTED_BOOKS; n++) {
        // The first book is too large for a page.
        await fillBook(service, member, await registerBook(service, member), CONTROL_CHARACTERS, n === 0 ? 20 : 3)
      }
      return '/export'
    },
  },
  {
    name: 'export of notes of quotation marks, for a spreadsheet',
    prepare: async (service, member) => {
      const { token } = member
      for (let n = 0; n < 4 * EXPORTED_BOOKS; n++) {
        const path = `/books/${await registerBook(service, member)}/readings`
        const note = `${';"='.repeat(CONTENT.length / 3)}`
        const { status } = await service.request(jsonRequest('POST', path, { note }, { token }))
        if (status !== 201) throw new Error(`${path}: ${status}`)
      }
      return '/export.csv?for=spreadsheet'
    },
  },
  {
    name: 'first sync of 100,000 books, with the longest texts and memos of control characters',
    prepare: async (service, member) => {
      await fillBook(service, member, await registerBook(service, member), CONTROL_CHARACTERS, 100)
      await fillLibrary(service, member, 999)
      await fillShelves(service, member, 99_000)
      return '/changes?size=200'
    },
    read: pullAll,
  },
  ...['/stats?year=2024', '/stats/rows?year=2024&figure=daysRead'].map(
    (path): Case => ({
      name: `${path} of the longest year`,
      oneAtATime: true,
      prepare: async (service, member) => {
        await fillYear(service, member)
        return path
      },
    }),
  ),
]

// Half of what the platform allows; above it, the process ends. Without a limit, V8 would keep much garbage.
const HEAP_MIB = 64
process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP_MIB}`

const readLargest = async (
  { start, progress }: Context,
  { name, prepare, read: readAll = download, oneAtATime }: Case,
): Promise<Report> => {
  const service = await start({ inspected: true, writesPerMinute: 1e9 })
  const member = await insertMember(service)
  progress(`${name}: writing`)
  const path = await prepare(service, member)
  const outcomes: string[] = []
  let size = 0
  const read = async () => {
    const { outcome, bytes } = await readAll(service, member, path)
    outcomes.push(outcome)
    size = Math.max(size, bytes)
  }
  progress(`${name}: reading`)
  const one = await watchMemory(service, read)
  const more = oneAtATime ? 0 : CONCURRENT
  await Promise.all(Array.from({ length: more }, read))
  const health = (await service.request({ method: 'GET', path: '/health' })).status
  const failures: string[] = []
  if (one.isolate > MOST_PER_ANSWER) failures.push(`${name}: one took ${toMib(one.isolate)} MiB`)
  if (outcomes.some((outcome) => outcome !== '200') || health !== 200) {
    failures.push(`${name}: ${countStatuses(outcomes)}, then health ${health}`)
  }
  const figure: Figure = [
    `${name}, ${(size / MIB).toFixed(1)} MiB: peak MiB of the isolate for one (limit 64)`,
    toMib(one.isolate),
    `${oneAtATime ? 'one' : 'ten at once'} in a heap of ${HEAP_MIB} MiB: ${countStatuses(outcomes)}`,
  ]
  return { figures: [figure], failures }
}

const SLOW_MEMBERS = 20
const SLOW_READERS = 100

const SLOW_CASES: Case[] = [
  {
    name: 'a large book',
    prepare: async (service, member) => {
      const bookId = await registerBook(service, member)
      await fillBook(service, member, bookId, CONTROL_CHARACTERS, 32)
      return detailPath(bookId)
    },
  },
  {
    name: 'an export',
    prepare: async (service, member) => {
      for (let n = 0; n < 10; n++) {
        await fillBook(service, member, await registerBook(service, member), CONTROL_CHARACTERS, 3)
      }
      return '/export'
    },
  },
]

/** Requests many large responses from one network as several members without reading them, then reads one from another. */
const readSlowly = async ({ start, progress }: Context, { name, prepare }: Case): Promise<Report> => {
  const service = await start()
  const reader = await insertMember(service)
  const ownPath = await prepare(service, reader)
  const requests = await Array.fromAsync({ length: SLOW_MEMBERS }, async () => {
    const member = await insertMember(service)
    const headers = 'CF-Connecting-IP: 192.0.2.1\r\n'
    return encode({ method: 'GET', path: await prepare(service, member), token: member.token, headers })
  })
  progress(`${name}: ${SLOW_READERS} connections that do not read`)
  const sockets = await Promise.all(Array.from({ length: SLOW_READERS }, () => openSocket(service.url)))
  for (const [at, socket] of sockets.entries()) {
    socket.pause()
    socket.on('error', () => {})
    socket.write(requests[at % SLOW_MEMBERS] ?? '')
  }
  await setTimeout(5000)
  const profile = (await service.request({ method: 'GET', path: '/members/me', token: reader.token })).status
  const { outcome, bytes } = await download(service, reader, ownPath)
  for (const socket of sockets) socket.destroy()
  const failures = profile === 200 && outcome === '200' ? [] : [`with slow readers: ${profile}, then ${outcome}`]
  const size = `${(bytes / MIB).toFixed(1)} MiB`
  const result = `another member’s profile: ${profile}, as large a response: ${outcome}, in a heap of ${HEAP_MIB} MiB`
  return {
    figures: [
      [
        `connections of ${SLOW_MEMBERS} members of one network that do not read ${name} of ${size}`,
        SLOW_READERS,
        result,
      ],
    ],
    failures,
  }
}

export const memory: Attack = async (context) => {
  const reports: Report[] = []
  for (const each of context.quick ? CASES.slice(0, 1) : CASES) reports.push(await readLargest(context, each))
  for (const each of context.quick ? [] : SLOW_CASES) reports.push(await readSlowly(context, each))
  return mergeReports(...reports)
}
