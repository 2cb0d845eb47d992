import type * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { Int32 } from '../../values/fields'
import { namedObject } from '../../values/named'
import { listUpTo } from '../../values/responses'
import { LibraryBookPage } from '../books/responses'
import { BookTags, MAX_BOOK_TAGS, MAX_TAGS, TagName } from './schema'

export const Tag = namedObject('Tag', { tag: TagName, bookCount: Int32 })
export type Tag = z.infer<typeof Tag>

export const tagsReference: FeatureReference = {
  tag: 'Tags',
  schemas: {
    BookTags: 'The tags of a book.',
    BookTagsPatch: 'Tags to add to a book, and tags to remove from it.',
    Tag: 'A tag, and how many books have it: none, if only a link shows it.',
    TagRename: 'A tag to rename, and its new name.',
  },
  properties: {
    add: 'Tags to add. Those that the book has stay as they are.',
    from: 'The current name of the tag, regardless of case and marks.',
    remove: 'Tags to remove, regardless of case and marks. Those that the book does not have are ignored.',
    tag: 'The tag, in the spelling that was used first.',
    tags: 'The tags, in responses in alphabetical order, regardless of case and marks.',
    to: 'The new name of the tag, or another tag to merge it into.',
  },
  parameters: { tag: 'A tag, regardless of case and marks.' },
  operations: {
    'GET /books/tagged': {
      operationId: 'listTaggedBooks',
      summary: 'List the books with a tag',
      description: 'Newest registration first. Empty for an unknown tag.',
      responses: { 200: json(LibraryBookPage, 'A page of books') },
    },
    'GET /books/{book-id}/tags': {
      operationId: 'listBookTags',
      summary: 'List the tags of a book',
      description: 'In alphabetical order, regardless of case and marks.',
      responses: { 200: json(BookTags, 'The tags of the book') },
    },
    'PUT /books/{book-id}/tags': {
      operationId: 'setBookTags',
      summary: 'Replace the tags of a book',
      description:
        'Tags are trimmed, and compared as described for `searchBooks`. A tag that you already use on any book keeps its spelling. You ' +
        `can have ${MAX_TAGS} tags, and ${MAX_BOOK_TAGS} per book. A tag without books is deleted, unless a link shows it: then with the link.`,
      responses: { 200: json(BookTags, 'The tags of the book') },
      errors: ['MAX_TAGS'],
    },
    'PATCH /books/{book-id}/tags': {
      operationId: 'changeBookTags',
      summary: 'Add and remove tags of a book',
      description:
        'Other tags of the book stay, so that two devices do not undo each other’s changes. A tag in both lists is added. ' +
        'Spelling and limits are those of `setBookTags`. Safe to repeat.',
      responses: { 200: json(BookTags, 'The tags of the book') },
      errors: ['MAX_BOOK_TAGS', 'MAX_TAGS'],
    },
    'GET /tags': {
      operationId: 'listTags',
      summary: 'List your tags',
      description: 'In alphabetical order, regardless of case and marks.',
      responses: { 200: json(listUpTo(MAX_TAGS, Tag), 'Your tags') },
    },
    'PATCH /tags': {
      operationId: 'renameTag',
      summary: 'Rename a tag, or merge it into another one',
      description:
        'If another of your tags equals `to` regardless of case and marks, `from` is merged into it, and it keeps its spelling. ' +
        'Otherwise `from` is renamed. The new name may differ only in case or marks. Links that show `from` end if it is merged.',
      responses: { 200: json(Tag, 'The renamed or merged tag') },
      errors: ['TAG_NOT_FOUND'],
    },
    'DELETE /tags': {
      operationId: 'deleteTag',
      summary: 'Delete a tag',
      description: 'Removes the tag from all books, and ends the links that show it. A second deletion returns 404.',
      responses: { 204: empty('Deleted') },
      errors: ['TAG_NOT_FOUND'],
    },
  },
}
