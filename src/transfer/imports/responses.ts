import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { IMPORT_OUTCOMES, IMPORT_STATUSES, MAX_NAME, MERGE_RULES } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Id, Instant, listUpTo, pageOf, textUpTo } from '../../values/responses'
import {
  COLUMN_KINDS,
  type Code,
  FORMATS,
  MAX_COLUMN_NAME,
  MAX_ROWS,
  MAX_SAMPLE,
  MAX_SAMPLES,
  MAX_UNKNOWN_COLUMNS,
  MAX_UNREAD_COLUMNS,
  REPORT_CODES,
} from '../entries/entry'
import { MAX_FILE_NAME, MAX_FILES_PER_DAY, MAX_KEPT, MAX_LISTED_OF_DEVICES, MAX_PER_DAY } from './schema'

const ImportCode = named('ImportCode', z.enum(Object.keys(REPORT_CODES) as Code[]))

const UnreadColumn = namedObject('UnreadColumn', {
  column: textUpTo(MAX_COLUMN_NAME),
  looksLike: named('ColumnKind', z.enum(COLUMN_KINDS)),
  samples: listUpTo(MAX_SAMPLES, textUpTo(MAX_SAMPLE)),
})

export const Import = namedObject('Import', {
  importId: Id,
  tokenId: z.nullable(z.uuid()),
  fileName: z.nullable(textUpTo(MAX_FILE_NAME)),
  status: named('ImportStatus', z.enum(IMPORT_STATUSES)),
  format: named('ImportFormat', z.enum(FORMATS)),
  dryRun: z.boolean(),
  merge: named('MergeRule', z.enum(MERGE_RULES)),
  encoding: textUpTo(40),
  unknownColumns: listUpTo(MAX_UNKNOWN_COLUMNS, textUpTo(MAX_COLUMN_NAME)),
  unreadColumns: listUpTo(MAX_UNREAD_COLUMNS, UnreadColumn),
  createdAt: Instant,
  rows: Int32,
  counts: namedObject('ImportCounts', {
    created: Int32,
    updated: Int32,
    unchanged: Int32,
    skipped: Int32,
    failed: Int32,
  }),
  reason: z.nullable(textUpTo(1000)),
})
export type Import = z.infer<typeof Import>

const ImportLoss = namedObject('ImportLoss', { code: ImportCode, field: z.string(), count: z.optional(Int32) })
const ImportChange = namedObject('ImportChange', {
  field: z.string(),
  from: z.nullable(z.string()),
  to: z.nullable(z.string()),
})
const SimilarBook = namedObject('SimilarBook', { bookId: Id, title: textUpTo(MAX_NAME) })

export const ImportRow = namedObject('ImportRow', {
  line: Int32,
  title: z.nullable(z.string()),
  outcome: named('ImportOutcome', z.enum(IMPORT_OUTCOMES)),
  code: z.nullable(ImportCode),
  losses: z.array(ImportLoss),
  changes: z.array(ImportChange),
  bookId: z.nullable(Id),
  similarTo: z.nullable(SimilarBook),
})
export type ImportRow = z.infer<typeof ImportRow>

export const KeptBook = namedObject('KeptBook', { bookId: Id, title: textUpTo(MAX_NAME), left: z.array(z.string()) })
export const UndoneImport = namedObject('UndoneImport', {
  removed: Int32,
  restored: Int32,
  kept: listUpTo(MAX_ROWS, KeptBook),
})
export type UndoneImport = z.infer<typeof UndoneImport>

