import * as z from 'zod/mini'
import { MAX_TAG } from '../../values/contract'
import { textUpTo } from '../../values/responses'
import { Edition } from '../editions/responses'
import { Memo } from '../memos/responses'
import { ProgressEvent } from '../progress/responses'
import { Reading } from '../readings/responses'
import { MAX_BOOK_TAGS } from '../tags/schema'

/** What `include` adds to a book. */
export const BookParts = z.object({
  edition: Edition,
  tags: z.array(textUpTo(MAX_TAG)).check(z.maxLength(MAX_BOOK_TAGS)),
  readings: z.array(Reading).check(z.maxLength(1)),
  progress: z.nullable(ProgressEvent),
  lastMemo: z.nullable(Memo),
})
export type BookParts = z.infer<typeof BookParts>
