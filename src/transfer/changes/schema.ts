import * as z from 'zod/mini'
import { cursorOf } from '../../values/cursor'
import { int, intParameter } from '../../values/fields'

/** The most objects of a page, beyond which memory would limit a page more than its bytes. */
export const MAX_CHANGES = 200

const Count = int(0, Number.MAX_SAFE_INTEGER)
/** The cursor. Its names are short, because it is in every URL. */
const Position = z
  .object({
    /** The client has everything up to this entry. The log begins with entry 1, which is about no object. */
    c: int(1, Number.MAX_SAFE_INTEGER),
    /** The newest entry that its pages could show, and the proof of it. */
    t: Count,
    p: z.string().check(z.regex(/^\d{15}$/)),
    /** During the first sync, the phase, and where its last page ended. */
    s: z.optional(z.tuple([int(0, 5), Count, Count])),
  })
  .check(z.refine(({ c, t }) => c <= t))
export type Position = z.infer<typeof Position>

export const ChangesQuery = z.lazy(() =>
  z.object({
    cursor: z.optional(cursorOf(Position, 'must be next of the previous page')),
    size: z._default(intParameter(1, MAX_CHANGES), 100),
  }),
)
export type ChangesQuery = z.infer<typeof ChangesQuery>
