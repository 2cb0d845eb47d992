import * as z from 'zod/mini'
import { ListedBook } from '../books/responses'
import { Edition } from '../editions/responses'
import { Image } from '../images/responses'
import { Profile } from '../members/responses'
import { Memo } from '../memos/responses'
import { ProgressEvent } from '../progress/responses'
import { Reading } from '../readings/responses'
import { MAX_READINGS } from '../readings/schema'
import { Instant } from '../schema/responses'
import { int } from '../schema/values'
import { MAX_BOOK_TAGS } from '../tags/schema'
import { MAX_PARTS } from './schema'

/** In milliseconds, so that the events of a book stay in order. */
const ExactInstant = z.iso.datetime({ precision: 3 })

const ExportedReading = z
  .extend(Reading, { createdAt: z.nullable(ExactInstant) })
  .register(z.globalRegistry, { id: 'ExportedReading' })
export type ExportedReading = z.infer<typeof ExportedReading>

const ExportedEvent = z.extend(ProgressEvent, { at: ExactInstant }).register(z.globalRegistry, { id: 'ExportedEvent' })

const ExportedBook = z
  .extend(z.extend(z.omit(ListedBook, { memoCount: true }), z.omit(Edition, { bookId: true }).shape), {
    tags: z.array(z.string().check(z.maxLength(100))).check(z.maxLength(MAX_BOOK_TAGS)),
    readings: z.array(ExportedReading).check(z.maxLength(MAX_READINGS)),
    progress: z.array(ExportedEvent),
    memos: z.array(Memo),
  })
  .register(z.globalRegistry, { id: 'ExportedBook' })
export type ExportedBook = z.infer<typeof ExportedBook>

const ExportedImage = z.omit(Image, { memberId: true }).register(z.globalRegistry, { id: 'ExportedImage' })
export type ExportedImage = z.infer<typeof ExportedImage>

export const LibraryExport = z
  .object({
    format: z.literal('reading-library'),
    version: z.literal(1),
    exportedAt: Instant,
    part: int(1, MAX_PARTS),
    last: z.boolean(),
    member: Profile,
    images: z.array(ExportedImage),
    books: z.array(ExportedBook),
  })
  .register(z.globalRegistry, { id: 'LibraryExport' })
export type LibraryExport = z.infer<typeof LibraryExport>
