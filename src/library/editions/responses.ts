import * as z from 'zod/mini'
import {
  COVER_SENT,
  type FeatureReference,
  json,
  NULLABLE_SENT,
  WELL_FORMED,
} from '../../http/description/feature-reference'
import { MAX_NAME } from '../../values/contract'
import { BookFormat } from '../../values/fields'
import { namedObject } from '../../values/named'
import { listUpTo, textUpTo } from '../../values/responses'
import { LibraryBook } from '../books/responses'
import { EditionSeconds, MAX_LANGUAGE, MAX_SAME_ISBN, MAX_SERIES_NUMBER, MAX_SOURCE_IDS, PublishedYear } from './schema'

export const Edition = namedObject('Edition', {
  ...z.pick(LibraryBook, { bookId: true, title: true, cover: true }).shape,
  subtitle: z.nullable(textUpTo(MAX_NAME)),
  isbn: z.nullable(z.string().check(z.regex(/^97[89]\d{10}$/))),
  language: z.nullable(textUpTo(MAX_LANGUAGE)),
  format: z.nullable(BookFormat),
  publishedYear: z.nullable(PublishedYear),
  series: z.nullable(textUpTo(MAX_NAME)),
  seriesNumber: z.nullable(z.number().check(z.minimum(0), z.maximum(MAX_SERIES_NUMBER))),
  seconds: z.nullable(EditionSeconds),
  sourceIds: listUpTo(MAX_SOURCE_IDS, textUpTo(200)),
})
export type Edition = z.infer<typeof Edition>

export const editionsReference: FeatureReference = {
  tag: 'Books',
  schemas: {
    BookFormat: 'Format of a book.\n\n- `PAPER`: a printed book\n- `EBOOK`: an e-book\n- `AUDIO`: an audiobook',
    Edition: 'The edition of a book.',
    EditionPatch: 'The fields of an edition to change. Absent fields stay unchanged.',
  },
  properties: {
    format: 'Format of the book. Null if unknown.',
    language: 'Language of the edition, as a tag such as `ko` or `pt-BR`. Null if unknown.',
    isbn: 'ISBN-13 without hyphens. Null if unknown.',
    'EditionPatch.title': `Title of the book. ${WELL_FORMED}. Never null.`,
    'EditionPatch.cover': COVER_SENT,
    'EditionPatch.isbn':
      'An ISBN-10 or ISBN-13 with a valid check digit, with or without spaces and hyphens. An ISBN-10 is stored as its ISBN-13.',
    publishedYear: 'Year in which the edition was published; negative before the common era. Null if unknown.',
    series: 'Series that the book belongs to. Null if none.',
    'EditionPatch.series': `Series that the book belongs to. ${NULLABLE_SENT}`,
    seriesNumber: 'Number of the book in its series, which may have a fraction, such as 1.5. Null if none.',
    seconds: 'Length of an audiobook in seconds. Null if unknown.',
    subtitle: 'Subtitle of the book. Null if none.',
    'EditionPatch.subtitle': `Subtitle of the book. ${NULLABLE_SENT}`,
    sourceIds: 'Identifiers of the book in other services, such as `goodreads:123`.',
    'EditionPatch.sourceIds':
      'Identifiers of the book in other services, each with the name of the service in lower case, a colon and printable ASCII characters, without repetition. They replace the stored ones; null or an empty array clears them.',
  },
  parameters: { isbn: 'An ISBN-10 or ISBN-13 with a valid check digit, with or without spaces and hyphens.' },
  operations: {
    'GET /books/by-isbn/{isbn}': {
      operationId: 'listBooksByIsbn',
      summary: 'List books by ISBN',
      description: `Newest registration first, at most ${MAX_SAME_ISBN}. An ISBN-10 and its ISBN-13 find the same books.`,
      responses: { 200: json(listUpTo(MAX_SAME_ISBN, LibraryBook), 'The books') },
    },
    'GET /books/{book-id}/edition': {
      operationId: 'getEdition',
      summary: 'Get the edition of a book',
      description: 'Unknown details are null; without identifiers, `sourceIds` is an empty array.',
      responses: { 200: json(Edition, 'The edition') },
    },
    'PATCH /books/{book-id}/edition': {
      operationId: 'updateEdition',
      summary: 'Update the edition of a book',
      description: 'Absent fields stay unchanged. An empty object changes nothing.',
      responses: { 200: json(Edition, 'The updated edition') },
      errors: ['MAX_MEMBER_TEXT_BYTES'],
    },
  },
}
