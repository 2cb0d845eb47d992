import * as z from 'zod/mini'
import { MAX_NAME } from '../../values/contract'
import { cursorPaging } from '../../values/cursor'
import { nonEmptyText } from '../../values/fields'

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
