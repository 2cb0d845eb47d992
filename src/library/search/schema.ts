import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'
import { IdParameter, LongerSearchTerm } from '../../values/fields'
import { MAX_WORDS, toWords } from '../../values/text/search-words'
import { MemoTypeOrAll } from '../memos/schema'

/** What to search the library for. */
export const LibrarySearchTerm = z.lazy(() =>
  LongerSearchTerm.check(
    z.refine((q) => toWords(q).length <= MAX_WORDS, {
      error: `must have at most ${MAX_WORDS} words`,
    }),
  ),
)

/** The cursor is the identifier of the last item that was searched. */
const searchPaging = () => z.extend(cursorPaging(z.int().check(z.minimum(1))), { q: LibrarySearchTerm })

export const BookSearch = z.lazy(searchPaging)
export type BookSearch = z.infer<typeof BookSearch>

export const MemoSearch = z.lazy(() =>
  z.extend(searchPaging(), { memoType: z._default(MemoTypeOrAll, 'ALL'), bookId: z.optional(IdParameter) }),
)
export type MemoSearch = z.infer<typeof MemoSearch>

/** The most rows that a call searches. */
export const MAX_SEARCHED = 1000
/** Characters of a memo around the match, from which the excerpt is made. */
export const WINDOW = 800
