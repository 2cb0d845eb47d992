import * as z from 'zod/mini'
import { LibraryExport } from '../../../transfer/export/responses'
import { json, type Operations, RATE_LIMIT } from '../operation'

const HEADERS = ['Content-Disposition', 'Link', ...RATE_LIMIT] as const

const LIMITS =
  'You can start 20 exports in 24 hours, all formats together. A file has up to about 8 MiB of text. A larger export has ' +
  'several parts, each a complete file: the `Link` header has the URL of the `next` part. Further parts have their own ' +
  'limit, 400 in 24 hours. Up to 200 books at a time are read consistently. A change during an export may or may not be ' +
  'included; books registered after it began are not.'

const text = (type: string, description: string) => ({
  description,
  content: { [type]: z.string() },
  headers: [...HEADERS],
})

export const exportOperations: Operations = {
  'GET /export': {
    operationId: 'exportLibrary',
    summary: 'Export everything as JSON',
    description:
      'Your profile, books, readings, progress, tags, memos and the URLs of your images. Importing the file gives the same ' +
      `books, but does not upload images: download these from their URLs. ${LIMITS}`,
    responses: { 200: json(LibraryExport, 'The file', ...HEADERS) },
  },
  'GET /export.csv': {
    operationId: 'exportBooks',
    summary: 'Export your books as CSV',
    description:
      'The columns of Goodreads, which other services can import, and `read_dates`: all readings as `start|finish`, separated ' +
      `by \`;\`. Memos are not included. ${LIMITS}`,
    responses: { 200: text('text/csv', 'The file') },
  },
  'GET /export/memos.md': {
    operationId: 'exportMemos',
    summary: 'Export your memos as Markdown',
    description: `By book, oldest first. The text of each memo is a block quote and otherwise unchanged: it may contain HTML. ${LIMITS}`,
    responses: { 200: text('text/markdown', 'The file') },
  },
}
