import * as z from 'zod'
import { cursorPaging } from '../schema/cursor'
import { Int32, PastInstant } from '../schema/values'

const percentError = 'must be a number between 0 and 100'

export const NewProgress = z
  .object({
    page: Int32.optional(),
    percent: z
      .number({ error: percentError })
      .min(0, { error: percentError })
      .max(100, { error: percentError })
      .optional(),
    at: PastInstant.nullish(),
  })
  .refine(({ page, percent }) => page !== undefined || percent !== undefined, {
    path: ['page'],
    error: 'is required unless percent is sent',
  })
  .refine(({ page, percent }) => page === undefined || percent === undefined, {
    path: ['percent'],
    error: 'must not be sent together with page',
  })
  .meta({ id: 'NewProgress' })
export type NewProgress = z.infer<typeof NewProgress>

/** The cursor is the time of the last event, in milliseconds since 1970. */
export const ProgressQuery = cursorPaging(z.int())
export type ProgressQuery = z.infer<typeof ProgressQuery>
