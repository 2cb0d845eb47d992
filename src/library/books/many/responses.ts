import type * as z from 'zod/mini'
import { type FeatureReference, json, NULLABLE_SENT } from '../../../http/description/feature-reference'
import { namedObject } from '../../../values/named'
import { Id, listUpTo } from '../../../values/responses'
import { KEPT_DAYS } from '../../trash/schema'
import { DATE_SENT } from '../responses'
import { MAX_IDS, MAX_TAG_CHANGES } from '../schema'

const Ids = listUpTo(MAX_IDS, Id)
const ChangedBooks = namedObject('ChangedBooks', { changed: Ids, unchanged: Ids, missing: Ids })
export type ChangedBooks = z.infer<typeof ChangedBooks>
const DeletedBooks = namedObject('DeletedBooks', { deleted: Ids, left: Ids, missing: Ids })
export type DeletedBooks = z.infer<typeof DeletedBooks>

export const manyBooksReference: FeatureReference = {
  tag: 'Books',
  schemas: {
    BookIds: 'The books to delete.',
    BookValues: 'The fields to change. Absent fields stay unchanged.',
    BooksPatch: 'Books, and what to change in each of them.',
    ChangedBooks: 'What a change of books did. Each identifier is in one list, in the order of the request.',
    DeletedBooks: 'What a deletion of books did. Each identifier is in one list, in the order of the request.',
  },
  properties: {
    addTags: 'Tags to add to each book, as `changeBookTags` does. One that is also in `removeTags` is added.',
    changed: 'Books that were changed.',
    removeTags: 'Tags to remove from each book.',
    set: 'The fields to change. Null clears those that it clears in `updateBook` and `updateEdition`.',
    unchanged: 'Books that already had these values and tags.',
    'BookValues.author': `Author of the books. ${NULLABLE_SENT}`,
    'BookValues.publisher': `Publisher of the books. ${NULLABLE_SENT}`,
    'BookValues.readStartDate': `When reading started. ${DATE_SENT}`,
    'BookValues.readEndDate': `When reading ended. ${DATE_SENT}`,
    deleted: 'Books that are now in the trash.',
    ids: 'Identifiers of books, each of them once.',
    left: 'Books that are still in the library, because one request cannot delete more: send another one with them.',
    missing: 'Identifiers of no book of yours.',
  },
  operations: {
    'PATCH /books': {
      operationId: 'updateBooks',
      summary: 'Update several books',
      description:
        'Changes each book as `updateBook`, `updateEdition` and `changeBookTags` do, but only the fields of `BookValues`, in one transaction: all of them, or, after an ' +
        'error, none. Safe to repeat: books that already have the values are `unchanged`, and `listChanges` does not list them. ' +
        `The number of books times the number of tags can be at most ${MAX_TAG_CHANGES.toLocaleString('en')}. 400 if the books have too many progress events to be finished in one request.`,
      responses: { 200: json(ChangedBooks, 'What was changed') },
      errors: ['MAX_MEMBER_TEXT_BYTES', 'MAX_BOOK_TAGS', 'MAX_TAGS'],
    },
    'POST /books/delete': {
      operationId: 'deleteBooks',
      summary: 'Delete several books with their memos',
      description:
        `Deletes the books as \`deleteBook\` does, in one transaction: \`restore\` brings each back for ${KEPT_DAYS} days. If they have ` +
        'more than about 8,000 memos, events, readings and tags in all, only the first books are deleted, at least one. Safe ' +
        'to repeat: books that are already deleted are `missing`. `If-Unchanged-Since` is not evaluated.',
      responses: { 200: json(DeletedBooks, 'What was deleted') },
    },
  },
}
