// What a member can make the database hold within the default quotas, in each table: with the triggers of the service, until
// the price reaches the quota. A database of 10 GB must hold fifty such members.
import { DatabaseSync } from 'node:sqlite'
import {
  BOOK_PRICE,
  IMAGE_PRICE,
  MAX_EVENTS,
  MAX_REPORT_BYTES,
  PRICED_ROWS,
  trashPrice,
} from '../../../src/values/prices'
import { DEFAULT_QUOTAS } from '../../../src/values/quotas'
import { readMigrations } from '../../support/service/migrations'
import { type Attack, mergeReports } from '../harness/attack'
import { fillDay } from './day'

const MEMBERS = 50
const DATABASE_BYTES = 10e9
const NOW = `'2026-01-01T00:00:00'`
const MOST_TAGS = 30
const MAX_LOG = 20_100
const MAX_ACTIVITY = 5000

const createDatabase = () => {
  const database = new DatabaseSync(':memory:')
  for (const statement of readMigrations()) database.exec(statement)
  database.exec(
    `insert into members (memberId, email, name, passwordHash, createdAt, updatedAt) values (1, 'a', 'A', '', ${NOW}, ${NOW})`,
  )
  const numberOf = (query: string) => Number(Object.values(database.prepare(query).get() ?? {})[0])
  return { database, numberOf }
}

const count = (last: number) => `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${last})`
const addBooks = (last: number, name = `'x'`, author = 'null') => `${count(last)}
  insert into books (bookId, memberId, title, titleFolded, author, authorFolded, createdAt)
  select (select coalesce(max(bookId), 0) from books) + i, 1, ${name}, lower(${name}) || 'x', ${author}, lower(${author}) || 'x', ${NOW} from n`
const lastBook = '(select max(bookId) from books)'
/** With an entry of an index, and a row of the authors, that D1 keeps on pages of their own. */
const LONG_NAME = `printf('%.*c', 1000, 'x') || printf('%010d', i + coalesce((select max(bookId) from books), 0))`
const addMemos = (memos: number, bytes: number) => `${count(memos)}
  insert into memos (memoId, bookId, memberId, position, memoType, memoContent, contentFolded, memoBookPage, memoAuthority, createdAt, updatedAt)
  select last + i, ${lastBook}, 1, last + i, 'SUMMARY', printf('%.*c', ${bytes}, 'x'), printf('%.*c', ${bytes}, 'y'), 1, 'PUBLIC', ${NOW}, ${NOW}
  from n, (select coalesce(max(memoId), 0) as last from memos)`

/** Deleted memos, the newest of them first, which leaves the fewest on a page. */
const addTrash = (entries: number, bytes: number) => `${count(entries)}
  insert into trash (trashId, memberId, deletedAt, bookId, title, bytes, price, data)
  select -i - last, 1, i, 1, title, ${trashPrice('data')}, 0, data
  from n, (select 'x' as title, printf('%.*c', ${bytes}, 'x') as data), (select coalesce(max(-trashId), 0) as last from trash);
  update members set textBytes = (select sum(bytes) from trash)`

/** Adds books with all that fits into one: name, statements. */
const FILLERS: [name: string, ...statements: string[]][] = [
  ['memos of one character', addBooks(1), addMemos(DEFAULT_QUOTAS.MAX_MEMOS_PER_BOOK, 1)],
  // Alone on a page of 4,096 bytes: more than half of it, or more than a third, whose neighbours are deleted.
  ['memos of 1,000 bytes, folded', addBooks(1), addMemos(100, 1000)],
  [
    'memos of 640 bytes, folded, every other one deleted',
    addBooks(1),
    addMemos(200, 640),
    `delete from memos where memoId % 2 = 0 and bookId = ${lastBook}`,
  ],
  ['memos of 2,050 bytes, folded', addBooks(1), addMemos(100, 2050)],
  ['memos of 65,535 bytes, folded', addBooks(1), addMemos(5, 65_535)],
  ['titles and authors of 1,010 bytes, folded', addBooks(50, LONG_NAME, LONG_NAME)],
  [
    'subtitles and publishers of 1,500 bytes, folded',
    `${count(50)} insert into books (bookId, memberId, title, subtitle, subtitleFolded, publisher, publisherFolded, createdAt)
      select last + i, 1, 'x', text, text, text, text, ${NOW}
      from n, (select printf('%.*c', 1500, 'x') as text, coalesce(max(bookId), 0) as last from books)`,
  ],
  [
    'progress events',
    addBooks(1),
    `${count(MAX_EVENTS)} insert into progress (memberId, bookId, at, page, kind, total)
      select 1, ${lastBook}, 1700000000000 + ${lastBook} * 1000000 + i * 86400, i, 'CORRECTION', i from n`,
  ],
  [
    'past readings',
    addBooks(1),
    `${count(200)} insert into readings (readingId, memberId, bookId, createdAt, startedAt, finishedAt, outcome, quarters, format)
      select (1 << 39) + ${lastBook} * 1000 + i, 1, ${lastBook}, 1700000000000 + i, '2020-01-01', '2020-01-02', 'FINISHED', 7, 'PAPER' from n`,
  ],
  ['memos in the trash, of 1,340 bytes of JSON', addTrash(1000, 1340)],
  ['memos in the trash, of 5,460 bytes of JSON', addTrash(500, 5460)],
  ['memos in the trash, of 131,500 bytes of JSON', addTrash(20, 131_500)],
]

