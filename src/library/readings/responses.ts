import * as z from 'zod/mini'
import { BookFormat } from '../../values/fields'
import { Id } from '../../values/responses'
import { DATE, MAX_NOTE, ReadingOutcome } from './schema'

const StoredDate = z.nullable(z.string().check(z.regex(DATE)))

export const Reading = z
  .object({
    readingId: Id,
    startedAt: StoredDate,
    finishedAt: StoredDate,
    outcome: z.nullable(ReadingOutcome),
    rating: z.nullable(z.number().check(z.minimum(0.25), z.maximum(5), z.multipleOf(0.25))),
    format: z.nullable(BookFormat),
    note: z.nullable(z.string().check(z.maxLength(MAX_NOTE))),
    paused: z.boolean(),
  })
  .register(z.globalRegistry, { id: 'Reading' })
export type Reading = z.infer<typeof Reading>
