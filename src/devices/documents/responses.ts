import * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_LABEL, MAX_NAME } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { namedObject } from '../../values/named'
import { MAX_DOCUMENTS } from '../../values/prices'
import { Id, Instant, listOf, textUpTo } from '../../values/responses'
import { MAX_LINKED } from '../statistics/schema'
import { DocumentId, DocumentState } from './schema'

const Shown = z.nullable(textUpTo(MAX_NAME))

export const NamedBook = namedObject('NamedBook', { bookId: Id, title: textUpTo(MAX_NAME) })

export const Document = namedObject('Document', {
  documentId: DocumentId,
  state: DocumentState,
  title: Shown,
  authors: z.nullable(z.array(textUpTo(MAX_NAME))),
  filename: Shown,
  book: z.nullable(NamedBook),
  setByMember: z.boolean(),
  minutes: Int32,
  percentage: z.nullable(z.number().check(z.minimum(0), z.maximum(1))),
  device: Shown,
  tokenId: z.nullable(z.uuid()),
  tokenName: z.nullable(textUpTo(MAX_LABEL)),
  pushedAt: z.nullable(Instant),
})
export type Document = z.infer<typeof Document>

export const documentsReference: FeatureReference = {
  tag: 'Devices',
  schemas: {
    Document: 'A document that devices read, and its book in the library.',
    DocumentBook: 'The book to set for a document.',
    DocumentList: 'A page of documents.',
    DocumentState:
      'Whether a document has a book.\n\n- `WAITING`: no book of the library fits its title and authors, several do, more than 500 have its title, or its book is in the trash\n- `LINKED`: it is a book of the library\n- `NONE`: you have said that it is no book of the library',
    NamedBook: 'A book of the library, with its title.',
  },
  properties: {
    'Document.authors': 'The authors, as the device sends them. Null if it sends none.',
    'Document.book': 'The book in the library. Null if there is none, or while it is in the trash.',
    'DocumentBook.bookId': 'The book. Null if the document is none of your books: then pushes do not link it.',
    'NamedBook.bookId': 'Identifier of the book.',
    'Document.device': 'The device that pushed last, as it names itself. Null if it does not.',
    documentId: 'What devices name the document: mostly a hash of a part of the file.',
    filename: 'The name of the file. Null if the device sends none.',
    minutes: 'How long your devices have read it, by their statistics. Counts for the book, if it has one.',
    percentage: 'How much of it the device that pushed last has read, from 0 to 1. Null if none has pushed.',
    pushedAt: 'When a device last pushed a position in it. Null if none has: then it is known from reading statistics.',
    setByMember: 'Whether you have set the book, or that there is none. A push never changes that.',
    'Document.state': 'Whether it has a book.',
    'Document.title': 'The title, as the device sends it. Null if it sends none.',
    'NamedBook.title': 'Title of the book.',
    'Document.tokenId': 'The access token of the device that pushed last. Null if none has pushed.',
    tokenName: 'The name of that access token. Null once it is deleted.',
  },
  parameters: {
    'document-id': 'What devices name the document.',
    state: 'Lists only documents in this state.',
  },
  operations: {
    'GET /documents': {
      operationId: 'listDocuments',
      summary: 'List the documents of your devices',
      description:
        'Those that KOReader, Readest and CrossPoint have pushed progress of, and those in the reading statistics of KOReader, in the order in which ' +
        'they first came, newest first. A push links its document to the only book that has its title and authors, and a file of statistics up to ' +
        `${MAX_LINKED} that were read last and as many that wait. The others wait until a later one finds it, or you set it with ` +
        '`setDocumentBook`. ' +
        `Of those without reading time, the newest ${MAX_DOCUMENTS.toLocaleString('en')} are kept; those whose book you have set are deleted last.`,
      responses: { 200: json(listOf(Document), 'A page of documents') },
    },
    'DELETE /documents/statistics': {
      operationId: 'deleteReadingStatistics',
      summary: 'Delete the reading statistics of your devices',
      description:
        'Deletes the file that your devices share, all that was counted of it, and the documents that have nothing else. Minutes of progress ' +
        'events stay. The next file of a device is counted as if it were the first one. So it is the way out if uploads are refused because a ' +
        'lost or broken device has sent too many books: delete the token of that device, undo what it did (`undoDevice`), then send this ' +
        'request. Cannot be undone. Repeat the request after an error: it continues.',
      responses: { 204: empty('Deleted') },
    },
    'PUT /documents/{document-id}/book': {
      operationId: 'setDocumentBook',
      summary: 'Set the book of a document',
      description:
        'The newest position of your devices in the document is applied to the book at once, as of the time when it was pushed. What an ' +
        'earlier link did to the pages of another book stays, but the reading time of the document, also of earlier days, counts for this ' +
        'book instead. Devices do not change the link. If the book is deleted, it works again once it is restored; ' +
        'if it is merged into another book, the document belongs to that one.',
      responses: { 200: json(Document, 'The document') },
      errors: ['DOCUMENT_NOT_FOUND', 'BOOK_NOT_FOUND'],
    },
  },
}