/** What is in no quota of bytes, but limited. */
const others = (part: number): [name: string, ...statements: string[]][] => [
  [
    'tags and progress events of 20,000 books',
    `${count(MOST_TAGS)} insert into tags (memberId, tagId, tag, tagKey) select 1, i, 'tag ' || i, 'tag ' || i from n`,
    addBooks(DEFAULT_QUOTAS.MAX_BOOKS / part),
    `insert into bookTags (memberId, tagId, bookId) select 1, tagId, bookId from books cross join tags`,
    `${count(PRICED_ROWS - 1)} insert into progress (memberId, bookId, at, page, kind, total)
      select 1, bookId, 1700000000000 + bookId * 1000000 + i, i, 'CORRECTION', i from books cross join n`,
  ],
  [
    'images',
    `${count(Math.floor(DEFAULT_QUOTAS.MAX_MEMBER_IMAGE_BYTES / IMAGE_PRICE / part))}
      insert into images (memberId, name, type, bytes, createdAt) select 1, hex(randomblob(16)) || '.webp', 'image/webp', 1, ${NOW} from n`,
  ],
  [
    'idempotency keys',
    `${count(DEFAULT_QUOTAS.MAX_IDEMPOTENCY_KEYS / part)} insert into idempotencyKeys (memberId, keyHash, requestHash, id, name, day)
      select 1, randomblob(16), randomblob(16), i, hex(randomblob(16)), 20000 from n`,
  ],
  [
    'activity',
    `${count(MAX_ACTIVITY / part)} insert into activity (memberId, isFailedLogin, entry, at, kind, device, country)
      select 1, 0, i, i, 'LOGIN', printf('%.*c', 100, 'x'), 'KR' from n`,
  ],
  [
    'log of changes',
    `${count(MAX_LOG / part)} insert into changes (memberId, seq, kind, id, proof) select 1, i, 2, i * 1000, random() & 0xFFFFFFFFFFFF from n`,
  ],
]

/** The bytes and the changed rows of what `statements` write, again and again until the quota is full. */
const measure = (statements: string[], quota?: number) => {
  const { database, numberOf } = createDatabase()
  const sizeOf = () => numberOf('pragma page_count') * numberOf('pragma page_size')
  const [empty, before] = [sizeOf(), numberOf('select total_changes()')]
  const isFull = () =>
    numberOf('select textBytes from members') >= (quota ?? 0) ||
    numberOf('select count(*) from books') >= DEFAULT_QUOTAS.MAX_BOOKS
  do for (const statement of statements) database.exec(statement)
  while (quota !== undefined && !isFull())
  const counted = numberOf('select textBytes from members')
  // The last books may exceed the quota, in a quick run by much.
  const share = quota === undefined ? 1 : Math.min(1, quota / counted)
  const result = { bytes: (sizeOf() - empty) * share, rows: numberOf('select total_changes()') - before }
  database.close()
  return result
}

export const quotas: Attack = async (context) => {
  const { quick, progress } = context
  const part = quick ? 20 : 1
  const mb = (bytes: number) => `${((bytes * part) / 1e6).toFixed(1)} MB`
  const figures: [string, number, string][] = []
  const run = (name: string, statements: string[], quota?: number) => {
    progress(name)
    const { bytes, rows } = measure(statements, quota)
    figures.push([`${name}: rows changed`, rows * part, mb(bytes)])
    return bytes * part
  }
  const quota = DEFAULT_QUOTAS.MAX_MEMBER_TEXT_BYTES
  const filled = Math.max(...FILLERS.map(([name, ...all]) => run(name, all, quota / part)))
  const [books = 0, ...rest] = others(part).map(([name, ...all]) => run(name, all))
  // As many books as there can be, which have tags and events, leave less of the quota.
  const most = Math.max(filled, books + filled * (1 - (DEFAULT_QUOTAS.MAX_BOOKS * BOOK_PRICE) / quota))
  // The newest report stays, even if it is as large as all may be.
  const total = rest.reduce((sum, bytes) => sum + bytes, most + MAX_REPORT_BYTES)
  const members = Math.floor(DATABASE_BYTES / total)
  figures.push(['members with all that the quotas allow, in 10 GB', members, `${(total / 1e6).toFixed(1)} MB each`])
  const failures = members < MEMBERS ? [`10 GB hold ${members} members, not ${MEMBERS}`] : []
  return mergeReports({ figures, failures }, await fillDay(context))
}
