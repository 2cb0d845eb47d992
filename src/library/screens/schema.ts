import * as z from 'zod/mini'
import { MAX_NAME } from '../../values/contract'
import { cursorPaging } from '../../values/cursor'
import { nameOf, nameOrCodeOrAll, nonEmptyText, PastInstant } from '../../values/fields'
import { MemoAuthority, MemoTypeOrAll } from '../memos/schema'
import { LibrarySearchTerm } from '../search/schema'

/** How many memos the page of a book shows. */
export const MAX_SHOWN_MEMOS = 20

/** The most series that counts list: those with the most books. */
export const MAX_COUNTED_SERIES = 500

/** The most books of a series whose numbers are read to find the missing ones, and the most missing ones listed. */
export const MAX_NUMBERS = 1000
export const MAX_MISSING = 100

export const SeriesPath = z.lazy(() => z.object({ series: nonEmptyText(MAX_NAME) }))
/** The cursor has the number and the identifier of the last book. */
export const SeriesQuery = z.lazy(() => cursorPaging(z.tuple([z.nullable(z.number()), z.int()])))
export type SeriesQuery = z.infer<typeof SeriesQuery>

/** The cursor is the `createdAt` and the identifier of the last memo examined. */
export const MemoListQuery = z.lazy(() =>
  z.extend(cursorPaging(z.tuple([z.string(), z.int()])), {
    memoType: z._default(MemoTypeOrAll, 'ALL'),
    memoAuthority: z._default(nameOrCodeOrAll(MemoAuthority), 'ALL'),
    q: z.optional(LibrarySearchTerm),
    since: z.optional(PastInstant),
    include: z.optional(nameOf(['book'])),
  }),
)
export type MemoListQuery = z.infer<typeof MemoListQuery>
