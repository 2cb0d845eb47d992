import * as z from 'zod/mini'
import { Profile } from '../../accounts/members/responses'
import { TimeZone } from '../../accounts/members/schema'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { ListedBook } from '../../library/books/responses'
import { Edition } from '../../library/editions/responses'
import { Goal } from '../../library/goals/responses'
import { Image } from '../../library/images/responses'
import { Memo } from '../../library/memos/responses'
import { ProgressEvent } from '../../library/progress/responses'
import { Reading } from '../../library/readings/responses'
import { MAX_LISTED_READINGS } from '../../library/readings/schema'
import { MAX_BOOK_TAGS } from '../../library/tags/schema'
import { TrashItem } from '../../library/trash/responses'
import { MAX_TAG } from '../../values/contract'
import { int } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Instant, listUpTo, textUpTo } from '../../values/responses'
import { MAX_PARTS } from './schema'

/** In milliseconds, so that the events of a book stay in order. */
const ExactInstant = z.iso.datetime({ precision: 3 })

const ExportedReading = named('ExportedReading', z.extend(Reading, { createdAt: z.nullable(ExactInstant) }))
const ExportedEvent = named(
  'ExportedEvent',
  z.extend(z.omit(ProgressEvent, { percent: true, source: true }), { at: ExactInstant }),
)

const ExportedBook = named(
  'ExportedBook',
  z.extend(z.extend(z.omit(ListedBook, { memoCount: true }), z.omit(Edition, { bookId: true }).shape), {
    tags: listUpTo(MAX_BOOK_TAGS, textUpTo(MAX_TAG)),
    readings: listUpTo(MAX_LISTED_READINGS, ExportedReading),
    progress: z.array(ExportedEvent),
    memos: z.array(Memo),
    sittings: z.array(namedObject('ExportedSitting', { date: z.iso.date(), minutes: z.int().check(z.minimum(1)) })),
  }),
)
export type ExportedBook = z.infer<typeof ExportedBook>

const ExportedImage = named('ExportedImage', z.omit(Image, { memberId: true }))
export type ExportedImage = z.infer<typeof ExportedImage>

export const LibraryExport = namedObject('LibraryExport', {
  format: z.literal('reading-library'),
  version: z.literal(1),
  exportedAt: Instant,
  part: int(1, MAX_PARTS),
  last: z.boolean(),
  member: named('ExportedMember', z.extend(Profile, { timeZone: z.nullable(TimeZone) })),
  goals: z.array(named('ExportedGoal', z.pick(Goal, { year: true, metric: true, target: true }))),
  images: z.array(ExportedImage),
  trash: z.array(TrashItem),
  books: z.array(ExportedBook),
})
export type LibraryExport = z.infer<typeof LibraryExport>

const HEADERS = ['Content-Disposition', 'Link'] as const

const LIMITS =
  'You can start 20 exports in 24 hours, all formats together. A file has up to about 8 MiB of text. A larger export has ' +
  'several parts, each a complete file: the `Link` header has the URL of the `next` part. Further parts have their own ' +
  'limit, 400 in 24 hours. Up to 200 books at a time are read consistently. A change during an export may or may not be ' +
  'included; books registered after it began are not.'

const text = (type: string, description: string) => ({
  description,
  content: { [type]: z.string() },
  headers: [...HEADERS],
})

export const exportReference: FeatureReference = {
  tag: 'Export',
  schemas: {
    ExportedBook: 'A book with everything that belongs to it.',
    ExportedEvent: 'A page that was reached, and when.',
    ExportedGoal: 'What you want to read in a year.',
    ExportedImage: 'An uploaded image.',
    ExportedMember: 'A member.',
    ExportedSitting: 'How long devices read a book on a day.',
    ExportedReading: 'A single reading of a book, in progress or ended.',
    LibraryExport: 'A part of an export of your data. Each part can be imported alone.',
  },
  properties: {
    'ExportedEvent.at': 'When the page was reached, to the millisecond.',
    books:
      'The books of this part, in the order of their registration. Those registered after `exportedAt` are not included.',
    'ExportedBook.createdAt': 'When the book was registered.',
    'ExportedReading.createdAt': 'When the reading was added. Null for the first one.',
    exportedAt: 'When the export began.',
    'ExportedMember.name': 'Name of the member.',
    'ExportedReading.format': 'Format in which the book was read. Null if unknown.',
    'LibraryExport.format': 'Always `reading-library`.',
    'ExportedEvent.kind': 'Kind of event.',
    'ExportedEvent.minutes': 'How long the sitting was that ended with it. Null if unknown.',
    'ExportedBook.seconds': 'Length of an audiobook in seconds. Null if unknown.',
    'ExportedEvent.seconds': 'The second of an audiobook that was reached. Null if unknown.',
    last: 'Whether this is the last part.',
    images:
      'The images that you uploaded, oldest first. Only in the first part. Download them before you delete your account.',
    goals: 'Your goals, by year. Each part has them.',
    member: 'Your profile.',
    'ExportedMember.timeZone': 'Your time zone. Null for that of the service.',
    memos: 'The memos, oldest first.',
    'ExportedImage.name': 'File name of the image, the last part of its URL.',
    'ExportedEvent.page': 'The page that was reached.',
    part: 'Number of this part.',
    progress: 'The progress events, oldest first.',
    readings: 'The readings, oldest first. The status of the book refers to the last one.',
    'ExportedSitting.date': 'The day, in the time zone that you had when it was counted.',
    'ExportedSitting.minutes': 'How long it was read, rounded to minutes, but at least 1.',
    sittings:
      'How long your devices read the book, by day, oldest first. An import turns them into the minutes of progress events.',
    trash:
      'What you have deleted, latest first, without its contents: restore what you want to export. Only in the first part.',
    version: 'Version of the format. It does not change when properties are added.',
  },
  parameters: {
    part: 'Number of the part to export.',
    plan: 'Where the part begins, from the `Link` header of the previous part, so that each book is in exactly one part. Without it, the request starts a new export and counts as one.',
    for: "`spreadsheet` adds a byte order mark, and a `'` before text that a spreadsheet would run as a formula. Do not import such a file.",
  },
  operations: {
    'GET /export': {
      operationId: 'exportLibrary',
      summary: 'Export everything as JSON',
      description:
        'Your profile, goals, books, readings, progress, reading time of devices, tags, memos and the URLs of your images. Importing the file gives the same ' +
        `books, but does not upload images: download these from their URLs. ${LIMITS}`,
      responses: { 200: json(LibraryExport, 'The file', ...HEADERS) },
      countsAttempts: true,
    },
    'GET /export.csv': {
      operationId: 'exportBooks',
      summary: 'Export your books as CSV',
      description:
        'The columns of Goodreads, which other services can import, `read_dates`: all readings as `start,finish`, separated by ' +
        `\`;\`, and \`Subtitle\`. \`My Review\` is an imported review, or your first thought without a page, public or not, or else the newest note of a ` +
        `reading; other memos are not included. ${LIMITS}`,
      responses: { 200: text('text/csv', 'The file') },
      countsAttempts: true,
    },
    'GET /export/memos.md': {
      operationId: 'exportMemos',
      summary: 'Export your memos as Markdown',
      description: `By book, oldest first. The text of each memo is a block quote and otherwise unchanged: it may contain HTML. ${LIMITS}`,
      responses: { 200: text('text/markdown', 'The file') },
      countsAttempts: true,
    },
  },
}
