import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'

/** The cursor is the day of the last sitting, and its token: empty if it was typed. */
export const SittingQuery = z.lazy(() => cursorPaging(z.tuple([z.string(), z.string()])))
export type SittingQuery = z.infer<typeof SittingQuery>
