import { fieldsOf } from '../../src/values/book-fields.ts'
import { list, type Trigger } from './sql.ts'

/** The codes of CHANGE_KINDS in src/db/schema/sync-tables.ts. */
const KINDS = { book: 1, memo: 2, tag: 3, reading: 4 }
type Kind = keyof typeof KINDS

/** No OR REPLACE, which an OR IGNORE of the outer statement would override. */
const log = (kind: Kind, row: 'OLD' | 'NEW', id: string, condition = '') => `
INSERT INTO changes (memberId, seq, kind, id, proof)
SELECT memberId, seq + 1, ${KINDS[kind]}, ${row}.${id}, random() & 0xFFFFFFFFFFFF FROM changes
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
const logged = ({ table, kind, id, isOfBook = false, columns = [], comment }: Logged): Trigger[] => {
  const update: Trigger = {
    comment,
    name: `${table}_update_logged`,
    after: `UPDATE OF ${list(columns, 2, 60)} ON ${table}`,
    when: isChanged(columns),
    statements: [log(kind, 'NEW', id)],
  }
  return [
    { name: `${table}_insert_logged`, after: `INSERT ON ${table}`, statements: [log(kind, 'NEW', id)] },
    ...(columns.length > 0 ? [update] : []),
    {
      name: `${table}_delete_logged`,
      after: `DELETE ON ${table}`,
      statements: [log(kind, 'OLD', id, isOfBook ? WITH_BOOK : '')],
    },
  ]
}

const [bookInserted, bookUpdated, bookDeleted] = logged({
  table: 'books',
  kind: 'book',
  id: 'bookId',
  columns: fieldsOf('log'),
  comment: `Not currentPage: each change of it adds or updates a progress event. Not the counters, nor newestReadingId.`,
}) as [Trigger, Trigger, Trigger]

const NEW_READING = `
  AND NEW.newestReadingId IS NULL AND NEW.bookStatus <> 'YET'`

export const changeLog: Trigger[] = [
  {
    name: 'changes_limited',
    after: 'INSERT ON changes',
    when: 'NEW.seq > 20000 AND NEW.seq % 100 = 0',
    statements: ['DELETE FROM changes\nWHERE memberId = NEW.memberId AND seq <= NEW.seq - 20000'],
  },
  {
    ...bookInserted,
    comment: 'A book without rows in readings has one reading nevertheless, unless it is YET.',
    statements: [...bookInserted.statements, log('reading', 'NEW', 'bookId', NEW_READING)],
  },
  bookUpdated,
  {
    comment: `If the reading of a finished book gets a row, that is logged instead. An undo of an import, which increments readingVersion,
      gives it none.`,
    name: 'books_reading_logged',
    after: 'UPDATE OF bookStatus, readStartDate, readEndDate, star ON books',
    when: `NEW.newestReadingId IS NULL AND OLD.newestReadingId IS NULL
  AND (
    NEW.bookStatus = 'DONE' OR NEW.readingVersion <> OLD.readingVersion
    OR (OLD.bookStatus <> 'DONE' AND 'ING' IN (NEW.bookStatus, OLD.bookStatus))
  )
  AND ${isChanged(['bookStatus', 'readStartDate', 'readEndDate', 'star'])}`,
    statements: [log('reading', 'NEW', 'bookId')],
  },
  bookDeleted,
  ...logged({ table: 'bookTags', kind: 'book', id: 'bookId', isOfBook: true }),
  ...logged({ table: 'progress', kind: 'book', id: 'bookId', isOfBook: true, columns: ['page'] }),
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
  ...logged({
    table: 'readings',
    kind: 'reading',
    id: 'readingId',
    isOfBook: true,
    columns: ['bookId', 'startedAt', 'finishedAt', 'outcome', 'quarters', 'format', 'note', 'isPaused'],
  }),
]
