import * as z from 'zod'
import { Memo } from '../memos/responses'
import { Id } from '../schema/responses'
import { WINDOW } from './schema'

export const FoundMemo = Memo.omit({ memoContent: true, memoLikesCount: true })
  .extend({
    bookId: Id,
    title: z.string().max(500),
    // NFC can triple the length of rare characters.
    excerpt: z.string().max(3 * WINDOW),
  })
  .meta({ id: 'FoundMemo' })
export type FoundMemo = z.infer<typeof FoundMemo>
