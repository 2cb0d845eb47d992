import * as z from 'zod'
import { MEMO_AUTHORITIES, MEMO_TYPES } from '../db/schema'
import { Paging } from '../http/paging'
import { enumeration, enumerationOrAll, filledText, Id, IdParameter, Int32, LocalTime } from '../http/values'

const MemoType = enumeration(MEMO_TYPES)
const MemoAuthority = enumeration(MEMO_AUTHORITIES)
const MemoContent = filledText(65_535)

/** Absent, null and an empty string all take the default. */
const defaulted = <T extends z.ZodType>(schema: T, value: z.output<T>) =>
  z.preprocess((sent) => (sent === undefined || sent === null || sent === '' ? value : sent), schema)

export const NewMemo = z
  .object({
    memoBookPage: Int32,
    memoContent: MemoContent,
    memoType: defaulted(MemoType, 'BOOK_CONTENT'),
    memoAuthority: defaulted(MemoAuthority, 'PRIVATE'),
  })
  .meta({ id: 'NewMemo' })
export type NewMemo = z.infer<typeof NewMemo>

export const MemoPatch = z
  .object({
    memoBookPage: Int32.optional(),
    memoContent: MemoContent.optional(),
    memoType: MemoType.optional(),
    memoAuthority: MemoAuthority.optional(),
  })
  .meta({ id: 'MemoPatch' })
export type MemoPatch = z.infer<typeof MemoPatch>

export const MemoPath = z.object({ 'memo-id': IdParameter })
export const NewMemoQuery = z.object({ bookId: IdParameter })
export const MemosQuery = Paging.extend({ memoType: enumerationOrAll(MEMO_TYPES) })
export type MemosQuery = z.infer<typeof MemosQuery>

export const Memo = z
  .object({
    memoId: Id,
    memoType: z.enum(MEMO_TYPES),
    memoContent: z.string(),
    memoBookPage: z.int(),
    memoAuthority: z.enum(MEMO_AUTHORITIES),
    memoLikesCount: z.int(),
    createdAt: LocalTime,
    updatedAt: LocalTime,
  })
  .meta({ id: 'Memo' })
export type Memo = z.infer<typeof Memo>

export const RandomMemo = Memo.pick({ memoId: true, memoContent: true, memoType: true, memoBookPage: true }).meta({
  id: 'RandomMemo',
})
export type RandomMemo = z.infer<typeof RandomMemo>
