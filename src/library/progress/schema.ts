import * as z from 'zod/mini'
import { cursorPaging } from '../../values/cursor'
import { Int32, numberBetween, PastInstant } from '../../values/fields'
import { namedLazy } from '../../values/named'

export const NewProgress = namedLazy('NewProgress', () =>
  z
    .object({
      page: z.optional(Int32),
      percent: z.optional(numberBetween(0, 100, 'must be a number between 0 and 100')),
      at: z.nullish(PastInstant),
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
