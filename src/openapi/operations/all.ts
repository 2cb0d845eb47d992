// The operations of the OpenAPI document, by tag. The Worker imports nothing from here: docs/decisions/0022-descriptions-of-the-api.md.

import { membersOperations } from './accounts/members'
import { sessionsOperations } from './accounts/sessions'
import { tokensOperations } from './accounts/tokens'
import { catalogueOperations } from './catalogue'
import { healthOperations } from './health'
import { booksOperations } from './library/books'
import { imagesOperations } from './library/images'
import { memosOperations } from './library/memos'
import { progressOperations } from './library/progress'
import { readingsOperations } from './library/readings'
import { searchOperations } from './library/search'
import { tagsOperations } from './library/tags'
import type { Operation } from './operation'
import { exportOperations } from './transfer/export'
import { importsOperations } from './transfer/imports'

/** The tags, in the order in which the document shows them. */
export const TAGS = [
  {
    name: 'Members',
    description: 'Sign up, log in, and manage your profile.',
    operations: membersOperations,
  },
  {
    name: 'Sessions',
    description: 'The devices where you are logged in, and the activity of your account.',
    operations: sessionsOperations,
  },
  {
    name: 'Access tokens',
    description: 'Tokens for scripts and other apps, limited to scopes.',
    operations: tokensOperations,
  },
  { name: 'Books', description: 'Your books, and lists of them.', operations: booksOperations },
  {
    name: 'Progress',
    description: 'How far you have read your books, and when.',
    operations: progressOperations,
  },
  {
    name: 'Readings',
    description: 'Each time that you read a book, with dates, rating and note.',
    operations: readingsOperations,
  },
  { name: 'Tags', description: 'Tags on your books.', operations: tagsOperations },
  { name: 'Memos', description: 'Memos on your books, and the images in them.', operations: memosOperations },
  { name: 'Search', description: 'Search your books and memos.', operations: searchOperations },
  { name: 'Images', description: 'Load, list and delete uploaded images.', operations: imagesOperations },
  {
    name: 'Import',
    description: 'Add books from another service, a reading device or an export.',
    operations: importsOperations,
  },
  { name: 'Export', description: 'Download all your data, your books or your memos.', operations: exportOperations },
  {
    name: 'Catalogue',
    description: 'Look up books in an external catalogue. Needs no token.',
    operations: catalogueOperations,
  },
  { name: 'Health', description: 'Check the health of the service.', operations: healthOperations },
]

/** Every operation with its tag, by method and path. */
export const OPERATIONS: ReadonlyMap<string, Operation & { tag: string }> = new Map(
  TAGS.flatMap(({ name, operations }) =>
    Object.entries(operations).map(([key, operation]) => [key, { ...operation, tag: name }] as const),
  ),
)
