import * as z from 'zod'
import { Memo, MemosQuery } from '../memos/schema'
import { cursorPaging } from '../schema/cursor'
import { Id, IdParameter, LongerSearchTerm } from '../schema/values'

/** The cursor is the identifier of the last item that was searched. */
export const BookSearch = cursorPaging(Id).extend({ q: LongerSearchTerm })
export type BookSearch = z.infer<typeof BookSearch>

export const MemoSearch = BookSearch.extend({
  memoType: MemosQuery.shape.memoType.default('ALL'),
  bookId: IdParameter.optional(),
})
export type MemoSearch = z.infer<typeof MemoSearch>

/** Characters of a memo around the match, from which the excerpt is made. */
export const WINDOW = 800

export const FoundMemo = Memo.omit({ memoContent: true, memoLikesCount: true })
  .extend({
    bookId: Id,
    title: z.string().max(500),
    // NFC can triple the length of rare characters.
    excerpt: z.string().max(3 * WINDOW),
  })
  .meta({ id: 'FoundMemo' })
export type FoundMemo = z.infer<typeof FoundMemo>
