import * as z from 'zod/mini'
import { Id } from '../../values/responses'
import { Memo } from '../memos/responses'
import { WINDOW } from './schema'

export const FoundMemo = z
  .extend(z.omit(Memo, { memoContent: true, memoLikesCount: true }), {
    bookId: Id,
    title: z.string().check(z.maxLength(500)),
    // NFC can triple the length of rare characters.
    excerpt: z.string().check(z.maxLength(3 * WINDOW)),
  })
  .register(z.globalRegistry, { id: 'FoundMemo' })
export type FoundMemo = z.infer<typeof FoundMemo>
