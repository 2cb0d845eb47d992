import * as z from 'zod/mini'
import { empty, type FeatureReference, json, WELL_FORMED } from '../../http/description/feature-reference'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Id, LocalTime, listUpTo, textUpTo } from '../../values/responses'
import { KEPT_DAYS } from '../trash/schema'
import { MAX_CONTENT, MemoAuthority, MemoType } from './schema'

export const Memo = namedObject('Memo', {
  memoId: Id,
  memoType: MemoType,
  memoContent: textUpTo(MAX_CONTENT),
  memoBookPage: Int32,
  memoAuthority: MemoAuthority,
  memoLikesCount: Int32,
  createdAt: LocalTime,
  updatedAt: LocalTime,
})
export type Memo = z.infer<typeof Memo>

/** The contract's responses do not have the book. */
export const MemoOfBook = named('MemoOfBook', z.extend(Memo, { bookId: Id }))
export type MemoOfBook = z.infer<typeof MemoOfBook>

export const RandomMemo = named(
  'RandomMemo',
  z.pick(Memo, { memoId: true, memoContent: true, memoType: true, memoBookPage: true }),
)
export type RandomMemo = z.infer<typeof RandomMemo>

const ImageUrl = z.url().check(z.maxLength(4096))

export const memosReference: FeatureReference = {
  tag: 'Memos',
  schemas: {
    Memo: 'A note on a book.',
    MemoConflict: 'The body of a 412: an error with the present memo.',
    MemoAuthority:
      'Who can see a memo.\n\n- `PRIVATE`: only its author\n- `PUBLIC`: also everyone who has one of the links of the kind `MEMOS` that its author created',
    MemoOfBook: 'A note on a book, with its book.',
    MemoPage: 'A page of the memos of a book.',
    MemoPatch: 'The fields of a memo to change. Absent fields stay unchanged.',
    MemoType:
      'Kind of memo.\n\n- `BOOK_CONTENT`: a quotation from the book\n- `SUMMARY`: a summary\n- `THOUGHT`: a thought\n- `QUESTION`: a question about the book',
    NewMemo: 'A memo to add.',
    RandomMemo: 'A memo drawn at random.',
  },
  properties: {
    file: 'The image, as a part with a file name. PNG, JPEG, GIF or WebP, at most 10 MiB and 268 megapixels.',
    memoAuthority: 'Who can see it.',
    'NewMemo.memoAuthority': 'Who can see it. `PRIVATE` if absent.',
    memoBookPage: 'The page of the book that the memo is about.',
    memoContent: 'The text, exactly as it was sent. It may contain HTML: sanitize it before rendering it as such.',
    'NewMemo.memoContent': `The text. It is stored exactly as sent, HTML included. ${WELL_FORMED}.`,
    'MemoPatch.memoContent': `The text. It is stored exactly as sent, HTML included. ${WELL_FORMED}.`,
    'MemoConflict.memo': 'The present memo. Null for an access token without `memos:read`.',
    memoId: 'Identifier of the memo.',
    memoLikesCount: 'Number of likes. Always 0, as members cannot like memos yet.',
    memoType: 'Kind of memo.',
    'NewMemo.memoType': 'Kind of memo. `BOOK_CONTENT` if absent.',
    updatedAt: 'When the memo was last changed.',
  },
  parameters: {
    bookId: 'The book of the memo.',
    'memo-id': 'Identifier of the memo.',
    memoType: 'Which memos to list. `ALL` lists all.',
  },
  operations: {
    'GET /memos/random': {
      operationId: 'drawMemo',
      summary: 'Get a random memo',
      description: 'Returns one of your memos, each equally likely, or an empty array if you have none.',
      responses: { 200: json(listUpTo(1, RandomMemo), 'At most one memo') },
    },
    'POST /memos/image-memo': {
      operationId: 'uploadMemoImage',
      summary: 'Upload an image for a memo',
      description:
        'Accepts PNG, JPEG, GIF and WebP, detected by content, up to 10 MiB, 268 megapixels and 20,000 frames ' +
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
      responses: { 201: json(Memo, 'The new memo', 'Location', 'ETag') },
      errors: ['BOOK_NOT_FOUND', 'MAX_MEMOS_PER_BOOK', 'MAX_BOOK_TEXT_BYTES', 'MAX_MEMBER_TEXT_BYTES'],
    },
    'GET /memos/{memo-id}': {
      operationId: 'getMemo',
      summary: 'Get a memo',
      description: 'Returns one memo. The `Location` of a new memo points here.',
      responses: { 200: json(MemoOfBook, 'The memo', 'ETag') },
    },
    'PATCH /memos/{memo-id}': {
      operationId: 'updateMemo',
      summary: 'Update a memo',
      description:
        'Absent fields stay unchanged. An empty object changes nothing. With the `ETag` of the memo that was edited as ' +
        '`If-Match`, an edit does not overwrite one made elsewhere meanwhile: 412 returns that one as `memo`.',
      requestHeaders: ['If-Match'],
      responses: { 200: json(Memo, 'The updated memo', 'ETag') },
      errors: ['PRECONDITION_FAILED', 'MAX_BOOK_TEXT_BYTES', 'MAX_MEMBER_TEXT_BYTES'],
    },
    'DELETE /memos/{memo-id}': {
      operationId: 'deleteMemo',
      summary: 'Delete a memo',
      description: `\`restore\` brings it back for ${KEPT_DAYS} days. A second deletion returns 404. \`If-Match\` works as in \`updateMemo\`.`,
      requestHeaders: ['If-Match'],
      responses: { 204: empty('Deleted') },
      errors: ['PRECONDITION_FAILED'],
    },
  },
}
