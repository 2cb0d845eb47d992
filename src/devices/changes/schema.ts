import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'
import { PastInstant } from '../../values/fields'
import { namedLazy } from '../../values/named'

/** Imports that one call undoes; a single one may have more rows than `MAX_ROWS_UNDONE`. */
export const MAX_IMPORTS_UNDONE = 10
export const MAX_ROWS_UNDONE = 1000

/** Where the last item is: its time, the rank of its kind, and what tells it from others of that time. */
export const ChangesQuery = z.lazy(() =>
  cursorPaging(z.tuple([z.int(), z.int(), z.union([z.int(), z.string().check(z.maxLength(200))])])),
)
export type ChangesQuery = z.infer<typeof ChangesQuery>

export const UndoRequest = namedLazy('UndoRequest', () => z.object({ since: PastInstant }))
export type UndoRequest = z.infer<typeof UndoRequest>
