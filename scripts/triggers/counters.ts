import { fieldsOf } from '../../src/values/book-fields.ts'
import { count, list, type Trigger } from './sql.ts'

const OF_MEMBER = 'memberId = NEW.memberId'
/** Deletions while the rows of a withdrawn member are purged are not counted. */
const OF_FORMER_MEMBER = 'memberId = OLD.memberId\n  AND withdrawnAt IS NULL'

type Counters = Record<string, string>

/** Counts the rows of a table in the row of their member. `ofDeleted`: what only deletions count. */
const counted = (table: string, counters: Counters, ofDeleted: Counters = {}): [Trigger, Trigger] => [
  {
    name: `${table}_counted_in`,
    after: `INSERT ON ${table}`,
    statements: [count('members', counters, { add: 'NEW' }, OF_MEMBER)],
  },
  {
    name: `${table}_counted_out`,
    after: `DELETE ON ${table}`,
    statements: [count('members', { ...counters, ...ofDeleted }, { subtract: 'OLD' }, OF_FORMER_MEMBER)],
  },
]

/** The bytes of texts of a row. `concat` takes null for an empty text. */
const bytesOf = (texts: string[]) => `octet_length(concat(${texts.map((name) => `ROW.${name}`).join(', ')}))`
const changed = (expression: string) =>
  `${expression.replaceAll('ROW.', 'NEW.')}\n  <> ${expression.replaceAll('ROW.', 'OLD.')}`

const bookTexts = fieldsOf('text')
const bookBytes = bytesOf(bookTexts)
const STATUS_COUNTERS = {
  yetBooks: `(ROW.bookStatus = 'YET')`,
  ingBooks: `(ROW.bookStatus = 'ING')`,
  doneBooks: `(ROW.bookStatus = 'DONE')`,
  finishedBooks: `(ROW.bookStatus = 'DONE' AND ROW.readEndDate IS NOT NULL)`,
}
const TYPE_COUNTERS = {
  contentMemos: `(ROW.memoType = 'BOOK_CONTENT')`,
  summaryMemos: `(ROW.memoType = 'SUMMARY')`,
  thoughtMemos: `(ROW.memoType = 'THOUGHT')`,
  questionMemos: `(ROW.memoType = 'QUESTION')`,
}
const MEMO_COUNTERS = { memoCount: '1', ...TYPE_COUNTERS, memoBytes: 'octet_length(ROW.memoContent)' }
const valuesOf = (counters: Counters, row: string) =>
  Object.entries(counters).map(([name, value]) => `${name} = ${value.replaceAll('ROW.', `${row}.`)}`)

export const ofBooks: Trigger[] = [
  ...counted(
    'books',
    { ...STATUS_COUNTERS, textBytes: bookBytes },
    { memoBooks: 'ROW.hasMemos', textBytes: `ROW.memoBytes - ${bookBytes}` },
  ),
  {
    comment: 'Only if a counter changes: other updates of a book write no row of members.',
    name: 'books_recounted',
    after: 'UPDATE OF bookStatus, readEndDate ON books',
    when: `OLD.bookStatus <> NEW.bookStatus
  OR (OLD.readEndDate IS NULL) <> (NEW.readEndDate IS NULL)`,
    statements: [count('members', STATUS_COUNTERS, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER)],
  },
  {
    name: 'books_resized',
    after: `UPDATE OF ${list(bookTexts, 2, 50)} ON books`,
    when: changed(bookBytes),
    statements: [count('members', { textBytes: bookBytes }, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER)],
  },
]

export const ofMemos: Trigger[] = [
  {
    comment: `A further memo updates the book's row and the member's; the first one also sets hasMemos, and so writes an index entry.`,
    name: 'memos_counted_in',
    after: 'INSERT ON memos',
    statements: [
      `UPDATE members
SET textBytes = textBytes + octet_length(NEW.memoContent),
  memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0)
WHERE memberId = NEW.memberId`,
      count('books', MEMO_COUNTERS, { add: 'NEW' }, 'bookId = NEW.bookId\n  AND hasMemos = 1'),
      `UPDATE books
SET ${[...valuesOf(MEMO_COUNTERS, 'NEW'), 'hasMemos = 1'].join(',\n  ')}
WHERE bookId = NEW.bookId
  AND hasMemos = 0`,
    ],
  },
  {
    comment: 'Skipped while the book itself is being deleted, since its row is already gone.',
    name: 'memos_counted_out',
    after: 'DELETE ON memos',
    when: 'EXISTS (SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND withdrawnAt IS NULL)',
    statements: [
      `UPDATE members
SET textBytes = textBytes - octet_length(OLD.memoContent),
  memoBooks = memoBooks - ((SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1)
WHERE memberId = OLD.memberId`,
      `UPDATE books
SET ${[...Object.keys(MEMO_COUNTERS), 'hasMemos'].map((name) => `${name} = 0`).join(',\n  ')}
WHERE bookId = OLD.bookId
  AND memoCount = 1`,
      count('books', MEMO_COUNTERS, { subtract: 'OLD' }, 'bookId = OLD.bookId\n  AND memoCount > 1'),
    ],
  },
  {
    name: 'memos_resized',
    after: 'UPDATE OF memoContent ON memos',
    when: 'octet_length(NEW.memoContent) <> octet_length(OLD.memoContent)',
    statements: [
      count('books', { memoBytes: MEMO_COUNTERS.memoBytes }, { subtract: 'OLD', add: 'NEW' }, 'bookId = NEW.bookId'),
      count('members', { textBytes: MEMO_COUNTERS.memoBytes }, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER),
    ],
  },
  {
    name: 'memos_recounted',
    after: 'UPDATE OF memoType ON memos',
    when: 'OLD.memoType <> NEW.memoType',
    statements: [count('books', TYPE_COUNTERS, { subtract: 'OLD', add: 'NEW' }, 'bookId = NEW.bookId')],
  },
]

export const ofImages = counted('images', { imageCount: '1', imageBytes: 'ROW.bytes' })

export const ofKeys = counted('idempotencyKeys', { keyCount: '1' })

const noteBytes = bytesOf(['note'])
const [noteIn, noteOut] = counted('readings', { textBytes: noteBytes })
export const ofNotes: Trigger[] = [
  { ...noteIn, when: 'NEW.note IS NOT NULL' },
  { ...noteOut, when: 'OLD.note IS NOT NULL' },
  {
    name: 'readings_resized',
    after: 'UPDATE OF note ON readings',
    when: changed(noteBytes),
    statements: [count('members', { textBytes: noteBytes }, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER)],
  },
]
