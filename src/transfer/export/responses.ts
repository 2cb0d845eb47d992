import * as z from 'zod/mini'
import { Profile } from '../../accounts/members/responses'
import { ListedBook } from '../../library/books/responses'
import { Edition } from '../../library/editions/responses'
import { Image } from '../../library/images/responses'
import { Memo } from '../../library/memos/responses'
import { ProgressEvent } from '../../library/progress/responses'
import { Reading } from '../../library/readings/responses'
import { MAX_READINGS } from '../../library/readings/schema'
import { MAX_BOOK_TAGS } from '../../library/tags/schema'
import { int } from '../../values/fields'
import { Instant } from '../../values/responses'
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
