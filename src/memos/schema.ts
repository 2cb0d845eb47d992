import * as z from 'zod'
import { MEMO_AUTHORITIES, MEMO_TYPES } from '../contract'
import { MAX_MEMOS_SIZE, pagingUpTo } from '../schema/paging'
import { enumeration, enumerationOrAll, filledText, Id, IdParameter, Int32, LocalTime } from '../schema/values'

const MemoType = enumeration(MEMO_TYPES)
const MemoAuthority = enumeration(MEMO_AUTHORITIES)
const MemoContent = filledText(65_535)

/** Absent, null and an empty string mean the default. */
const withDefault = <T extends z.ZodType<string>>(schema: T, value: z.output<T>) =>
  z
    .preprocess((sent: z.input<T> | '' | null) => (sent === null || sent === '' ? value : sent), schema)
    .default(value as never)
    .describe(`${value} if absent, null or empty`)

export const NewMemo = z
  .object({
    memoBookPage: Int32,
    memoContent: MemoContent,
    memoType: withDefault(MemoType, 'BOOK_CONTENT'),
    memoAuthority: withDefault(MemoAuthority, 'PRIVATE'),
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

export const MemoPath = z.object({ 'memo-id': IdParameter.describe('Identifier of the memo') })
export const NewMemoQuery = z.object({ bookId: IdParameter.describe('The book to add the memo to') })
export const MemosQuery = pagingUpTo(MAX_MEMOS_SIZE).extend({
  memoType: enumerationOrAll(MEMO_TYPES).describe('Type of the memos to list'),
})
export type MemosQuery = z.infer<typeof MemosQuery>

export const Memo = z
  .object({
    memoId: Id,
    memoType: z.enum(MEMO_TYPES),
    memoContent: MemoContent,
    memoBookPage: Int32,
    memoAuthority: z.enum(MEMO_AUTHORITIES),
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
