import { currentId, READING_COLUMNS, shownReading } from '../../src/db/schema/shown-reading.ts'
import { fieldsOf } from '../../src/values/book-fields.ts'
import { isNotRestored } from './counters.ts'
import { list, type Trigger } from './sql.ts'

/** The codes of CHANGE_KINDS in src/db/schema/sync-tables.ts. */
const KINDS = { book: 1, memo: 2, tag: 3, reading: 4 }
type Kind = keyof typeof KINDS

/** No OR REPLACE, which an OR IGNORE of the outer statement would override. */
const log = (kind: Kind, row: 'OLD' | 'NEW', id: string, condition = '') => `
INSERT INTO changes (memberId, seq, kind, id, proof)
SELECT memberId, seq + 1, ${KINDS[kind]}, ${id}, random() & 0xFFFFFFFFFFFF FROM changes
WHERE memberId = ${row}.memberId${condition}
ORDER BY seq DESC LIMIT 1`

/** The condition refers to the log, so that it reads nothing if the log is empty. */
const WITH_BOOK = '\n  AND EXISTS (SELECT 1 FROM books WHERE books.bookId = OLD.bookId AND changes.seq > 0)'

type Logged = {
  table: string
  kind: Kind
  id: string
  /** Whether a client that deletes the book deletes the object with it. */
  isOfBook?: boolean
  /** The columns that the feed shows. None: rows are only inserted and deleted. */
  columns?: string[]
  comment?: string
  /** Which insertions and deletions are logged, if not all. */
  whenInserted?: string
  whenDeleted?: string
}

const isChanged = (columns: string[]) => {
  const [only, ...others] = columns
  if (others.length === 0) return `NEW.${only} <> OLD.${only}`
  const of = (row: string, at: number) =>
    `(${list(
      columns.map((name) => `${row}.${name}`),
      at,
    )})`
  return `${of('NEW', 6)}\n  IS NOT ${of('OLD', 10)}`
}

/** Logs each change of the rows of a table. */
const logged = (options: Logged): Trigger[] => {
  const { table, kind, id, isOfBook = false, columns = [], comment, whenInserted, whenDeleted } = options
  const update: Trigger = {
    comment,
    name: `${table}_update_logged`,
    after: `UPDATE OF ${list(columns, 2, 60)} ON ${table}`,
    when: isChanged(columns),
    statements: [log(kind, 'NEW', `NEW.${id}`)],
  }
  return [
    {
      name: `${table}_insert_logged`,
      after: `INSERT ON ${table}`,
      when: whenInserted,
      statements: [log(kind, 'NEW', `NEW.${id}`)],
    },
    ...(columns.length > 0 ? [update] : []),
    {
      name: `${table}_delete_logged`,
      after: `DELETE ON ${table}`,
      when: whenDeleted,
      statements: [log(kind, 'OLD', `OLD.${id}`, isOfBook ? WITH_BOOK : '')],
    },
  ]
}

const [bookInserted, bookUpdated, bookDeleted] = logged({
  table: 'books',
  kind: 'book',
  id: 'bookId',
  columns: fieldsOf('log'),
  comment: `Not currentPage: each change of it adds or updates a progress event. Not the counters.`,
}) as [Trigger, Trigger, Trigger]

/** What the feed shows of a reading. */
const { createdAt: _, ...OLD_VALUES } = shownReading('OLD.')
const VALUES = Object.keys(OLD_VALUES)
const pastValues = (row: string) => VALUES.map((name) => (name === 'isPaused' ? '0' : `${row}.${name}`)).join(', ')
/** In a trigger on books, the view has the new values. */
const newValues = `(SELECT ${VALUES.join(', ')} FROM currentReadings WHERE bookId = NEW.bookId)`
const [LEFT, SHOWN] = [currentId('OLD.'), currentId('NEW.')]

