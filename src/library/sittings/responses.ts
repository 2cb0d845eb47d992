import * as z from 'zod/mini'
import { type FeatureReference, json } from '../../http/description/feature-reference'
import { MAX_LABEL } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { named, namedObject } from '../../values/named'
import { listOf, textUpTo } from '../../values/responses'
import { ProgressSource } from '../progress/responses'
import { MAX_DOCUMENTS_OF_BOOK, MIN_ROWS } from './schema'

const Sitting = namedObject('Sitting', {
  date: z.iso.date(),
  minutes: z.int().check(z.minimum(1)),
  source: z.nullable(ProgressSource),
  tokenId: z.nullable(z.uuid()),
  tokenName: z.nullable(textUpTo(MAX_LABEL)),
})
export type Sitting = z.infer<typeof Sitting>
const SittingList = named('SittingList', z.extend(listOf(Sitting), { deviceMinutes: Int32, eventMinutes: Int32 }))
export type SittingList = z.infer<typeof SittingList>

export const sittingsReference: FeatureReference = {
  tag: 'Progress',
  schemas: {
    Sitting: 'How long a book was read on a day, by one source.',
    SittingList: 'A page of sittings.',
  },
  properties: {
    'Sitting.date': 'The day, in your time zone.',
    'SittingList.deviceMinutes': 'How long devices have read the book in all, by their statistics.',
    'SittingList.eventMinutes':
      'The `minutes` of all progress events of the book, also of those that do not count because a device has minutes of that day.',
    'Sitting.minutes': 'How long the book was read, rounded to minutes, but at least 1.',
    'Sitting.source': 'What recorded it. Null for the minutes of progress events.',
    'Sitting.tokenId': 'The access token of the device. Null unless a device recorded it.',
    'Sitting.tokenName': 'The name of that access token. Null once it is deleted.',
  },
  operations: {
    'GET /books/{book-id}/sittings': {
      operationId: 'listSittings',
      summary: 'List how long a book was read',
      description:
        'Latest day first, with one entry for each day and source: those of several devices add up. On a day with minutes of a ' +
        'device, those of progress events do not count and are not listed. A device counts for the book while its document is ' +
        'linked to it (`listDocuments`), whenever that was linked. The day of a progress event is that of its end, in your time ' +
        'zone; a device’s days stay as they were counted. A page may be short even if there is a next one. ' +
        `If devices have sent reading time of one day of the book more than ${MIN_ROWS} times, the day may lack some of it. Of a book with more than ${MAX_DOCUMENTS_OF_BOOK} documents, only ` +
        'some of them count here.',
      responses: { 200: json(SittingList, 'A page of sittings') },
    },
  },
}
