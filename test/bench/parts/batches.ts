// The most rows that a batch of each operation changes, with triggers and cascades, for a member who has all that the limits
// allow: total_changes() of SQLite.
import { setTimeout } from 'node:timers/promises'
import type { HttpRequest } from '../../support/service/http-client.ts'
import { md5Of, writeStatistics } from '../../support/statistics/write-file.ts'
import { libraryFile } from '../../support/transfer/import-files.ts'
import { sendExpecting } from '../endpoints/endpoints.ts'
import { FULL, fillLibrary, type Library } from '../endpoints/seed.ts'

/** The most rows that a batch may change. */
export const MAX_BATCH_ROWS = 10_000

const { memberId, offset, books } = FULL
const [LARGEST, TARGET, SOURCE] = [offset + 1, offset + 2, offset + 4]
/** Books that are changed and deleted together. */
const MANY = Array.from({ length: 200 }, (_, n) => offset + 1000 + n)
const count = (last: number) => `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${last})`

/** The documents of reading statistics, of which the first part links these to books. */
const DOCUMENTS = 2000
const [FIRST_LINKED, LAST_LINKED] = [751, 1000]

const fillMemos = (bookId: number, memos: number) => `${count(memos)}
  insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  select 1000000 + ${bookId} * 10000 + i, ${bookId}, ${memberId},
    (select coalesce(max(position), 0) from memos where memberId = ${memberId}) + i,
    'SUMMARY', 'x', 1, 'PUBLIC', '2020-01-01T00:00:00', '2020-01-01T00:00:00' from n`
const fillEvents = (bookId: number, events: number) => `${count(events)}
  insert into progress (memberId, bookId, at, page, kind, total)
  select ${memberId}, ${bookId}, 1700000000000 + i * 100000 + ${bookId}, 0, 'PROGRESS', i from n`
const fillBook = (bookId: number, events: number) => [
  fillEvents(bookId, events),
  `${count(198)} insert into readings (readingId, memberId, bookId, createdAt, finishedAt, outcome)
    select (1 << 39) + ${bookId} * 1000 + i, ${memberId}, ${bookId}, 0, '2001-01-01', 'FINISHED' from n`,
  `insert into bookTags select ${memberId}, tagId, ${bookId} from tags where memberId = ${memberId} and tagId > 20`,
]

export const fillFull = () => [
  ...fillLibrary(FULL),
  // The first memos of the member, and others.
  fillMemos(TARGET, 500),
  fillMemos(SOURCE, 2500),
  `${count(26)} insert into tags (memberId, tagId, tag, tagKey) select ${memberId}, 20 + i, 'T' || i, 't' || i from n`,
  `insert into tags (memberId, tagId, tag, tagKey) values (${memberId}, 11, 'All', 'all'), (${memberId}, 12, 'Even', 'even'), (${memberId}, 13, 'Odd', 'odd')`,
  `insert into bookTags select ${memberId}, 11, bookId from books where memberId = ${memberId}`,
  `insert into bookTags select ${memberId}, 12 + bookId % 2, bookId from books where memberId = ${memberId}`,
  ...fillBook(LARGEST, 1000),
  ...fillBook(SOURCE, 1000),
  // Eight of the books that are deleted together; few enough events that none are merged when they are finished.
  ...Array.from({ length: 8 }, (_, n) => fillEvents(MANY[n] ?? 0, 900)),
  // Those that the statistics do not link.
  `${count(DOCUMENTS)} insert into documents (memberId, document, createdAt, bookId, isByHand)
    select ${memberId}, printf('%032x', i), 0, ${TARGET}, 1 from n where i not between ${FIRST_LINKED} and ${LAST_LINKED}`,
  // Full, so that each entry also trims one.
  `with recursive n(i) as (select 20000 union all select i + 1 from n where i < 40000)
    insert into changes (memberId, seq, kind, id, proof) select ${memberId}, i, 0, 0, 0 from n`,
]

const mostOf = ({ head }: { head: string }) => Number(/\r\nX-Most-Changes: (\d+)/i.exec(head)?.[1] ?? Number.NaN)

