import * as z from 'zod/mini'
import { Reading } from '../../../library/readings/responses'
import { MAX_READINGS } from '../../../library/readings/schema'
import { empty, json, type Operations } from '../operation'

export const readingsOperations: Operations = {
  'GET /books/{book-id}/readings': {
    operationId: 'listReadings',
    summary: 'List the readings of a book',
    description:
      'Newest first, at most 200. A book that is `ING` or `DONE` has at least one. The book has the status, dates and ' +
      'rating of the newest.',
    responses: { 200: json(z.array(Reading).check(z.maxLength(MAX_READINGS)), 'The readings') },
    errors: ['BOOK_NOT_FOUND'],
  },
  'POST /books/{book-id}/readings': {
    operationId: 'createReading',
    summary: 'Add a reading of a book',
    description:
      'If it is the newest reading, the book takes its status, full dates and rating. Otherwise the book does not change.',
    responses: { 201: json(Reading, 'The new reading') },
    errors: ['BOOK_NOT_FOUND', 'MAX_READINGS', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'PATCH /readings/{reading-id}': {
    operationId: 'updateReading',
    summary: 'Update a reading',
    description:
      'Absent fields stay unchanged, and null clears a field. If the reading is or becomes the newest, the book changes, ' +
      'too. An empty object changes nothing.',
    responses: { 200: json(Reading, 'The updated reading') },
    errors: ['READING_NOT_FOUND', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'DELETE /readings/{reading-id}': {
    operationId: 'deleteReading',
    summary: 'Delete a reading',
    description:
      'Cannot be undone. The book takes the status, dates and rating of the newest reading that is left. Without any, the ' +
      'book becomes `YET` and has no dates.',
    responses: { 204: empty('Deleted') },
    errors: ['READING_NOT_FOUND'],
  },
}
