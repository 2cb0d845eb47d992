import * as z from 'zod/mini'
import { empty, type FeatureReference, json } from '../../http/description/feature-reference'
import { LINK_KINDS, MAX_COVER, MAX_LABEL, MAX_NAME } from '../../values/contract'
import { MAX_LIST_SIZE } from '../../values/cursor'
import { Int32 } from '../../values/fields'
import { namedObject } from '../../values/named'
import { Id, Instant, listUpTo, textUpTo } from '../../values/responses'
import { BookStatus } from '../books/schema'
import { MAX_CONTENT, MemoType } from '../memos/schema'
import { ReadingOutcome } from '../readings/schema'
import { LinkViewPath, MAX_SEALED } from './schema'

const Rating = z.nullable(z.number().check(z.minimum(0.25), z.maximum(5), z.multipleOf(0.25)))
const ofBook = { title: textUpTo(MAX_NAME), author: z.nullable(textUpTo(MAX_NAME)) }
const LocalDate = z.iso.date()

export const LinkedBook = namedObject('LinkedBook', {
  bookId: Id,
  ...ofBook,
  cover: z.nullable(textUpTo(MAX_COVER)),
  bookStatus: BookStatus,
  outcome: z.nullable(ReadingOutcome),
  rating: Rating,
  createdAt: Instant,
  startedAt: z.nullable(LocalDate),
  finishedAt: z.nullable(LocalDate),
})
export type LinkedBook = z.infer<typeof LinkedBook>

export const LinkedMemo = namedObject('LinkedMemo', {
  memoId: Id,
  ...ofBook,
  memoType: MemoType,
  memoContent: textUpTo(MAX_CONTENT),
  memoBookPage: Int32,
  createdAt: Instant,
  updatedAt: Instant,
})
export type LinkedMemo = z.infer<typeof LinkedMemo>

export const LinkedReading = namedObject('LinkedReading', {
  readingId: Id,
  ...ofBook,
  rating: Rating,
  finishedAt: LocalDate,
})
export type LinkedReading = z.infer<typeof LinkedReading>

const LISTED_KINDS = LINK_KINDS.filter((kind) => kind !== 'YEAR')
const LinkedList = namedObject('LinkedList', {
  name: textUpTo(MAX_LABEL),
  kind: z.enum(LISTED_KINDS),
  ownerName: z.nullable(textUpTo(MAX_NAME)),
  item: listUpTo(MAX_LIST_SIZE, z.union([LinkedBook, LinkedMemo, LinkedReading])),
  next: z.nullable(textUpTo(MAX_SEALED)),
})
export type LinkedList = z.infer<typeof LinkedList>

const FORMS = `| Suffix | Form | Kinds of link |
| --- | --- | --- |
| none | a page (HTML) | all |
| \`.json\` | a list with a cursor | \`SHELF\`, \`MEMOS\`, \`CALENDAR\` |
| \`.feed.json\` | the newest 50, as JSON Feed 1.1 | \`SHELF\`, \`MEMOS\`, \`CALENDAR\` |
| \`.atom\` | the newest 50, as Atom (RFC 4287) | \`SHELF\`, \`MEMOS\`, \`CALENDAR\` |
| \`.ics\` | the newest 500, as a calendar (RFC 5545) | \`CALENDAR\` |
| \`.svg\` | the picture | \`YEAR\` |`

const PAGE_HEADERS = ['Content-Security-Policy', 'Cross-Origin-Opener-Policy'] as const
const HEADERS = ['ETag', 'Cache-Control', 'X-Robots-Tag', ...PAGE_HEADERS] as const

export const linkViewsReference: FeatureReference = {
  tag: 'Links',
  schemas: {
    LinkedBook: 'A book that a link shows.',
    LinkedList: 'What a link shows.',
    LinkedMemo: 'A public memo that a link shows.',
    LinkedReading: 'A finished reading that a link shows.',
  },
  ownProperties: {
    cover: 'URL of the cover. Null if there is none.',
    finishedAt: 'The day on which the reading ended.',
    'LinkedBook.bookStatus': 'Whether the book is unread, being read or read.',
    'LinkedBook.outcome': 'How the reading of a read book ended: finished, or stopped before its end. Null for others.',
    'LinkedBook.createdAt': 'When the book was registered.',
    'LinkedBook.finishedAt': 'The day on which the last reading ended. Null if unknown.',
    'LinkedBook.startedAt': 'The day on which the last reading began. Null if unknown.',
    item:
      'Books, memos or readings, newest first. Books are sorted by registration, or by the day on which they were finished if the link ' +
      'has the `bookStatus` `DONE` and no tag; readings by the day on which they were finished. A page may be short or empty even if ' +
      'there is a next one.',
    'LinkedList.kind': 'What the link shows.',
    'LinkedList.name': 'The name of the link.',
    ownerName: 'The current name of the member. Null unless the link has `showName`.',
    memoContent: 'The text, which may contain anything: show it as text, not as HTML.',
    rating: 'In stars, from 0.25 to 5. Null if there is none.',
  },
  parameters: {
    'showLink.link': 'The part of `url` after `/l/`, and the suffix of a form.',
    'showLink.picture': 'The shape of the picture: `card` is wide, `page` is tall.',
    'showLink.theme': 'The colours of the picture.',
  },
  operations: {
    'GET /l/{link}': {
      operationId: 'showLink',
      summary: 'Show a link',
      description:
        `Needs no token. The suffix chooses the form:\n\n${FORMS}\n\nUnknown addresses, ended links and unsupported ` +
        'suffixes get the same 404. `cursor` and `size` are for pages and `.json`, `theme` and `picture` for `.svg`. ' +
        'Each response has an `ETag`: send it back as `If-None-Match`. The page of a year has a button that saves the picture as PNG, and below it the title, author and month of each finish, ' +
        'up to the 1,000 of the picture. ' +
        'Pages show only covers with an `https` URL, or also `http` if the service itself has such an address, as on ' +
        'localhost; browsers load them from that host.',
      requestHeaders: ['If-None-Match'],
      responses: {
        // The other forms are described in words: a generator would define the response twice.
        200: json(LinkedList, 'What the link shows', ...HEADERS),
        304: empty('Not changed since the `ETag` that was sent', ...HEADERS),
      },
      pathParameters: LinkViewPath,
      errors: ['MAX_STATS_ROWS', 'UNAVAILABLE'],
    },
  },
}