export const importsReference: FeatureReference = {
  tag: 'Import',
  schemas: {
    ColumnKind: 'What the values of a column look like.',
    Import: 'The import of a file.',
    ImportCode:
      'Why a row was not imported, or what of it could not be kept.\n\n' +
      Object.entries(REPORT_CODES)
        .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
        .join('\n'),
    ImportChange: 'What a row changes in a book of the library.',
    ImportCounts: 'How many rows had each outcome so far.',
    ImportFormat:
      'Format of an imported file: the service or device that wrote it, `library` for an export of this service, or `csv` for any other table.',
    ImportLoss: 'A value that was changed or dropped.',
    ImportOutcome:
      'Result of importing a row.\n\n- `created`: a new book\n- `updated`: something was added to a book of the library\n- `unchanged`: the library has it already\n- `skipped`: left out, or added to an earlier row, because it repeats or may repeat another row or a book\n- `failed`: cannot be imported as it is',
    ImportRow: 'Result of importing a row of the file.',
    ImportRowPage: 'A page of the report of an import.',
    ImportStatus:
      'State of an import.\n\n- `RUNNING`: at work\n- `DONE`: every row has an outcome\n- `FAILED`: stopped or cancelled: `reason` says why',
    KeptBook: 'A book that was not removed, and what of the import or the device stays in it.',
    MergeRule:
      'What happens with books that are here already.\n\n- `fill`: only what is empty is filled\n- `overwrite`: file values replace stored ones',
    SimilarBook: 'A book of the library that may be the same.',
    UnreadColumn: 'A column that is not imported, although it looks like a status, a rating or a date.',
    UndoneImport: 'What undoing an import removed, restored and kept.',
  },
  ownProperties: {
    code: 'Why the row was not imported, or null.',
    'ImportLoss.code': 'What happened to it.',
    changes:
      'What the row changes in a book that is here already, in a dry run too. Columns of the book with their values, `readings`, `tags`, `memos` ' +
      'and `progress` with their numbers, and `memo: ` with a column or highlight of the file, whose text replaces the one of an earlier import.',
    columns:
      'For tables of unknown services: a JSON object with the column of each field, such as `{"title": "책 이름"}`. At most 200.',
    count:
      'How many losses this one stands for: highlights whose texts stay or, if `field` is `more`, the losses beyond those that are listed.',
    counts: 'How many rows had each outcome so far.',
    created: 'Rows that became new books.',
    dryRun: 'Whether nothing but the report is written.',
    encoding: 'The encoding with which the file was read.',
    failed: 'Rows that could not be imported.',
    field:
      'The column or property of the file; for a shelf, with its name, such as `Exclusive Shelf: abandoned`; for an ambiguous date, with the dates that it can be. For highlights, their location, line or entry in the file.',
    'ImportChange.field': 'What is changed.',
    from: 'The value before, as text. For a replaced text, its beginning.',
    to: 'The value after, like `from`.',
    'startImport.file': 'The file to import, as a part with a file name. At most 10 MiB and 10,000 rows.',
    fileName:
      'The name of the file that a device sent, or `highlights` if it posted highlights. Null if you started the import.',
    format: 'The format of the file.',
    importId: 'Identifier of the import.',
    kept: 'The books that stay, because they were here before or were changed since.',
    left:
      'What stays, because it was changed since: fields, `memos`, `tags`, `history` for status, dates, readings and progress, which are only restored ' +
      'together; or `all`: a book that the import created.',
    line: 'The line of the file where the row begins, counted from 1. In JSON, the number of the item.',
    losses: 'The values of the row that were changed or dropped.',
    merge: 'What happens with books that are here already.',
    outcome: 'Result of importing the row.',
    'ImportRow.bookId': 'The book of the row. Null if it has none, or not yet: a dry run creates no books.',
    reason: 'Why the import failed, for its reader, or null.',
    removed: 'Number of books removed.',
    restored: 'Number of books that were here before and lost all that the import had added or replaced.',
    rows: 'Rows of the file.',
    shelfMap:
      'A JSON object with the meaning of shelves by name: `YET`, `ING`, `DONE`, `STOPPED`, `PAUSED`, or `TAG` for a tag only. At most 200.',
    similarTo:
      'With `possible-duplicate`, the book that it may be: `mergeBooks` merges two. Null if it was deleted since.',
    skipped:
      'Rows that were left out, or added to earlier ones, because they repeat or may repeat another row or a book.',
    status: 'State of the import.',
    tokenId:
      'The access token of the device that sent the file, which may be deleted since. Null if you started the import.',
    'ImportRow.title': 'The title in the file, or null.',
    unchanged: 'Rows that the library has already.',
    updated: 'Rows that added something to a book of the library.',
    'UnreadColumn.column': 'The name of the column.',
    looksLike: 'What its name or most of its values look like.',
    samples: 'Its first distinct values.',
    unreadColumns:
      'Those of `unknownColumns` that look like a status, a rating or a date, up to 20. Do a dry run first, and map them with `columns` to import them.',
    unknownColumns:
      'Columns of the file that are not imported, because the format does not know them. Of an export of this service: `goals` or `member.timeZone` if not all of it could be read.',
  },
  parameters: {
    dryRun: 'Whether to write nothing but the report: `true` or `false`.',
    encoding:
      'The encoding of the file, such as `euc-kr`, unless it is UTF-16 or valid UTF-8. Detected if absent; if that is not certain, the error names encodings with samples.',
    format: 'The format of the file. Detected if absent.',
    from: 'Which imports: `member` lists those that you started, `devices` those of files that devices sent.',
    'import-id': 'Identifier of the import.',
    keepVisibility:
      'Whether memos that the file marks as public are added as such: `true` or `false`. Your links to memos then show them to everyone.',
    merge:
      'What to do with books that are here already: `fill` fills only what is empty; with `overwrite`, file values replace stored ones.',
    outcome: 'Only rows with this outcome. `ALL` lists all.',
  },
  operations: {
    'POST /imports': {
      operationId: 'startImport',
      summary: 'Import a file',
      description:
        'Adds the books of a file to your library: a file of another service or a reading device, or an export of this service. ' +
        'The format is detected from the content. Books that the library already has are completed; importing the same file ' +
        'again changes nothing. Of an export of this service, goals of years without one are set, too, and with a session a ' +
        'time zone that you lack; with `merge=overwrite`, all of them. Neither a dry run nor an undo changes these. With `dryRun=true`, only the report is written. The file may have up to 10 MiB and 10,000 rows; ' +
        'send it as the form part `file` or as the request body. ' +
        `One import of yours runs at a time, after those of your devices that came before, and ${MAX_PER_DAY} may start in 24 hours, besides dry runs. In the same time, ${MAX_FILES_PER_DAY} files ` +
        'are read, also those that are refused. Poll `getImport` until `status` is not `RUNNING`: ' +
        'a large import also continues with these requests.',
      responses: { 202: json(Import, 'The import', 'Location') },
      errors: ['FILE_NOT_IMPORTABLE', 'IMPORT_RUNNING', 'TOO_MANY_REQUESTS'],
    },
    'GET /imports': {
      operationId: 'listImports',
      summary: 'List your imports',
      description:
        `Newest first: the last ${MAX_KEPT} imports and the last ${MAX_KEPT} dry runs of the last 30 days. With ` +
        `\`from=devices\`, the last ${MAX_LISTED_OF_DEVICES} imports of files and highlights that your devices sent, of all devices ` +
        'together: they do not count towards your limits, and can be undone in the same way. A file that was refused, or sent before, is not listed.',
      responses: { 200: json(listUpTo(MAX_LISTED_OF_DEVICES, Import), 'The imports') },
    },
    'GET /imports/{import-id}': {
      operationId: 'getImport',
      summary: 'Get an import',
      description:
        '`counts` grow while it runs. An import that was interrupted continues; after ten failed attempts it becomes `FAILED`, and `reason` says why.',
      responses: { 200: json(Import, 'The import') },
    },
    'GET /imports/{import-id}/rows': {
      operationId: 'listImportRows',
      summary: 'List the result of importing each row',
      description:
        'In the order of the file. `code` says why a row was not imported, `losses` what of it could not be kept, `changes` what it changes in a book.',
      responses: { 200: json(pageOf(ImportRow), 'A page of rows') },
    },
    'GET /imports/{import-id}/failed.csv': {
      operationId: 'getFailedRows',
      summary: 'Get the rows that failed',
      description:
        'A CSV file with the columns of the file, to correct and import again. For files that are not tables, it has only ' +
        'the books without a title: if other books failed, import the file again.',
      responses: {
        200: { description: 'The rows', content: { 'text/csv': z.string() }, headers: ['Content-Disposition'] },
      },
    },
    'DELETE /imports/{import-id}': {
      operationId: 'undoImport',
      summary: 'Undo an import',
      description:
        'Cancels the import if it is running, and removes the books that it created and that were not changed since. In other ' +
        'books, what it replaced comes back and what it added is removed, unless that was changed since. These are listed. If several imports changed the same book, undo the newest first: a ' +
        'later one counts as a change.',
      responses: { 200: json(UndoneImport, 'What was removed, restored and kept') },
      errors: ['MAX_MEMBER_TEXT_BYTES'],
    },
  },
}
