import * as z from 'zod/mini'
import { LibraryExport } from '../../export/responses'
import { json, type Operations, RATE_LIMIT } from './operation'

const HEADERS = ['Content-Disposition', 'Link', ...RATE_LIMIT] as const

const LIMITS =
  'You can make 20 exports a day, of all kinds together. A file has about 8 MiB of text; a larger export is in several ' +
  'parts, each complete in itself: `Link` names the `next` one. Further parts have their own limit, 400 a day. Each page of up ' +
  'to 200 books is consistent; what changes during an export may be in it or not, and books registered since it began are not.'

const text = (type: string, description: string) => ({
  description,
  content: { [type]: z.string() },
  headers: [...HEADERS],
})

export const exportOperations: Operations = {
  'GET /export': {
    operationId: 'exportLibrary',
    summary: 'Export everything as JSON',
    description: `Your profile, books, readings, progress, tags, memos and the addresses of your images. An import of the file gives the same books. It uploads no images: download these from their addresses. ${LIMITS}`,
    responses: { 200: json(LibraryExport, 'The file', ...HEADERS) },
  },
  'GET /export.csv': {
    operationId: 'exportBooks',
    summary: 'Export your books as CSV',
    description:
      'The columns of Goodreads, which other services can import, and `read_dates`: each reading as `start|finish`, separated by `;`. ' +
      `Memos are not included. ${LIMITS}`,
    responses: { 200: text('text/csv', 'The file') },
  },
  'GET /export/memos.md': {
    operationId: 'exportMemos',
    summary: 'Export your memos as Markdown',
    description: `By book, oldest first. The text of each memo is a block quote, unchanged: it may contain HTML. ${LIMITS}`,
    responses: { 200: text('text/markdown', 'The file') },
  },
}
