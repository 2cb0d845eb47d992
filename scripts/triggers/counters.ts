import { currentId, shownReading } from '../../src/db/schema/shown-reading.ts'
import { fieldsOf } from '../../src/values/book-fields.ts'
import { MEMO_TYPES } from '../../src/values/contract.ts'
import { BLOCK_PRICE, BOOK_PRICE, NOTE_PRICE, PRICED_ROWS, textPrice } from '../../src/values/prices.ts'
import { count, list, type Trigger } from './sql.ts'

/** Whether the row that is inserted is not of a book that is being restored, whose row in the trash is deleted last. */
export const isNotRestored = 'NOT EXISTS (SELECT 1 FROM trash WHERE trashId = NEW.bookId)'

/** The same in all statements and triggers of a write. */
const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

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

const changed = (expression: string) =>
  `${expression.replaceAll('ROW.', 'NEW.')}\n  <> ${expression.replaceAll('ROW.', 'OLD.')}`

const bookTexts = fieldsOf('text')
const bookTextPrice = `(${textPrice(bookTexts, 'ROW.')})`
const bookPrice = `(${BOOK_PRICE} + ${textPrice(bookTexts, 'ROW.')})`
const readingPrice = `(${NOTE_PRICE} + octet_length(concat(ROW.note)))`
const memoPrice = `(${NOTE_PRICE} + octet_length(ROW.memoContent))`
const { finishedAt } = shownReading('ROW.')
const STATUS_COUNTERS = {
  yetBooks: `(ROW.bookStatus = 'YET')`,
  ingBooks: `(ROW.bookStatus = 'ING')`,
  doneBooks: `(ROW.bookStatus = 'DONE')`,
  finishedBooks: `(ROW.bookStatus = 'DONE' AND ROW.readEndDate IS NOT NULL)`,
  undatedBooks: `(ROW.bookStatus = 'DONE' AND ROW.isStopped = 0 AND ${finishedAt} IS NULL)`,
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

/** With its memos and events: a restored book is inserted with their numbers. */
const wholePrice = `${bookPrice} + ROW.memoBytes + ${NOTE_PRICE} * ROW.memoCount + ${BLOCK_PRICE} * ROW.eventBlocks`
/** What an object counts in the trash, into which the statement before has put it, if at all. */
const trashPrice = (trashId: string) => `coalesce((SELECT bytes FROM trash WHERE trashId = ${trashId}), 0)`
const [bookIn, bookOut] = counted(
  'books',
  { ...STATUS_COUNTERS, memoBooks: 'ROW.hasMemos', textBytes: `(${wholePrice})` },
  {
    textBytes: `(${wholePrice} + coalesce((
    SELECT sum(${readingPrice.replaceAll('ROW.', '')}) FROM readings WHERE memberId = ROW.memberId AND bookId = ROW.bookId
  ), 0) - ${trashPrice('ROW.bookId')})`,
  },
)
const deleteOfBook = (table: string) => `DELETE FROM ${table} WHERE memberId = OLD.memberId AND bookId = OLD.bookId`
/** Whether `ROW` is the past row of a current reading, which \`keep\` has just inserted: blocks.ts. */
const isBeingArchived = `EXISTS (
  SELECT 1 FROM books WHERE bookId = ROW.bookId AND memberId = ROW.memberId AND ${currentId('')} = ROW.readingId
)`
const [left, shown] = [currentId('OLD.'), currentId('NEW.')]

export const ofBooks: Trigger[] = [
  bookIn,
  {
    comment: `Also deletes what has no foreign key (schema/book-tables.ts), once it is counted. For withdrawn members, the purge deletes
      these rows first.`,
    ...bookOut,
    statements: [...bookOut.statements, ...['readings', 'progress', 'bookTags'].map(deleteOfBook)],
  },
  {
    comment: 'Only if a counter changes: other updates of a book write no row of members.',
    name: 'books_recounted',
    after: 'UPDATE OF bookStatus, readEndDate, finishedAt, isStopped, archivedEnd, readingId ON books',
    when: `OLD.bookStatus <> NEW.bookStatus
  OR (OLD.readEndDate IS NULL) <> (NEW.readEndDate IS NULL)
  OR ${changed(STATUS_COUNTERS.undatedBooks)}
  OR ${shown} <> ${left}`,
    statements: [
      `${count('members', STATUS_COUNTERS, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER).replace(
        '\nWHERE',
        `,
  textBytes = textBytes + iif(
    ${shown} <> ${left},
    coalesce((SELECT ${readingPrice.replaceAll('ROW.', '')} FROM readings WHERE readingId = ${left}), 0),
    0
  )
WHERE`,
      )}`,
    ],
  },
  {
    comment:
      'Not if the statement has set it, as that of PATCH does, nor if an import changes the status, or the undo of one.',
    name: 'books_status_changed',
    after: 'UPDATE OF bookStatus ON books',
    when: `NEW.bookStatus <> OLD.bookStatus AND NEW.activityAt IS OLD.activityAt AND NEW.importId IS OLD.importId`,
    statements: [`UPDATE books\nSET activityAt = max(${NOW}, coalesce(activityAt, 0))\nWHERE bookId = NEW.bookId`],
  },
  {
    name: 'books_resized',
    after: `UPDATE OF ${list(bookTexts, 2, 50)} ON books`,
    when: changed(bookTextPrice),
    statements: [count('members', { textBytes: bookTextPrice }, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER)],
  },
]

/** Of each type, the index has the newest one. */
const newestMemo = `max(${list(
  MEMO_TYPES.map(
    (type) => `coalesce((SELECT max(memoId) FROM memos WHERE bookId = OLD.bookId AND memoType = '${type}'), 0)`,
  ),
  4,
)})`

/** Adds assignments to an UPDATE. */
const alsoSet = (update: string, ...assignments: string[]) =>
  update.replace('\nWHERE', `${assignments.map((each) => `,\n  ${each}`).join('')}\nWHERE`)

/** @param activity a further assignment */
const memoIn = (name: string, when: string, activity: string[] = [], comment = ''): Trigger => ({
  comment,
  name,
  after: 'INSERT ON memos',
  when: `${when} AND ${isNotRestored}`,
  statements: [
    `UPDATE members
SET textBytes = textBytes + ${memoPrice.replaceAll('ROW.', 'NEW.')},
  memoBooks = memoBooks + ((SELECT hasMemos FROM books WHERE bookId = NEW.bookId) = 0)
WHERE memberId = NEW.memberId`,
    alsoSet(
      count('books', MEMO_COUNTERS, { add: 'NEW' }, 'bookId = NEW.bookId\n  AND hasMemos = 1'),
      'lastMemoId = max(lastMemoId, NEW.memoId)',
      ...activity,
    ),
    `UPDATE books
SET ${[...valuesOf(MEMO_COUNTERS, 'NEW'), 'hasMemos = 1', 'lastMemoId = NEW.memoId', ...activity].join(',\n  ')}
WHERE bookId = NEW.bookId
  AND hasMemos = 0`,
  ],
})

export const ofMemos: Trigger[] = [
  memoIn(
    'memos_counted_in',
    'NEW.importId IS NULL',
    [
      `activityAt = iif(
    EXISTS (SELECT 1 FROM trash WHERE trashId = -NEW.memoId), activityAt, max(${NOW}, coalesce(activityAt, 0))
  )`,
    ],
    `A further memo updates the book's row and the member's; the first one also sets hasMemos, and so writes an index entry. A
      restored book is inserted with the numbers of its memos.`,
  ),
  memoIn('memos_imported', 'NEW.importId IS NOT NULL'),
  {
    comment: 'Skipped while the book itself is being deleted, since its row is already gone.',
    name: 'memos_counted_out',
    after: 'DELETE ON memos',
    when: 'EXISTS (SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND withdrawnAt IS NULL)',
    statements: [
      `UPDATE members
SET textBytes = textBytes - ${memoPrice.replaceAll('ROW.', 'OLD.')} + ${trashPrice('-OLD.memoId')},
  memoBooks = memoBooks - ((SELECT memoCount FROM books WHERE bookId = OLD.bookId) = 1)
WHERE memberId = OLD.memberId`,
      `UPDATE books
SET ${[...Object.keys(MEMO_COUNTERS), 'hasMemos'].map((name) => `${name} = 0`).join(',\n  ')},
  lastMemoId = NULL
WHERE bookId = OLD.bookId
  AND memoCount = 1`,
      alsoSet(
        count('books', MEMO_COUNTERS, { subtract: 'OLD' }, 'bookId = OLD.bookId\n  AND memoCount > 1'),
        `lastMemoId = iif(lastMemoId = OLD.memoId, ${newestMemo}, lastMemoId)`,
      ),
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

const fileCounters = {
  imageBytes: '(ROW.bytes + ROW.missingBytes)',
  textBytes: `${BLOCK_PRICE} * (ROW.sittings / ${PRICED_ROWS})`,
}
export const ofStatistics: Trigger[] = [
  ...counted('statisticsFiles', fileCounters),
  {
    name: 'statisticsFiles_recounted',
    after: 'UPDATE OF bytes, missingBytes, sittings ON statisticsFiles',
    when: Object.values(fileCounters).map(changed).join('\n  OR '),
    statements: [count('members', fileCounters, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER)],
  },
]

export const ofKeys = counted('idempotencyKeys', { keyCount: '1' })

const [readingIn, readingOut] = counted('readings', { textBytes: readingPrice })
export const ofReadings: Trigger[] = [
  {
    comment: `Of an archived reading, the price is counted once the book shows another one, with the counters of its status.`,
    ...readingIn,
    when: `NOT ${isBeingArchived.replaceAll('ROW.', 'NEW.')}`,
  },
  {
    comment: 'Skipped while the book itself is being deleted.',
    ...readingOut,
    when: 'EXISTS (SELECT 1 FROM books WHERE bookId = OLD.bookId)',
  },
  {
    name: 'readings_resized',
    after: 'UPDATE OF note ON readings',
    when: changed(readingPrice),
    statements: [count('members', { textBytes: readingPrice }, { subtract: 'OLD', add: 'NEW' }, OF_MEMBER)],
  },
]

const [, trashOut] = counted('trash', { textBytes: 'ROW.bytes' })
export const ofTrash: Trigger[] = [
  {
    ...trashOut,
    statements: [
      ...trashOut.statements,
      'DELETE FROM trashParts WHERE memberId = OLD.memberId AND bookId = OLD.trashId',
    ],
  },
]

const blocksOf = (rows: string) => `(${rows} / ${PRICED_ROWS})`
export const ofTags: Trigger[] = [
  {
    comment:
      'Counts a further twenty, and none less until the tag is deleted: taking a tag from a book writes no row of members.',
    name: 'tags_priced',
    after: 'UPDATE OF bookCount ON tags',
    when: `${blocksOf('NEW.bookCount')} > NEW.blocks`,
    statements: [
      `UPDATE members
SET textBytes = textBytes + ${BLOCK_PRICE} * (${blocksOf('NEW.bookCount')} - NEW.blocks)
WHERE memberId = NEW.memberId`,
      `UPDATE tags
SET blocks = ${blocksOf('NEW.bookCount')}
WHERE memberId = NEW.memberId AND tagId = NEW.tagId`,
    ],
  },
  {
    name: 'tags_unpriced',
    after: 'DELETE ON tags',
    when: 'OLD.blocks > 0',
    statements: [count('members', { textBytes: `${BLOCK_PRICE} * ROW.blocks` }, { subtract: 'OLD' }, OF_FORMER_MEMBER)],
  },
]

/** Sets the blocks of a book, and adds the difference in price to the member's row. */
const setBlocks = (blocks: string, row: 'OLD' | 'NEW') => [
  `UPDATE members
SET textBytes = textBytes + ${BLOCK_PRICE} * (${blocks} - (SELECT eventBlocks FROM books WHERE bookId = ${row}.bookId))
WHERE memberId = ${row}.memberId`,
  `UPDATE books
SET eventBlocks = ${blocks}
WHERE bookId = ${row}.bookId`,
]
export const ofProgress: Trigger[] = [
  {
    name: 'progress_priced',
    after: 'UPDATE OF total ON progress',
    when: `EXISTS (SELECT 1 FROM books WHERE bookId = NEW.bookId AND eventBlocks <> ${blocksOf('NEW.total')})`,
    statements: setBlocks(blocksOf('NEW.total'), 'NEW'),
  },
  {
    comment: 'Without events, none has their number.',
    name: 'progress_unpriced',
    after: 'DELETE ON progress',
    when: `EXISTS (
    SELECT 1 FROM books JOIN members USING (memberId) WHERE bookId = OLD.bookId AND eventBlocks > 0 AND withdrawnAt IS NULL
  )
  AND NOT EXISTS (SELECT 1 FROM progress WHERE memberId = OLD.memberId AND bookId = OLD.bookId)`,
    statements: setBlocks('0', 'OLD'),
  },
]
