import * as z from 'zod'
import { Id } from '../schema/responses'
import { BookFormat } from '../schema/values'
import { DATE, MAX_NOTE, ReadingOutcome } from './schema'

const StoredDate = z.string().regex(DATE).nullable()

export const Reading = z
  .object({
    readingId: Id,
    startedAt: StoredDate,
    finishedAt: StoredDate,
    outcome: ReadingOutcome.nullable(),
    rating: z.number().min(0.25).max(5).multipleOf(0.25).nullable(),
    format: BookFormat.nullable(),
    note: z.string().max(MAX_NOTE).nullable(),
    paused: z.boolean(),
  })
  .meta({ id: 'Reading' })
export type Reading = z.infer<typeof Reading>
