import * as z from 'zod'
import { Id, LocalTime } from '../schema/responses'
import { Int32 } from '../schema/values'
import { MAX_CONTENT, MemoAuthority, MemoType } from './schema'

export const Memo = z
  .object({
    memoId: Id,
    memoType: MemoType,
    memoContent: z.string().max(MAX_CONTENT),
    memoBookPage: Int32,
    memoAuthority: MemoAuthority,
    memoLikesCount: Int32,
    createdAt: LocalTime,
    updatedAt: LocalTime,
  })
  .meta({ id: 'Memo' })
export type Memo = z.infer<typeof Memo>

export const RandomMemo = Memo.pick({ memoId: true, memoContent: true, memoType: true, memoBookPage: true }).meta({
  id: 'RandomMemo',
})
export type RandomMemo = z.infer<typeof RandomMemo>

export const ImageUrl = z.url().max(4096)
