import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'

/** Of more documents of a book, a page has no sittings. Most books have one or two. */
export const MAX_DOCUMENTS_OF_BOOK = 100
/** The most rows of devices that a page of `size` sittings reads. Of a book with many documents, ten rows of each. */
export const MIN_ROWS = 200
export const maxRows = (size: number) => Math.max(MIN_ROWS, 10 * size)

/** The cursor is the day of the last sitting, and its token: empty if it was typed. */
export const SittingQuery = z.lazy(() => cursorPaging(z.tuple([z.string(), z.string()])))
export type SittingQuery = z.infer<typeof SittingQuery>
