import * as z from 'zod/mini'
import { cursorOf } from './cursor'
import { int } from './fields'

const Count = int(0, Number.MAX_SAFE_INTEGER)
/** Up to where a client has the changes of a library. Its names are short, because it is in every URL. */
const ChangesPosition = z
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
export type ChangesPosition = z.infer<typeof ChangesPosition>

/** `next` of `GET /changes`. */
export const ChangesCursor = z.lazy(() => cursorOf(ChangesPosition, 'must be next of the previous page'))