// A reading that moves between its book and `readings` is in both meanwhile. One that becomes a past reading is not logged if
// both show the same. One that becomes the current reading is: a first sync may be past the phase that now has it.
const ofReadings: Trigger[] = [
  {
    name: 'books_reading_left',
    after: 'UPDATE OF bookStatus, readingId ON books',
    when: `OLD.bookStatus <> 'YET'
  AND (NEW.bookStatus = 'YET' OR ${SHOWN} <> ${LEFT})
  AND NOT EXISTS (SELECT 1 FROM readings WHERE readingId = ${LEFT})`,
    statements: [log('reading', 'OLD', LEFT)],
  },
  {
    comment: `Also deletes the past row of a reading that has become the current one: the order of two triggers is undefined. The conditions
      refer to the log, so that they read nothing if it is empty.`,
    name: 'books_reading_changed',
    after: `UPDATE OF ${list([...READING_COLUMNS], 2, 60)} ON books`,
    when: `NEW.bookStatus <> 'YET'`,
    statements: [
      log(
        'reading',
        'NEW',
        SHOWN,
        `
  AND changes.seq > 0
  AND (OLD.bookStatus = 'YET' OR (
    ${Object.values(OLD_VALUES).join(',\n    ')}
  ) IS NOT ${newValues})`,
      ),
      `DELETE FROM readings
WHERE readingId = ${SHOWN}
  AND ${SHOWN} <> ${LEFT}`,
    ],
  },
  ...logged({
    table: 'readings',
    kind: 'reading',
    id: 'readingId',
    isOfBook: true,
    columns: ['bookId', 'startedAt', 'finishedAt', 'outcome', 'quarters', 'format', 'note'],
    whenInserted: `NOT EXISTS (
  SELECT 1 FROM currentReadings WHERE bookId = NEW.bookId
    AND (${VALUES.join(', ')})
      IS (${pastValues('NEW')})
)`,
    whenDeleted: `NOT EXISTS (SELECT 1 FROM currentReadings WHERE bookId = OLD.bookId AND readingId = OLD.readingId)`,
  }),
]

export const changeLog: Trigger[] = [
  {
    name: 'changes_limited',
    after: 'INSERT ON changes',
    when: 'NEW.seq > 20000 AND NEW.seq % 100 = 0',
    statements: ['DELETE FROM changes\nWHERE memberId = NEW.memberId AND seq <= NEW.seq - 20000'],
  },
  {
    ...bookInserted,
    statements: [...bookInserted.statements, log('reading', 'NEW', SHOWN, `\n  AND NEW.bookStatus <> 'YET'`)],
  },
  bookUpdated,
  bookDeleted,
  // The entry of a restored book is enough.
  ...logged({ table: 'bookTags', kind: 'book', id: 'bookId', isOfBook: true, whenInserted: isNotRestored }),
  ...logged({
    table: 'progress',
    kind: 'book',
    id: 'bookId',
    isOfBook: true,
    columns: ['page'],
    whenInserted: isNotRestored,
  }),
  ...logged({
    table: 'memos',
    kind: 'memo',
    id: 'memoId',
    isOfBook: true,
    comment: 'Not the position.',
    columns: [
      ...['bookId', 'memoType', 'memoContent', 'memoBookPage', 'memoAuthority', 'memoLikesCount', 'createdAt'],
      ...['updatedAt', 'version'],
    ],
  }),
  ...logged({
    table: 'tags',
    kind: 'tag',
    id: 'tagId',
    comment: 'Not bookCount, nor the keys that a merge exchanges.',
    columns: ['tag'],
  }),
  ...ofReadings,
  {
    comment: 'What devices have read of a book.',
    name: 'documents_read_logged',
    after: 'UPDATE OF seconds ON documents',
    when: 'NEW.seconds <> OLD.seconds AND NEW.bookId IS NOT NULL',
    statements: [log('book', 'NEW', 'NEW.bookId')],
  },
  {
    comment: 'Of a book in the trash, the entry has no value.',
    name: 'documents_link_logged',
    after: 'UPDATE OF bookId ON documents',
    when: 'NEW.bookId IS NOT OLD.bookId AND NEW.seconds > 0',
    statements: [
      log('book', 'OLD', 'OLD.bookId', '\n  AND OLD.bookId IS NOT NULL'),
      log('book', 'NEW', 'NEW.bookId', '\n  AND NEW.bookId IS NOT NULL'),
    ],
  },
]
