import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'
import { FULL_DATE, Int32, int, numberBetween, PastInstant } from '../../values/fields'
import { namedLazy } from '../../values/named'
import { MAX_SECONDS } from '../editions/schema'

const DATE = new RegExp(`^${FULL_DATE}$`)
/** Of one sitting: at most a day. */
export const Minutes = int(1, 1440)
export const ReachedSeconds = int(0, MAX_SECONDS)
const dateError = 'must be a calendar date in the format yyyy-MM-dd'

/** What was reached: at most one of these. */
const REACHED = ['page', 'percent', 'seconds'] as const
const notWith = (name: (typeof REACHED)[number], other: (typeof REACHED)[number]) =>
  z.refine<Partial<Record<(typeof REACHED)[number], number>>>(
    (sent) => sent[name] === undefined || sent[other] === undefined,
    { path: [name], error: `must not be sent together with ${other}` },
  )

export const NewProgress = namedLazy('NewProgress', () =>
  z
    .object({
      page: z.optional(Int32),
      percent: z.optional(numberBetween(0, 100, 'must be a number between 0 and 100')),
      seconds: z.optional(ReachedSeconds),
      minutes: z.nullish(Minutes),
      at: z.nullish(PastInstant),
      finish: z.optional(z.boolean({ error: 'must be true or false' })),
      date: z.optional(z.string({ error: dateError }).check(z.regex(DATE, { error: dateError }))),
    })
    .check(
      z.refine((sent) => [...REACHED, 'minutes' as const].some((name) => sent[name] !== undefined), {
        path: ['page'],
        error: 'is required unless percent, seconds or minutes is sent',
      }),
      z.refine(({ minutes, at, finish }) => minutes !== null || (at != null && !finish), {
        path: ['minutes'],
        error: 'must not be null without at, or with finish',
      }),
      notWith('percent', 'page'),
      notWith('seconds', 'page'),
      notWith('seconds', 'percent'),
    ),
)
export type NewProgress = z.infer<typeof NewProgress>

/** The cursor is the time of the last event, in milliseconds since 1970. */
export const ProgressQuery = z.lazy(() => cursorPaging(z.int()))
export type ProgressQuery = z.infer<typeof ProgressQuery>
