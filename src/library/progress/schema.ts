import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'
import { FULL_DATE, Int32, numberBetween, PastInstant } from '../../values/fields'
import { namedLazy } from '../../values/named'

const DATE = new RegExp(`^${FULL_DATE}$`)
const dateError = 'must be a calendar date in the format yyyy-MM-dd'

export const NewProgress = namedLazy('NewProgress', () =>
  z
    .object({
      page: z.optional(Int32),
      percent: z.optional(numberBetween(0, 100, 'must be a number between 0 and 100')),
      at: z.nullish(PastInstant),
      finish: z.optional(z.boolean({ error: 'must be true or false' })),
      date: z.optional(z.string({ error: dateError }).check(z.regex(DATE, { error: dateError }))),
    })
    .check(
      z.refine(({ page, percent }) => page !== undefined || percent !== undefined, {
        path: ['page'],
        error: 'is required unless percent is sent',
      }),
      z.refine(({ page, percent }) => page === undefined || percent === undefined, {
        path: ['percent'],
        error: 'must not be sent together with page',
      }),
    ),
)
export type NewProgress = z.infer<typeof NewProgress>

/** The cursor is the time of the last event, in milliseconds since 1970. */
export const ProgressQuery = z.lazy(() => cursorPaging(z.int()))
export type ProgressQuery = z.infer<typeof ProgressQuery>
