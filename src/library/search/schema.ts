import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'
import { IdParameter, LongerSearchTerm } from '../../values/fields'
import { MemoTypeOrAll } from '../memos/schema'

/** The cursor is the identifier of the last item that was searched. */
const searchPaging = () => z.extend(cursorPaging(z.int().check(z.minimum(1))), { q: LongerSearchTerm })

export const BookSearch = z.lazy(searchPaging)
export type BookSearch = z.infer<typeof BookSearch>

export const MemoSearch = z.lazy(() =>
  z.extend(searchPaging(), { memoType: z._default(MemoTypeOrAll, 'ALL'), bookId: z.optional(IdParameter) }),
)
export type MemoSearch = z.infer<typeof MemoSearch>

/** Characters of a memo around the match, from which the excerpt is made. */
export const WINDOW = 800
