import * as z from 'zod/mini'
import { int, intParameter } from './fields'

/** The largest page of a list with a cursor. */
export const MAX_LIST_SIZE = 100

// A cursor can contain a folded title: 500 characters of up to 12 bytes, in base64.
export const MAX_CURSOR = 8192

const BASE64_URL = { alphabet: 'base64url', omitPadding: true } as const

/** A position in a list. Opaque to clients, and not secret: it selects only among the caller's rows. */
export const toCursor = (position: unknown) => new TextEncoder().encode(JSON.stringify(position)).toBase64(BASE64_URL)

export const cursorError = 'must be next of the previous page of the same list'

/** A cursor. `position` is the schema of what it encodes. */
export const cursorOf = <Position extends z.ZodMiniType>(position: Position, error = cursorError) =>
  z.pipe(
    z.string().check(z.maxLength(MAX_CURSOR, { error }), z.regex(/^[\w-]+$/, { error })),
    z.transform((text, { issues }): z.output<Position> => {
      try {
        return z.parse(position, JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(text, BASE64_URL))))
      } catch {
        issues.push({ code: 'custom', message: error, input: text })
        return z.NEVER
      }
    }),
  )

/** The query parameters of a list with a cursor. */
export const cursorPaging = <Position extends z.ZodMiniType>(position: Position) =>
  z.object({ cursor: z.optional(cursorOf(position)), size: z._default(intParameter(1, MAX_LIST_SIZE), 20) })

export type List<Item> = { item: Item[]; next: string | null }

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
