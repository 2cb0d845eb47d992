import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../openapi/feature-reference'
import { LINK_KINDS, MAX_NAME } from '../../values/contract'
import { MAX_LIST_SIZE } from '../../values/cursor'
import { Int32 } from '../../values/fields'
import { namedObject } from '../../values/named'
import { Id, Instant, textUpTo } from '../../values/responses'
import { BookStatus } from '../books/schema'
import { MAX_CONTENT, MemoType } from '../memos/schema'
import { MAX_SEALED, SharedPath } from './schema'

const Rating = z.nullable(z.number().check(z.minimum(0.25), z.maximum(5), z.multipleOf(0.25)))
const ofBook = { title: textUpTo(MAX_NAME), author: z.nullable(textUpTo(MAX_NAME)) }
const LocalDate = z.iso.date()

export const SharedBook = namedObject('SharedBook', {
  bookId: Id,
  ...ofBook,
  cover: z.nullable(textUpTo(2048)),
  bookStatus: BookStatus,
  rating: Rating,
  createdAt: Instant,
  startedAt: z.nullable(LocalDate),
  finishedAt: z.nullable(LocalDate),
})
export type SharedBook = z.infer<typeof SharedBook>

export const SharedMemo = namedObject('SharedMemo', {
  memoId: Id,
  ...ofBook,
  memoType: MemoType,
  memoContent: textUpTo(MAX_CONTENT),
  memoBookPage: Int32,
  createdAt: Instant,
  updatedAt: Instant,
})
export type SharedMemo = z.infer<typeof SharedMemo>

export const SharedReading = namedObject('SharedReading', {
  readingId: Id,
  ...ofBook,
  rating: Rating,
  finishedAt: LocalDate,
})
export type SharedReading = z.infer<typeof SharedReading>

const SharedList = namedObject('SharedList', {
  name: textUpTo(100),
  kind: z.enum(LINK_KINDS),
  item: z.array(z.union([SharedBook, SharedMemo, SharedReading])).check(z.maxLength(MAX_LIST_SIZE)),
  next: z.nullable(textUpTo(MAX_SEALED)),
})
export type SharedList = z.infer<typeof SharedList>

const FORMS = `| Suffix | Form | Kinds of link |
| --- | --- | --- |
| none | a page (HTML) | all |
| \`.json\` | a list with a cursor | \`SHELF\`, \`MEMOS\`, \`CALENDAR\` |
| \`.feed.json\` | the newest 50, as JSON Feed 1.1 | \`SHELF\`, \`MEMOS\`, \`CALENDAR\` |
| \`.atom\` | the newest 50, as Atom (RFC 4287) | \`SHELF\`, \`MEMOS\`, \`CALENDAR\` |
| \`.ics\` | the newest 500, as a calendar (RFC 5545) | \`CALENDAR\` |
| \`.svg\` | the picture | \`YEAR\` |`

const HEADERS = ['ETag', 'Cache-Control', 'X-Robots-Tag'] as const

export const sharedReference: FeatureReference = {
  tag: 'Links',
  schemas: {
    SharedBook: 'A book that a link shows.',
    SharedList: 'What a link shows.',
    SharedMemo: 'A public memo that a link shows.',
    SharedReading: 'A finished reading that a link shows.',
  },
  properties: {
    author: 'Author of the book. Null if unknown.',
    cover: 'URL of the cover. Null if there is none.',
    finishedAt: 'The day on which the reading ended.',
    'SharedBook.bookStatus': 'Whether the book is unread, being read or read.',
    'SharedBook.createdAt': 'When the book was registered.',
    'SharedBook.finishedAt': 'The day on which the last reading ended. Null if unknown.',
    'SharedBook.startedAt': 'The day on which the last reading began. Null if unknown.',
    item:
      'Books, memos or readings, newest first: books with the status `DONE` by the day on which they were finished, others by ' +
      'registration, readings by their end. Readings whose day of the end is unknown are left out. A page may be short or empty even if there is a next one.',
    'SharedList.kind': 'What the link shows.',
    'SharedList.name': 'The name of the link.',
    memoContent: 'The text, which may contain anything: show it as text, not as HTML.',
    rating: 'In stars, from 0.25 to 5. Null if there is none.',
    title: 'Title of the book.',
    updatedAt: 'When the memo was last changed.',
  },
  parameters: {
    'showLink.link': 'The part of `url` after `/l/`, and the suffix of a form.',
    'showLink.theme': 'The colours of the picture.',
  },
  operations: {
    'GET /l/{link}': {
      operationId: 'showLink',
      summary: 'Show a link',
      description:
        `Needs no token. The suffix chooses the form:\n\n${FORMS}\n\nAn address that never existed, a link that has ended and a ` +
        'suffix that the kind of link does not have return the same 404. `cursor` and `size` are for pages and `.json`, `theme` for `.svg`. ' +
        'Each response has an `ETag`: send it back as `If-None-Match`. The page of a year has a button that saves the picture as PNG. ' +
        'Pages show covers only over `https`, which browsers load from where they are.',
      requestHeaders: ['If-None-Match'],
      responses: {
        200: {
          ...json(
            SharedList,
            'What the link shows',
            ...HEADERS,
            'Content-Security-Policy',
            'Cross-Origin-Opener-Policy',
          ),
          content: {
            'application/json': SharedList,
            'text/html': z.string(),
            'application/feed+json': z.string(),
            'application/atom+xml': z.string(),
            'text/calendar': z.string(),
            'image/svg+xml': z.string(),
          },
        },
        304: {
          description: 'Not changed since the `ETag` that was sent',
          headers: [...HEADERS, 'Content-Security-Policy', 'Cross-Origin-Opener-Policy'],
        },
      },
      pathParameters: SharedPath,
      errors: ['MAX_STATS_ROWS', 'UNAVAILABLE'],
    },
  },
}
