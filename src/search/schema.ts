import * as z from 'zod'
import { MemosQuery } from '../memos/schema'
import { cursorPaging } from '../schema/cursor'
import { IdParameter, LongerSearchTerm } from '../schema/values'

/** The cursor is the identifier of the last item that was searched. */
export const BookSearch = cursorPaging(z.int().min(1)).extend({ q: LongerSearchTerm })
export type BookSearch = z.infer<typeof BookSearch>

export const MemoSearch = BookSearch.extend({
  memoType: MemosQuery.shape.memoType.default('ALL'),
  bookId: IdParameter.optional(),
})
export type MemoSearch = z.infer<typeof MemoSearch>

/** Characters of a memo around the match, from which the excerpt is made. */
export const WINDOW = 800
