import * as z from 'zod/mini'
import { Int32 } from '../../values/fields'
import { Id, LocalTime } from '../../values/responses'
import { MAX_CONTENT, MemoAuthority, MemoType } from './schema'

export const Memo = z
  .object({
    memoId: Id,
    memoType: MemoType,
    memoContent: z.string().check(z.maxLength(MAX_CONTENT)),
    memoBookPage: Int32,
    memoAuthority: MemoAuthority,
    memoLikesCount: Int32,
    createdAt: LocalTime,
    updatedAt: LocalTime,
  })
  .register(z.globalRegistry, { id: 'Memo' })
export type Memo = z.infer<typeof Memo>

export const RandomMemo = z
  .pick(Memo, { memoId: true, memoContent: true, memoType: true, memoBookPage: true })
  .register(z.globalRegistry, {
    id: 'RandomMemo',
  })
export type RandomMemo = z.infer<typeof RandomMemo>

export const ImageUrl = z.url().check(z.maxLength(4096))
