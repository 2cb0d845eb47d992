import type { DatabaseSync } from 'node:sqlite'
import { fieldsOf } from '../../src/values/book-fields.ts'
import { BOOK_PRICE, NOTE_PRICE, textPrice } from '../../src/values/prices.ts'

const STEP = 100_000
const BOOKS_PER_MEMBER = 100
const AUTHORS = 5000
const NOW = '2026-01-01T00:00:00'
/** About as long as a memo of a few sentences, a third of it in Korean. */
const MEMO = 'Something worth remembering, and why. '.repeat(4) + '다시 읽고 싶은 문장. '.repeat(3)

export type Size = { books: number; memos: number }

/** The parts that slow down filling, and that may follow it. */
const isLate = (statement: string) => /^\s*(?:--.*\s+)*CREATE (?:UNIQUE )?(?:INDEX|TRIGGER)/.test(statement)

const fillMembers = (first: number, last: number) => `
  insert into members (memberId, email, name, passwordHash, createdAt, updatedAt, yetBooks, ingBooks, doneBooks, finishedBooks, undatedBooks, memoBooks)
  select memberId, 'member-' || memberId || '@library.test', 'Mina', 'hash', '${NOW}', '${NOW}',
    sum(bookStatus = 'YET'), sum(bookStatus = 'ING'), sum(bookStatus = 'DONE'), sum(readEndDate is not null), sum(bookStatus = 'DONE' and readEndDate is null), sum(hasMemos)
  from books where bookId between ${first} and ${last} group by memberId`
const fillBooks = (first: number, last: number, { books, memos }: Size) => `
  with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${last}),
    book(i, ofBook) as (select i, iif(i <= ${memos}, (${memos} - i) / ${books} + 1, 0) from n)
  insert into books (bookId, memberId, title, cover, author, publisher, createdAt, bookStatus, readEndDate, thoughtMemos, memoCount, hasMemos)
  select i, (i - 1) / ${BOOKS_PER_MEMBER} + 1, '소년이 온다 ' || i, 'https://covers.example/' || i || '.jpg', 'Author ' || i % ${AUTHORS},
    '창비', '${NOW}', iif(i % 3, iif(i % 3 = 1, 'ING', 'YET'), 'DONE'), iif(i % 3, null, '${NOW}'), ofBook, ofBook, ofBook > 0
  from book`
/** Round after round, each book gets one more memo. */
const fillMemos = (first: number, last: number, { books }: Size) => `
  with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${last}),
    memo(i, round, book) as (select i, (i - 1) / ${books}, (i - 1) % ${books} from n)
  insert into memos (memoId, bookId, memberId, position, memoType, memoContent, memoBookPage, memoAuthority, createdAt, updatedAt)
  select i, book + 1, book / ${BOOKS_PER_MEMBER} + 1,
    round * min(${BOOKS_PER_MEMBER}, ${books} - book / ${BOOKS_PER_MEMBER} * ${BOOKS_PER_MEMBER}) + book % ${BOOKS_PER_MEMBER} + 1,
    'THOUGHT', '${MEMO}' || i, i % 300, 'PRIVATE', '${NOW}', '${NOW}'
  from memo`

/** What the triggers would have counted. */
const COUNTS = [
  `update books set (memoBytes, lastMemoId) = (
    select coalesce(sum(octet_length(memoContent)), 0), max(memoId) from memos where memos.bookId = books.bookId
  )`,
  `update members set textBytes = (
    select sum(${BOOK_PRICE} + memoBytes + ${NOTE_PRICE} * memoCount + ${textPrice(fieldsOf('text'))}) from books
    where books.memberId = members.memberId
  )`,
  `insert into authors (memberId, authorKey, author, bookCount)
  select memberId, lower(author), author, count(*) from books group by memberId, author`,
]

/**
 * Fills a new database with a synthetic library, each member of which has 100 books, with the schema of a migration.
 * @param schema the statements of the migration
 */
export const fillSynthetic = (
  database: DatabaseSync,
  schema: string[],
  size: Size,
  progress: (line: string) => void,
) => {
  const fill = (table: string, count: number, statement: (first: number, last: number, size: Size) => string) => {
    for (let first = 1; first <= count; first += STEP) {
      const last = Math.min(first + STEP - 1, count)
      database.exec(statement(first, last, size))
      progress(`${last} of ${count} ${table}`)
    }
  }
  database.exec('pragma foreign_keys = off')
  for (const statement of schema) if (!isLate(statement)) database.exec(statement)
  fill('books', size.books, fillBooks)
  fill('books counted', size.books, fillMembers)
  fill('memos', size.memos, fillMemos)
  for (const statement of [...schema.filter(isLate), ...COUNTS]) database.exec(statement)
  database.exec('pragma foreign_keys = on')
}