/** The largest books that a file can have. */
const largestFile = () => {
  const memos = Array.from({ length: 3000 }, (_, n) => ({ memoContent: `${n}` }))
  const progress = Array.from({ length: 1000 }, (_, n) => ({
    ...{ at: new Date(n * 60_000).toISOString(), page: n, kind: 'PROGRESS' },
  }))
  const readings = Array.from({ length: 201 }, (_, n) => ({ finishedAt: String(1900 + (n % 120)) }))
  return libraryFile(...['First', 'Second'].map((title) => ({ title, memos, progress, readings })))
}

/** As many documents as a file can have, each read on two days. A batch takes all of the first day, and half of the second. */
const largestStatistics = () => {
  const books = Array.from({ length: DOCUMENTS }, (_, at) => ({
    ...{ id: at + 1, title: `Book ${5000 + at}`, authors: `Author ${(5000 + at) % 97}`, md5: md5Of(at + 1) },
  }))
  const days = [0, 86_400].map((day) =>
    books.map(({ id }) => ({ book: id, page: 1, start: 1.7e9 + day, duration: 60 })),
  )
  return writeStatistics(books, days.flat())
}

export const measureBatches = async (url: URL, { token }: Library) => {
  const send = (method: string, path: string, status: number, more: Partial<HttpRequest> = {}) =>
    sendExpecting(url, { method, path, token, ...more }, status)
  const measure = async (...request: Parameters<typeof send>) => mostOf(await send(...request))
  const json = (body: object) => ({ body: JSON.stringify(body) })
  const most: Record<string, number> = {}
  // Five tags of 200 books are as many as a request may change.
  const change = (bookStatus: string, addTags: string[], removeTags: string[]) => {
    const dates = { readStartDate: `${2020 + addTags.length}-01-01T00:00:00`, readEndDate: '2026-01-02T00:00:00' }
    const texts = { author: bookStatus, publisher: bookStatus, series: bookStatus, language: 'ko' }
    return { ids: MANY, set: { bookStatus, star: addTags.length, ...dates, ...texts }, addTags, removeTags }
  }
  const [three, two] = [
    ['T1', 'T2', 'T3'],
    ['T4', 'T5'],
  ]
  const changed = [change('YET', three, ['All']), change('DONE', two, three), change('ING', three, two)]
  const rows: number[] = []
  for (const body of changed) rows.push(await measure('PATCH', '/books', 200, json(body)))
  most['books changed'] = Math.max(...rows)
  most['books deleted'] = await measure('POST', '/books/delete', 200, json({ ids: MANY }))
  most['book deleted'] = await measure('DELETE', `/books/${LARGEST}`, 204)
  most['books merged'] = await measure('POST', `/books/${TARGET}/merge`, 200, json({ from: SOURCE }))
  most[`tags of ${books / 2} books each merged`] = await measure(
    'PATCH',
    '/tags',
    200,
    json({ from: 'even', to: 'odd' }),
  )
  most[`tag of ${books} books deleted`] = await measure('DELETE', '/tags?tag=all', 204)
  const file = { body: largestFile(), type: 'application/json' }
  const started = await send('POST', '/imports', 202, file)
  const { importId } = JSON.parse(started.body)
  let [imported, isRunning] = [mostOf(started), true]
  while (isRunning) {
    await setTimeout(200)
    const answer = await send('GET', `/imports/${importId}`, 200)
    imported = Math.max(imported, mostOf(answer))
    isRunning = JSON.parse(answer.body).status === 'RUNNING'
  }
  most['books imported'] = imported
  most['import undone'] = await measure('DELETE', `/imports/${importId}`, 200)
  most['book restored'] = await measure('POST', `/trash/book-${LARGEST}/restore`, 200)
  const device = JSON.parse(
    (await send('POST', '/tokens', 201, json({ name: 'Device', scopes: ['intake:write'] }))).body,
  )
  const statistics = { token: device.token, body: largestStatistics() }
  most['reading statistics sent'] = await measure('PUT', '/dav/statistics.sqlite3', 204, statistics)
  most['reading statistics deleted'] = await measure('DELETE', '/documents/statistics', 204)
  most['member withdrawn'] = await measure('DELETE', '/members/me', 204)
  return most
}
