import * as z from 'zod/mini'
import { MEMO_AUTHORITIES, MEMO_TYPES } from '../../values/contract'
import {
  filledText,
  IdParameter,
  Int32,
  idParameter,
  nameOrCode,
  nameOrCodeOrAll,
  nameOrCodeOrDefault,
} from '../../values/fields'
import { named, namedLazy } from '../../values/named'
import { MAX_MEMOS_SIZE, pagingUpTo } from '../../values/paging'

export const MemoType = named('MemoType', z.enum(MEMO_TYPES))
export const MemoAuthority = named('MemoAuthority', z.enum(MEMO_AUTHORITIES))
export const MAX_CONTENT = 65_535
const MemoContent = z.lazy(() => filledText(MAX_CONTENT))

export const NewMemo = namedLazy('NewMemo', () =>
  z.object({
    memoBookPage: Int32,
    memoContent: MemoContent,
    memoType: nameOrCodeOrDefault(MemoType, 'BOOK_CONTENT'),
    memoAuthority: nameOrCodeOrDefault(MemoAuthority, 'PRIVATE'),
  }),
)
export type NewMemo = z.infer<typeof NewMemo>

export const MemoPatch = namedLazy('MemoPatch', () =>
  z.object({
    memoBookPage: z.optional(Int32),
    memoContent: z.optional(MemoContent),
    memoType: z.optional(nameOrCode(MemoType)),
    memoAuthority: z.optional(nameOrCode(MemoAuthority)),
  }),
)
export type MemoPatch = z.infer<typeof MemoPatch>

export const MemoPath = z.lazy(() => z.object({ 'memo-id': IdParameter }))
export const NewMemoQuery = z.lazy(() =>
  z.object({ bookId: idParameter({ required: 'is required in the query, as in /memos?bookId=1, not in the body' }) }),
)
export const MemoTypeOrAll = z.lazy(() => nameOrCodeOrAll(MemoType))
export const MemosQuery = z.lazy(() => z.extend(pagingUpTo(MAX_MEMOS_SIZE), { memoType: MemoTypeOrAll }))
export type MemosQuery = z.infer<typeof MemosQuery>
