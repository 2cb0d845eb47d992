import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { PROGRESS_KINDS, PROGRESS_SOURCES } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { Instant, LocalTime, listOf } from '../../values/responses'
import { BookStatus } from '../books/schema'
import { Minutes, ReachedSeconds } from './schema'

const ProgressKind = named('ProgressKind', z.enum(PROGRESS_KINDS))
export const ProgressSource = named('ProgressSource', z.enum(PROGRESS_SOURCES))
export const ProgressEvent = namedObject('ProgressEvent', {
  at: Instant,
  page: Int32,
  kind: ProgressKind,
  minutes: z.nullable(Minutes),
  seconds: z.nullable(ReachedSeconds),
  percent: z.nullable(z.number().check(z.minimum(0), z.maximum(100))),
  source: z.nullable(ProgressSource),
})
export type ProgressEvent = z.infer<typeof ProgressEvent>
const AddedProgress = named(
  'AddedProgress',
  z.extend(ProgressEvent, { bookStatus: BookStatus, readEndDate: z.nullable(LocalTime) }),
)
export type AddedProgress = z.infer<typeof AddedProgress>

export const progressReference: FeatureReference = {
  tag: 'Progress',
  schemas: {
    AddedProgress: 'What was reached, and the book after that.',
    NewProgress:
      'What was reached (one of `page`, `percent` and `seconds`), how long the sitting was (`minutes`), or both.',
    ProgressEvent: 'What was reached, when, and in how long a sitting.',
    ProgressEventList: 'A page of progress events.',
    ProgressKind:
      'Kind of event.\n\n- `PROGRESS`: the same or a later page, or a new reading\n- `FINISHED`: the book became `DONE`\n- `CORRECTION`: an earlier page or second in the same reading, or a first event that only repeats the page of the book\n- `UNDATED`: a page that a device pushed later than it was read: its day is unknown, so the statistics count it on none',
    ProgressSource: 'What recorded an event.\n\n- `DEVICE`: a reading device',
  },
  properties: {
    'NewProgress.at':
      'When it was reached, or the sitting ended: a past time in RFC 3339 format, with `Z` or an offset, not before 1900. A time up to five minutes ahead is treated as now. Now if null or absent.',
    at: 'When it was reached, or the sitting ended.',
    'AddedProgress.bookStatus': 'Reading status of the book.',
    date: 'With `finish`: the day on which the book was finished. Send the day of the user: if absent, it is today in the time zone of the service.',
    finish: 'Whether the book was finished.',
    kind: 'Kind of event.',
    page: 'The page that was reached.',
    'NewProgress.page': 'The page that was reached: at most the `itemPage` of the book, if it has one.',
    'AddedProgress.readEndDate': 'When reading ended, in the time zone of the reader. Null if not yet, or unknown.',
    source: 'What recorded it. Null for the API and imports.',
    minutes: 'How long the sitting was that ended with it. Null if unknown.',
    'NewProgress.minutes':
      'How long the sitting was that ended at `at`. Null removes those of the event at that time; then `at` must be sent, and `finish` must not.',
    percent:
      'How much of the book that is: `seconds` of the `seconds` of its edition, else `page` of its `itemPage`. Rounded to one decimal. Null if unknown.',
    'NewProgress.percent':
      'How much of the book was read, as a percentage of its `itemPage`, rounded to the nearest page. Without an `itemPage`, of the `seconds` of its edition.',
    seconds: 'The second of an audiobook that was reached. Null if unknown.',
    'NewProgress.seconds':
      'The second of an audiobook that was reached: at most the `seconds` of its edition, which it must have. Of a book with `itemPage`, it also sets the page in proportion.',
  },
  operations: {
    'GET /books/{book-id}/progress': {
      operationId: 'listProgress',
      summary: 'List the progress of a book',
      description:
        'Latest first. Every change of `currentPage` and every `addProgress` is an event. Beyond 1,000 events of a book, ' +
        'those of a UTC day are merged into its last one, oldest days first, but not those with `minutes`. If there are none to ' +
        'merge, the oldest is deleted.',
      responses: { 200: json(listOf(ProgressEvent), 'A page of events') },
    },
    'POST /books/{book-id}/progress': {
      operationId: 'addProgress',
      summary: 'Add progress to a book',
      description:
        'Send one of `page`, at most the `itemPage` of the book if it has one, `percent` and `seconds`, which need the ' +
        'length of the book. The latest event sets `currentPage`; an earlier one is only added to the list. No event replaces ' +
        'another: of two at the same time, the later request comes later, and the same page at the same time is the same ' +
        'event, of which `minutes` can be set or removed later. Without a fraction, `at` means any time in its second.\n\nIf only `minutes` ' +
        'are sent, they are those of the event at that time or, if there is none, of a new one with the page of the event ' +
        'before it, or page 0 if it begins another reading. To add the page of such a sitting later, send it with the same `at`, ' +
        'but without `minutes`: another page is another event, whose minutes would count, too. Likewise, `seconds` of a book ' +
        'without `itemPage` keep the page.\n\n' +
        'A book that is `YET` becomes `ING` if the event is its latest, and has `minutes`, or a page or second above 0. ' +
        'With `finish`, the book becomes `DONE` on `date`, as `updateBook` does with `bookStatus` and `readEndDate`, which is ' +
        'a further event; a stopped reading is then finished. A book that is finished already stays as it is: ' +
        '`X-Ignored` then names `date` if it is another day than `readEndDate`. `updateReading` changes that. Otherwise the ' +
        'status stays the same: a paused reading stays paused, and a book that is `DONE` is read again with `createReading`.',
      responses: { 201: json(AddedProgress, 'The new event') },
    },
  },
}
