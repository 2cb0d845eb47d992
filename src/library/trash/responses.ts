import * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_NAME } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { TRASH_PRICE } from '../../values/prices'
import { Id, Instant, listOf, textUpTo } from '../../values/responses'
import { ListedBook } from '../books/responses'
import { MemoOfBook } from '../memos/responses'
import { KEPT_DAYS, MAX_EXCERPT } from './schema'

export const TrashItem = namedObject('TrashItem', {
  trashId: textUpTo(21),
  kind: named('TrashKind', z.enum(['book', 'memo'])),
  bookId: Id,
  memoId: z.nullable(Id),
  title: textUpTo(MAX_NAME),
  excerpt: z.nullable(textUpTo(MAX_EXCERPT)),
  memoCount: Int32,
  deletedAt: Instant,
  expiresAt: Instant,
})
export type TrashItem = z.infer<typeof TrashItem>

const Restored = namedObject('Restored', { book: z.nullable(ListedBook), memo: z.nullable(MemoOfBook) })
export type Restored = z.infer<typeof Restored>

export const trashReference: FeatureReference = {
  tag: 'Trash',
  schemas: {
    Restored: 'What was restored: a book or a memo.',
    TrashItem: 'A deleted book or memo.',
    TrashItemList: 'A page of the trash.',
    TrashKind: 'What was deleted.\n\n- `book`: a book, with its memos\n- `memo`: a memo by itself',
  },
  properties: {
    'Restored.book': 'The book. Null if a memo was restored.',
    'TrashItem.bookId': 'The book, or that of the memo.',
    deletedAt: 'When it was deleted.',
    excerpt: `The first ${MAX_EXCERPT} characters of the memo. Null for a book.`,
    expiresAt: `When it can no longer be restored: ${KEPT_DAYS} days after its deletion.`,
    'TrashItem.kind': 'What was deleted.',
    'Restored.memo': 'The memo. Null if a book was restored.',
    'TrashItem.memoCount': 'Number of memos that the book had. 0 for a memo.',
    'TrashItem.memoId': 'Identifier of the memo. Null for a book.',
    'TrashItem.title': 'Title of the book, when it or its memo was deleted.',
    trashId: '`book-` or `memo-`, and the identifier of what was deleted.',
  },
  parameters: {
    'trash-id': '`book-` or `memo-`, and the identifier of what was deleted.',
  },
  operations: {
    'GET /trash': {
      operationId: 'listTrash',
      summary: 'List what was deleted',
      description:
        `What \`deleteBook\`, \`deleteMemo\` and \`mergeBooks\` have deleted within ${KEPT_DAYS} days, latest first. It counts towards the ` +
        `quota of texts with half of its bytes as JSON, and at least ${TRASH_PRICE.toLocaleString('en')} more. A deletion while the quota is full deletes the oldest entries for good.`,
      responses: { 200: json(listOf(TrashItem), 'A page of the trash') },
    },
    'DELETE /trash': {
      operationId: 'emptyTrash',
      summary: 'Empty the trash',
      description: 'Deletes everything in the trash for good. Cannot be undone.',
      responses: { 204: empty('Emptied') },
    },
    'POST /trash/{trash-id}/restore': {
      operationId: 'restore',
      summary: 'Restore a book or a memo',
      description:
        'A book comes back with its memos, readings, progress and tags, a memo to its book: as they were, with the same ' +
        'identifiers. To clients that sync, it is a change. What is in the library already is returned, too, so the ' +
        'request can be repeated. A merged book takes back from the other one what came from it and is unchanged since: memos, ' +
        'readings, progress, tags and fields that it filled. Restore a book before its memos that were deleted by themselves.',
      responses: { 200: json(Restored, 'What was restored') },
      errors: [
        ...(['BOOK_NOT_IN_LIBRARY', 'MAX_BOOKS', 'MAX_MEMOS_PER_BOOK', 'MAX_BOOK_TEXT_BYTES'] as const),
        ...(['MAX_MEMBER_TEXT_BYTES', 'MAX_TAGS'] as const),
      ],
    },
    'DELETE /trash/{trash-id}': {
      operationId: 'deleteForGood',
      summary: 'Delete a book or a memo for good',
      description: 'Cannot be undone. A second deletion returns 404.',
      responses: { 204: empty('Deleted') },
    },
  },
}
