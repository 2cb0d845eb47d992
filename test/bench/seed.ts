// The two shelves, as SQL: the same rows for D1 and for the peers' SQLite.
import { createHmac } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'

export const JWT_SECRET = 'a secret of the bench only, which no deployment has'

/** A member with a library, and what requests need to know of it. Identifiers count from `first`. */
export type Shelf = {
  memberId: number
  books: number
  token: string
  /** A book with ten memos. */
  book: number
  /** The book with the most memos. */
  memoBook: number
  /** A book without memos, and a memo, that are changed again and again. */
  changedBook: number
  changedMemo: number
  /** Unread books without memos, and memos, to be deleted one by one. */
  spareBooks: number[]
  spareMemos: number[]
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')

const signToken = (memberId: number) => {
  const iat = Math.floor(Date.now() / 1000)
  const jti = '3f1c3f5e-8d6c-4f6e-9d0b-0c6a3c1f2b11'
  const claims = { iss: 'reading-library', sub: String(memberId), iat, exp: iat + 604_800, jti, ver: 0 }
  const signed = `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(JSON.stringify(claims))}`
  return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`
}

type Size = { memberId: number; first: number; books: number; most: number; withMemos: number }

// Ten memos on each of `withMemos` books, `most` on one: for the large member 100,000 in all.
const SMALL: Size = { memberId: 1, first: 0, books: 100, most: 50, withMemos: 9 }
const LARGE: Size = { memberId: 2, first: 1000, books: 100_000, most: 5000, withMemos: 9500 }

const range = (from: number, to: number, step: number) =>
  Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, n) => from + n * step)

const toShelf = ({ memberId, first, books, most, withMemos }: Size): Shelf => ({
  memberId,
  books,
  token: signToken(memberId),
  book: first + 2,
  memoBook: first + 1,
  changedBook: first + 20 * Math.ceil(withMemos / 20) + 1,
  changedMemo: first + most + 12,
  spareBooks: range(first + 3 * Math.ceil((withMemos + 30) / 3), first + books, 3),
  spareMemos: range(first + most + 21, first + most + withMemos * 10, 1),
})

export const makeShelves = () => ({ small: toShelf(SMALL), large: toShelf(LARGE) })

/** The statements of all migrations, in order. */
export const readMigrations = () =>
  globSync('migrations/*.sql')
    .sort()
    .flatMap((file) => readFileSync(file, 'utf8').split('--> statement-breakpoint'))

const fill = ({ memberId, first, books, most, withMemos }: Size) => [
  `insert into members (memberId, email, name, passwordHash, createdAt, updatedAt)
    values (${memberId}, 'reader${memberId}@example.com', 'Reader ${memberId}', '-', '2020-01-01T00:00:00', '2020-01-01T00:00:00')`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${books})
    insert into books (bookId, memberId, title, cover, author, publisher, createdAt, itemPage, bookStatus, readStartDate, readEndDate)
    select ${first} + i, ${memberId}, 'Book ' || i, 'https://covers.example.com/' || i || '.jpg', 'Author ' || (i % 97),
      'Publisher ' || (i % 13), '2020-01-01T00:00:00', 300, case i % 3 when 0 then 'YET' when 1 then 'ING' else 'DONE' end,
      case when i % 3 > 0 then '2020-02-01T00:00:00' end,
      case i % 3 when 2 then strftime('%Y-%m-%dT%H:%M:%S', 1577836800 + i * 3600, 'unixepoch') end
    from n`,
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${most + 10 * withMemos})
    insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
    select ${first} + i, ${first} + case when i <= ${most} then 1 else 2 + (i - ${most} - 1) / 10 end, ${memberId}, i,
      case i % 4 when 0 then 'BOOK_CONTENT' when 1 then 'SUMMARY' when 2 then 'THOUGHT' else 'QUESTION' end,
      'Memo ' || i || ': what one wanted to remember of this page, in a sentence or two.', i % 300,
      case i % 2 when 0 then 'PRIVATE' else 'PUBLIC' end, '2020-01-01T00:00:00', '2020-01-01T00:00:00'
    from n`,
]

/** How much is filled in. */
export const FILLED = {
  books: SMALL.books + LARGE.books,
  memos: SMALL.most + 10 * SMALL.withMemos + LARGE.most + 10 * LARGE.withMemos,
}
export const fillStatements = () => [...fill(SMALL), ...fill(LARGE)]
export const seedStatements = () => [...readMigrations(), ...fillStatements()]
