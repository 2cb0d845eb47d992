import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_ROWS } from '../../transfer/entries/entry'
import { Import, KeptBook } from '../../transfer/imports/responses'
import { MAX_KEPT_OF_DEVICES } from '../../transfer/imports/schema'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Instant, listOf, listUpTo } from '../../values/responses'
import { NamedBook } from '../documents/responses'
import { DocumentId } from '../documents/schema'

export const DeviceChange = namedObject('DeviceChange', {
  at: Instant,
  kind: named('DeviceChangeKind', z.enum(['import', 'progress', 'document', 'statistics'])),
  import: z.nullable(Import),
  book: z.nullable(NamedBook),
  page: z.nullable(Int32),
  documentId: z.nullable(DocumentId),
  minutes: z.nullable(Int32),
})
export type DeviceChange = z.infer<typeof DeviceChange>

const UndoneChanges = namedObject('UndoneChanges', {
  imports: Int32,
  books: Int32,
  memos: Int32,
  progress: Int32,
  documents: Int32,
  minutes: Int32,
  kept: listUpTo(MAX_ROWS, KeptBook),
  hasMore: z.boolean(),
})
export type UndoneChanges = z.infer<typeof UndoneChanges>

export const deviceChangesReference: FeatureReference = {
  tag: 'Devices',
  schemas: {
    DeviceChange: 'Something that a device did.',
    DeviceChangeKind:
      'What a device did.\n\n- `import`: sent a file or highlights\n- `progress`: pushed progress that became an event of a book\n- `document`: pushed a document that was linked to a book by its title and authors\n- `statistics`: sent reading statistics, which added reading time',
    DeviceChangeList: 'A page of what a device did.',
    UndoneChanges: 'What was undone.',
    UndoRequest: 'The time from which on to undo.',
  },
  ownProperties: {
    at: 'When the device sent it.',
    book: 'The book of the event or the document. Null for other changes.',
    books: 'Number of books moved to the trash.',
    'DeviceChange.documentId': 'The document that was linked. Null for other changes.',
    documents: 'Number of documents that have no book any more.',
    hasMore: 'Whether there is more to undo: send the request again.',
    import: 'The import. Null for other changes.',
    imports: 'Number of imports undone.',
    kept: 'The books that keep something that the device did, because they were changed since.',
    'DeviceChange.kind': 'What it did.',
    memos: 'Number of memos moved to the trash by themselves, from books that stay.',
    'DeviceChange.page': 'The page of the event. Null for other changes.',
    progress: 'Number of progress events deleted.',
    'DeviceChange.minutes': 'The reading time that the statistics have added. Null for other changes.',
    'UndoneChanges.minutes': 'The reading time that does not count any more.',
    since:
      'What the device sent at or after this time is undone: a time since 1900, at most five minutes ahead, in RFC 3339 format, with `Z` or an offset.',
  },
  operations: {
    'GET /tokens/{token-id}/changes': {
      operationId: 'listDeviceChanges',
      summary: 'List what a device did',
      description:
        `Newest first: its imports, if they are among the last ${MAX_KEPT_OF_DEVICES} of all devices and at most 30 days old, its progress, ` +
        'documents that it linked to books, and reading statistics. Also after the token was deleted. What was undone is not listed.',
      responses: { 200: json(listOf(DeviceChange), 'A page of what the device did') },
    },
    'POST /tokens/{token-id}/undo': {
      operationId: 'undoDevice',
      summary: 'Undo what a device did',
      description:
        'Cancels imports that wait or run, and undoes what `listDeviceChanges` lists since a time:\n\n' +
        '- Books and memos that the device added go to the trash, and texts that it replaced come back.\n' +
        '- Its progress is deleted, and pages are what they were before.\n' +
        '- Documents that it linked have no book any more; new ones that no other device has sent are deleted.\n' +
        '- The reading time that its statistics have added does not count any more. The file of the statistics stays.\n\n' +
        'What others have changed since stays; `kept` lists it. Send the request again while `hasMore` is true, or after an error: it ' +
        'continues. If a device is lost, delete its token first: what it did can still be undone.',
      responses: { 200: json(UndoneChanges, 'What was undone') },
      errors: ['MAX_MEMBER_TEXT_BYTES'],
    },
  },
}
