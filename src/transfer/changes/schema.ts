import * as z from 'zod/mini'
import { ChangesCursor } from '../../values/cursor'
import { intParameter } from '../../values/fields'

/** The most objects of a page, beyond which memory would limit a page more than its bytes. */
export const MAX_SIZE = 200

export const ChangesQuery = z.lazy(() =>
  z.object({ cursor: z.optional(ChangesCursor), size: z._default(intParameter(1, MAX_SIZE), 100) }),
)
export type ChangesQuery = z.infer<typeof ChangesQuery>
