import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  MAX_DOCUMENTS,
  MAX_EVENTS,
  MAX_MEMBER_TEXT_BYTES,
  MAX_POSITIONS,
  PRICED_ROWS,
} from '../../src/values/prices.ts'
import { changeLog } from './change-log.ts'
import {
  isNotRestored,
  ofBooks,
  ofImages,
  ofKeys,
  ofMemos,
  ofProgress,
  ofReadings,
  ofStatistics,
  ofTags,
  ofTrash,
} from './counters.ts'
import { type Trigger, toSql } from './sql.ts'

const VALUES: Record<string, number | string> = {
  MAX_DOCUMENTS,
  MAX_POSITIONS,
  MAX_EVENTS,
  MAX_MEMBER_TEXT_BYTES,
  PRICED_ROWS,
  IS_NOT_RESTORED: isNotRestored,
}
/** Triggers that are like no others. */
const readSql = (name: string) =>
  readFileSync(join(import.meta.dirname, `${name}.sql`), 'utf8')
    .trim()
    .replaceAll(/:([A-Z_]+)/g, (_, value: string) => String(VALUES[value]))

const highest = (table: string, id: string, where = '') => `(SELECT coalesce(max(${id}), 0) FROM ${table}${where})`

/** Stores an identifier when its row is deleted, if it was the highest: it must not be used again. */
const retired = (name: string, after: string, table: string, id: string, others: string[] = []): Trigger => ({
  name,
  after,
  when: [...others, `OLD.${id} > ${highest(table, id)}`].join(' AND '),
  statements: [
    `INSERT OR REPLACE INTO retiredIds (tableName, id)
SELECT '${table}', max(OLD.${id}, coalesce((SELECT id FROM retiredIds WHERE tableName = '${table}'), 0))`,
  ],
})
const retiredReading = (name: string, after: string): Trigger =>
  // Identifiers of books are never given to readings.
  retired(name, after, 'readings', 'readingId', [
    'OLD.readingId <> OLD.bookId',
    `OLD.readingId > ${highest('books', 'readingId', ' WHERE readingId IS NOT NULL')}`,
  ])

const section = (comment: string, triggers: Trigger[]) =>
  [comment.trim().replaceAll(/^ *(?=.)/gm, '-- '), ...triggers.map(toSql)].join('\n\n')

/** The text of triggers.sql: all triggers of the database. */
export const writeTriggers = () =>
  `${[
    section(
      `Written by \`npm run db -- generate\` from scripts/triggers. The triggers run in the transaction of the write itself, and for
      rows deleted by a cascade too. A migration has each on one line, because remote D1 splits it on semicolons
      (cloudflare/workers-sdk issues 14991 and 15690). It also ends a trigger at the END of a CASE (issue 4727), hence iif, which
      takes further conditions, each with its value, before the last value.

      The purge of a withdrawn member deletes rows in batches. It needs no counters, so the triggers that count skip it. It deletes
      changes and tags first (src/accounts/members/purge.ts), so that their triggers have nothing to write.`,
      [],
    ),
    section(
      'Counters of a member: the totals of /books/library, /books/calender and /books/memo-books, and the bytes of all texts.',
      ofBooks,
    ),
    section(
      'Memo counters of a book, and hasMemos, which the index books_with_memos is on. Memos also count in the row of the member.',
      ofMemos,
    ),
    section('The bytes of the trash, which the triggers of books and memos have added.', ofTrash),
    section('Images of a member: their number and bytes.', ofImages),
    section(
      'The file of reading statistics of a member: its bytes count as those of images, its sittings as rows.',
      ofStatistics,
    ),
    section('The number of idempotency keys of a member, which has a limit.', ofKeys),
    section('Prices of readings, of tags of books, and of progress events, which count as text of the member.', [
      ...ofReadings,
      ...ofTags,
      ...ofProgress,
    ]),
    section(
      `The highest deleted identifiers, so that none is reused. Unlike AUTOINCREMENT, this writes a row only when the newest row is
      deleted, not on every insert.`,
      [
        retired('books_id_retired', 'DELETE ON books', 'books', 'bookId'),
        retired('memos_id_retired', 'DELETE ON memos', 'memos', 'memoId'),
        retiredReading('readings_id_retired', 'DELETE ON readings'),
        retiredReading('books_reading_retired', 'UPDATE OF readingId ON books'),
        retiredReading('books_last_reading_retired', 'DELETE ON books'),
      ],
    ),
    readSql('library'),
    readSql('progress'),
    readSql('accounts'),
    readSql('devices'),
    section(
      `The log of changes. While a member's log is empty, these write nothing. An entry says that an object has changed: its value is
      its row, or none once it is deleted. No OR REPLACE, which an OR IGNORE of the outer statement would override.

      Rows that are deleted because their book is get no entry: clients delete them with the book. That condition refers to the log,
      so that it reads nothing if the log is empty.`,
      changeLog,
    ),
  ].join('\n\n')}\n`
