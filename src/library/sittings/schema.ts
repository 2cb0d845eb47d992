import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'

/** The most rows of devices that a page reads. Of a book with over 100 documents, ten rows of each. */
export const MAX_ROWS = 1000

/** The cursor is the day of the last sitting, and its token: empty if it was typed. */
export const SittingQuery = z.lazy(() => cursorPaging(z.tuple([z.string(), z.string()])))
export type SittingQuery = z.infer<typeof SittingQuery>
