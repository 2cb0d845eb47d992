import * as z from 'zod/mini'
import { empty, type FeatureReference, json, NULLABLE_SENT } from '../../http/description/feature-reference'
import { BookFormat } from '../../values/fields'
import { namedObject } from '../../values/named'
import { Id, listUpTo, textUpTo } from '../../values/responses'
import { DATE, MAX_LISTED_READINGS, MAX_NOTE, ReadingOutcome } from './schema'

const StoredDate = z.nullable(z.string().check(z.regex(DATE)))

export const Reading = namedObject('Reading', {
  readingId: Id,
  startedAt: StoredDate,
  finishedAt: StoredDate,
  outcome: z.nullable(ReadingOutcome),
  rating: z.nullable(z.number().check(z.minimum(0.25), z.maximum(5), z.multipleOf(0.25))),
  format: z.nullable(BookFormat),
  note: z.nullable(textUpTo(MAX_NOTE)),
  paused: z.boolean(),
})
export type Reading = z.infer<typeof Reading>

const PARTIAL_DATE_SENT = '`yyyy`, `yyyy-MM` or `yyyy-MM-dd`, a valid calendar date.'

export const readingsReference: FeatureReference = {
  tag: 'Readings',
  schemas: {
    NewReading: 'A reading to add.',
    Reading: 'A single reading of a book, in progress or ended. A book can have several.',
    ReadingOutcome:
      'How a reading ended.\n\n- `FINISHED`: the book was read to the end\n- `STOPPED`: the book was given up',
    ReadingPatch: 'The fields of a reading to change. Absent fields stay unchanged.',
  },
  properties: {
    finishedAt: 'When reading ended, as `yyyy`, `yyyy-MM` or `yyyy-MM-dd`. Null if unknown, or if the reading is open.',
    'NewReading.finishedAt': `When reading ended. ${PARTIAL_DATE_SENT} \`outcome\` then defaults to \`FINISHED\`.`,
    'ReadingPatch.finishedAt': `When reading ended. ${PARTIAL_DATE_SENT} If the reading is open and \`outcome\` is absent, the outcome becomes \`FINISHED\`.`,
    'Reading.format': 'Format in which the book was read. Null if unknown.',
    'NewReading.format': 'Format in which the book was read.',
    'ReadingPatch.format': 'Format in which the book was read.',
    note: 'A note on this reading, exactly as it was sent. Null if none.',
    'NewReading.note': `A note on this reading. ${NULLABLE_SENT}`,
    'ReadingPatch.note': `A note on this reading. ${NULLABLE_SENT}`,
    outcome: 'How it ended. Null while the book is being read.',
    'ReadingPatch.outcome':
      'How it ended. Null reopens the current reading, and clears `finishedAt`. A past one cannot be reopened.',
    paused: 'Whether the reading is paused. Always false if it has ended.',
    rating:
      'Rating from 0.25 to 5, in steps of 0.25. Null if not rated. The `star` of a book is the rating of its current reading, rounded half up.',
    readingId:
      'Identifier of the reading. The first reading of a book can have the identifier of the book. Identifiers are not reused.',
    startedAt: 'When reading started, as `yyyy`, `yyyy-MM` or `yyyy-MM-dd`. Null if unknown.',
    'NewReading.startedAt': `When reading started. ${PARTIAL_DATE_SENT}`,
    'ReadingPatch.startedAt': `When reading started. ${PARTIAL_DATE_SENT}`,
  },
  parameters: { 'reading-id': 'Identifier of the reading.' },
  operations: {
    'GET /books/{book-id}/readings': {
      operationId: 'listReadings',
      summary: 'List the readings of a book',
      description:
        'The current reading, which has the status, full dates and rating of the book, then at most 200 past ones, newest ' +
        'first. A book that is `YET` has no current reading.',
      responses: { 200: json(listUpTo(MAX_LISTED_READINGS, Reading), 'The readings') },
    },
    'POST /books/{book-id}/readings': {
      operationId: 'createReading',
      summary: 'Add a reading of a book',
      description:
        'An open one becomes the current reading of the book, and so does an ended one if it is later than the current one, or ' +
        'if the book is `YET`: the book takes its status, full dates and rating. Otherwise the book does not change. ' +
        '`finishedAt` must not be before `startedAt`, which is not checked when dates are set on the book.',
      responses: { 201: json(Reading, 'The new reading') },
      errors: ['READING_OPEN', 'MAX_READINGS', 'MAX_MEMBER_TEXT_BYTES'],
    },
    'PATCH /readings/{reading-id}': {
      operationId: 'updateReading',
      summary: 'Update a reading',
      description:
        'Absent fields stay unchanged. The book changes with its current reading. After a change of dates or outcome, ' +
        'a past one that is later becomes the current one. An empty object changes nothing.',
      responses: { 200: json(Reading, 'The updated reading') },
      errors: ['MAX_MEMBER_TEXT_BYTES'],
    },
    'DELETE /readings/{reading-id}': {
      operationId: 'deleteReading',
      summary: 'Delete a reading',
      description:
        'Cannot be undone. If it is the current reading, the newest of the others takes its place: the book gets its status and ' +
        'dates, and its rating if it has one. If no reading is left, the book becomes `YET`, has no dates, and keeps its `star`.',
      responses: { 204: empty('Deleted') },
    },
  },
}
