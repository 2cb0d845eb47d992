// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are code
// The building blocks of readings, each broken in the real code:
// npm run mutate -- --list test/attacks/data/reading-mutations.ts
import { readFileSync } from 'node:fs'
import type { Mutation } from './sync-mutations.ts'

export const tests = ['readings', 'merge', 'many-books'].map((name) => `test/features/books/${name}.test.ts`)

const BLOCKS = 'src/library/readings/blocks.ts'
const CHANGE = 'src/library/readings/change.ts'
const STATUS = 'src/library/books/status.ts'
const MERGE = 'src/library/books/merge.ts'
const SCHEMA = 'migrations/0000_schema.sql'

const one = (rule: string, file: string, from: string, to: string): Mutation => ({ rule, edits: [[file, from, to]] })

const [view = ''] = /CREATE VIEW `currentReadings` AS [^;]*/.exec(readFileSync(SCHEMA, 'utf8')) ?? []
/** Changes what the view of current readings shows. */
const showing = (rule: string, from: string | RegExp, to: string) => one(rule, SCHEMA, view, view.replace(from, to))

export const mutations: Mutation[] = [
  one(
    'a book that is opened keeps its reading',
    STATUS,
    'keep(books, sql`c.outcome is not null and ${hasRoom}`)',
    'keep(books, sql`false`)',
  ),
  one('a book that is put back keeps its reading', STATUS, 'keep(books, hasRoom)', 'keep(books, sql`false`)'),
  one(
    'an open reading of which no more is known ends without a trace',
    STATUS,
    'return [discard(books, sql`not ${isRefined()}`), keep',
    'return [keep',
  ),
  one(
    'a kept reading keeps its note, format and stars',
    BLOCKS,
    'c.quarters, c.format, c.note',
    'c.quarters, null, null',
  ),
  one('a renewed reading is blank', BLOCKS, 'readingSince = ${now}, ${CLEAR}', 'readingSince = ${now}'),
  one(
    'a renewed reading has an identifier of its own',
    BLOCKS,
    'readingId = ${lastReadingId} + place, readingSince = ${now},',
    'readingSince = ${now},',
  ),
  one('so has each that follows a discarded one', BLOCKS, '+ place, readingSince = 0', '+ 1, readingSince = 0'),
  one(
    'dates of the archived reading are not those of the next one',
    BLOCKS,
    'archivedStart = substr(books.readStartDate, 1, 10),',
    '',
  ),
  one('a mistake undone leaves one reading', STATUS, "books.bookStatus <> 'DONE' and ${isSame}", 'false'),
  one('a stopped reading stays stopped when the book is finished later', STATUS, ' and ${isToBeFinished}`', '`'),
  one('the deleted current reading makes room for the newest', CHANGE, '[promoteNext, clearBook,', '[clearBook,'),
  one(
    'the newest of the past readings is promoted',
    BLOCKS,
    "(finishedAt, startedAt, '') desc, readingId desc",
    "(finishedAt, startedAt, '') asc, readingId desc",
  ),
  one(
    'a later past reading changes places with the current one',
    CHANGE,
    '...settle(changed',
    '...settle(sql`select null`',
  ),
  one(
    'a promoted reading brings its stars',
    BLOCKS,
    'star = coalesce(${starsOf(quarters)}, books.star)',
    'star = books.star',
  ),
  one(
    'deleting the archived reading uncovers the dates of the book',
    CHANGE,
    '[promoteNext, clearBook, forgetArchived,',
    '[promoteNext, clearBook,',
  ),
  showing(
    'quarters count while they round to the stars',
    'iif(max(1, (quarters + 2) >> 2) = star',
    'iif(quarters IS NOT NULL',
  ),
  showing(
    'a stopped reading is finished when the book gets an end',
    /isStopped AND nullif\([^)]*\), archivedEnd\) IS NULL/,
    'isStopped',
  ),
  one(
    'a merge moves past readings',
    MERGE,
    'update readings set bookId = targetId from pair',
    'update readings set bookId = bookId from pair',
  ),
  one(
    'a merge into an open book stops the other open reading',
    MERGE,
    "(${isOpen('targetId')} and ${isRefinedInSource})",
    'false',
  ),
  one(
    'a merge keeps the ended reading that an open one replaces',
    MERGE,
    "c.outcome is not null and ${isOpen('sourceId')}",
    'false',
  ),
  one('a merge takes the open reading', MERGE, "books.bookStatus <> 'ING' and c.outcome is null", 'false'),
]
