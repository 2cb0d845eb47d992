import * as z from 'zod/mini'
import { ImageUrl, Memo, RandomMemo } from '../../../library/memos/responses'
import { empty, json, type Operations } from '../operation'

export const memosOperations: Operations = {
  'GET /memos/random': {
    operationId: 'drawMemo',
    summary: 'Get a random memo',
    description: 'Returns one of your memos, each equally likely, or an empty array if you have none.',
    responses: { 200: json(z.array(RandomMemo).check(z.maxLength(1)), 'At most one memo') },
  },
  'POST /memos/image-memo': {
    operationId: 'uploadMemoImage',
    summary: 'Upload an image for a memo',
    description:
      'Accepts PNG, JPEG, GIF, WebP and still AVIF, detected by content, up to 10 MiB, 268 megapixels and 20,000 frames ' +
      'or other parts. Returns the URL of the image, which needs no token and cannot be guessed. Metadata such as ' +
      'location, camera and time is removed.',
    requestHeaders: ['Accept'],
    responses: {
      201: {
        description: 'The URL of the image, as plain text if `Accept` prefers `text/plain`',
        content: { 'application/json': ImageUrl, 'text/plain': ImageUrl },
        headers: ['Location'],
      },
    },
    errors: ['TOO_MANY_PIXELS', 'IMAGE_TOO_COMPLEX', 'UNSUPPORTED_IMAGE', 'IMAGE_DAMAGED', 'MAX_MEMBER_IMAGE_BYTES'],
  },
  'POST /memos': {
    operationId: 'createMemo',
    summary: 'Add a memo to a book',
    description:
      'The content is stored exactly as sent. If it is HTML, clients must sanitize it. To show an image, upload it ' +
      'first, and put its URL into the content.',
    responses: { 201: json(Memo, 'The new memo', 'Location') },
    errors: ['BOOK_NOT_FOUND', 'MAX_MEMOS_PER_BOOK', 'MAX_BOOK_TEXT_BYTES', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'GET /memos/{memo-id}': {
    operationId: 'getMemo',
    summary: 'Get a memo',
    description: 'Returns one memo. The `Location` of a new memo points here.',
    responses: { 200: json(Memo, 'The memo') },
    errors: ['MEMO_NOT_FOUND'],
  },
  'PATCH /memos/{memo-id}': {
    operationId: 'updateMemo',
    summary: 'Update a memo',
    description: 'Absent fields stay unchanged. An empty object changes nothing.',
    responses: { 200: json(Memo, 'The updated memo') },
    errors: ['MEMO_NOT_FOUND', 'MAX_BOOK_TEXT_BYTES', 'MAX_MEMBER_TEXT_BYTES'],
  },
  'DELETE /memos/{memo-id}': {
    operationId: 'deleteMemo',
    summary: 'Delete a memo',
    description: 'Cannot be undone. A second deletion returns 404.',
    responses: { 204: empty('Deleted') },
    errors: ['MEMO_NOT_FOUND'],
  },
}
