import * as z from 'zod/mini'
import { Import, ImportRow, UndoneImport } from '../../../transfer/imports/responses'
import { MAX_FILES_PER_DAY, MAX_KEPT, MAX_PER_DAY } from '../../../transfer/imports/schema'
import { pageOf } from '../../../values/responses'
import { json, type Operations } from '../operation'

export const importsOperations: Operations = {
  'POST /imports': {
    operationId: 'startImport',
    summary: 'Import a file',
    description:
      'Adds the books of a file to your library: a file of another service or a reading device, or an export of this service. ' +
      'The format is detected from the content. Books that the library already has are completed; importing the same file ' +
      'again changes nothing. With `dryRun=true`, only the report is written. The file may have up to 10 MiB and 10,000 rows; ' +
      'send it as the form part `file` or as the request body. ' +
      `One import runs at a time, and ${MAX_PER_DAY} may start in 24 hours. In the same time, ${MAX_FILES_PER_DAY} files ` +
      'are read, also those that are refused. Poll `getImport` until `status` is not `RUNNING`: ' +
      'a large import also continues with these requests.',
    responses: { 202: json(Import, 'The import', 'Location') },
    errors: ['FILE_NOT_IMPORTABLE', 'IMPORT_RUNNING', 'TOO_MANY_REQUESTS'],
  },
  'GET /imports': {
    operationId: 'listImports',
    summary: 'List your imports',
    description: `Newest first: the last ${MAX_KEPT} of the last 30 days.`,
    responses: { 200: json(z.array(Import).check(z.maxLength(MAX_KEPT)), 'Your imports') },
  },
  'GET /imports/{import-id}': {
    operationId: 'getImport',
    summary: 'Get an import',
    description:
      '`counts` grow while it runs. An import that was interrupted continues; one that fails again and again ends, and `reason` says why.',
    responses: { 200: json(Import, 'The import') },
    errors: ['IMPORT_NOT_FOUND'],
  },
  'GET /imports/{import-id}/rows': {
    operationId: 'listImportRows',
    summary: 'List what became of each row',
    description:
      'In the order of the file. `code` says why a row was not imported, `losses` what of it could not be kept.',
    responses: { 200: json(pageOf(ImportRow), 'A page of rows', 'Link') },
    errors: ['IMPORT_NOT_FOUND'],
  },
  'GET /imports/{import-id}/failed.csv': {
    operationId: 'getFailedRows',
    summary: 'Get the rows that failed',
    description: 'A CSV file with the columns of the file, to correct and import again.',
    responses: {
      200: { description: 'The rows', content: { 'text/csv': z.string() }, headers: ['Content-Disposition'] },
    },
    errors: ['IMPORT_NOT_FOUND'],
  },
  'DELETE /imports/{import-id}': {
    operationId: 'undoImport',
    summary: 'Undo an import',
    description:
      'Cancels the import if it is running, and removes the books that it created and that were not changed since. Other ' +
      'books that it created or updated stay, and are listed.',
    responses: { 200: json(UndoneImport, 'What was removed and kept') },
    errors: ['IMPORT_NOT_FOUND'],
  },
}
