import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { ListedBook } from '../../library/books/responses'
import { Edition } from '../../library/editions/responses'
import { Memo } from '../../library/memos/responses'
import { ProgressEvent } from '../../library/progress/responses'
import { Reading } from '../../library/readings/responses'
import { MAX_BOOK_TAGS, TagName } from '../../library/tags/schema'
import { MAX_CURSOR } from '../../values/cursor'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Id, Instant, listUpTo, textUpTo } from '../../values/responses'
import { MAX_SIZE } from './schema'

const SyncedBook = named(
  'SyncedBook',
  z.extend(z.omit(ListedBook, { memoCount: true }), {
    edition: named('SyncedEdition', z.omit(Edition, { bookId: true, title: true, cover: true })),
    tagIds: listUpTo(MAX_BOOK_TAGS, Id),
    progress: namedObject('ProgressSummary', {
      count: Int32,
      latestAt: z.nullable(Instant),
      ...z.pick(ProgressEvent, { seconds: true, percent: true }).shape,
      deviceMinutes: Int32,
    }),
  }),
)
const SyncedReading = named('SyncedReading', z.extend(Reading, { bookId: Id }))
const SyncedMemo = named('SyncedMemo', z.extend(Memo, { bookId: Id }))
const SyncedTag = namedObject('SyncedTag', { tagId: Id, tag: TagName })

// Enumerations of one name: openapi-zod-client finds no literals in a union.
const BookChange = namedObject('BookChange', { kind: z.enum(['book']), id: Id, value: z.nullable(SyncedBook) })
const ReadingChange = namedObject('ReadingChange', {
  kind: z.enum(['reading']),
  id: Id,
  value: z.nullable(SyncedReading),
})
const MemoChange = namedObject('MemoChange', {
  kind: z.enum(['memo']),
  id: Id,
  version: z.nullable(z.int().check(z.minimum(0))),
  value: z.nullable(SyncedMemo),
})
const TagChange = namedObject('TagChange', { kind: z.enum(['tag']), id: Id, value: z.nullable(SyncedTag) })

export const Change = named('Change', z.discriminatedUnion('kind', [BookChange, ReadingChange, MemoChange, TagChange]))
export type Change = z.infer<typeof Change>

export const Changes = namedObject('Changes', {
  item: listUpTo(MAX_SIZE, Change),
  next: textUpTo(MAX_CURSOR),
  hasMore: z.boolean(),
})
export type Changes = z.infer<typeof Changes>

export const changesReference: FeatureReference = {
  tag: 'Sync',
  schemas: {
    BookChange: 'A book that has changed.',
    Change: 'An object that has changed, of the kind that `kind` names.',
    Changes: 'A page of changes.',
    MemoChange: 'A memo that has changed.',
    ProgressSummary: 'The progress of a book.',
    ReadingChange: 'A reading that has changed.',
    SyncedBook: 'A book with its edition and the identifiers of its tags.',
    SyncedEdition: 'The edition of the book.',
    SyncedMemo: 'A memo with its book.',
    SyncedReading: 'A reading with its book.',
    SyncedTag: 'A tag.',
    TagChange: 'A tag that has changed.',
  },
  properties: {
    'SyncedReading.format': 'Format in which the book was read. Null if unknown.',
    count: 'Number of progress events.',
    deviceMinutes:
      'How long devices have read the book, by their statistics. Does not include the `minutes` of progress events: see `listSittings`.',
    edition: 'The edition of the book.',
    hasMore: 'Whether to request the next page now.',
    id: 'Identifier of the object, unique among those of its kind.',
    kind: 'What the object is.',
    latestAt: 'When the latest progress event happened. Null if there is none.',
    'Changes.next': 'The `cursor` of the next page, also at the end: store it with the page.',
    'Changes.item': 'The objects that have changed, each with its present value.',
    'ProgressSummary.percent':
      'How much of the book the latest event has reached, as in `listProgress`. Null if unknown.',
    progress: 'The progress of the book.',
    'SyncedEdition.seconds': 'Length of an audiobook in seconds. Null if unknown.',
    'ProgressSummary.seconds': 'The second of an audiobook that the latest event has reached. Null if unknown.',
    tagId: 'Identifier of the tag. That of a deleted tag may be given to another one.',
    tagIds: 'The tags of the book, by identifier.',
    value: 'The present value. Null if the object was deleted.',
    version: 'The version of the memo: its `ETag` without quotes. Null if it was deleted.',
  },
  operations: {
    'GET /changes': {
      operationId: 'listChanges',
      summary: 'List what has changed',
      description:
        'Without a cursor: everything, page by page, and then what has changed meanwhile. With the `next` of the last page: what ' +
        'has changed since. A page ends early once it has 512 KiB of text. The introduction says how to keep a copy.',
      responses: { 200: json(Changes, 'A page of changes') },
      errors: ['RESYNC_REQUIRED'],
    },
  },
}
