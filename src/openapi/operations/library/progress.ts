import { ProgressEvent, ProgressEvents } from '../../../library/progress/responses'
import { json, type Operations } from '../operation'

export const progressOperations: Operations = {
  'GET /books/{book-id}/progress': {
    operationId: 'listProgress',
    summary: 'List the progress of a book',
    description:
      'Latest first. Every change of `currentPage` and every `addProgress` is an event. Beyond 10,000 events of a book, ' +
      'those of a UTC day are merged into its last one, oldest days first.',
    responses: { 200: json(ProgressEvents, 'A page of events') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'POST /books/{book-id}/progress': {
    operationId: 'addProgress',
    summary: 'Add progress to a book',
    description:
      'Send either `page` or, if the book has an `itemPage`, `percent`. The latest event sets `currentPage`; an earlier ' +
      'one is only added to the list. An event at the same time is replaced. The status of the book stays the same.',
    responses: { 201: json(ProgressEvent, 'The new event') },
    errors: ['BOOK_NOT_FOUND'],
  },
}
