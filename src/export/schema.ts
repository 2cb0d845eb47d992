import * as z from 'zod/mini'
import { cursorOf } from '../schema/cursor'
import { intParameter, nameOf } from '../schema/values'

/** The most parts of an export. */
export const MAX_PARTS = 300

/** The last time that a `Date` can express. */
const LAST_TIME = 8_640_000_000_000_000

/**
 * An export that began: when, in milliseconds since 1970, and the last book of each part. It comes back with the request for
 * a further part, so that nothing needs to be stored.
 */
const Plan = z.lazy(() =>
  z.object({
    exportedAt: z.int().check(z.minimum(0), z.maximum(LAST_TIME)),
    cuts: z.array(z.int().check(z.minimum(1))).check(z.maxLength(MAX_PARTS)),
  }),
)
export type Plan = z.infer<typeof Plan>

const exportQuery = () =>
  z.object({
    part: z._default(intParameter(1, MAX_PARTS), 1),
    plan: z.optional(cursorOf(Plan, 'must be from the Link header of the first part')),
  })

export const ExportQuery = z.lazy(() => exportQuery())
export type ExportQuery = z.infer<typeof ExportQuery>

export const CsvQuery = z.lazy(() => z.extend(exportQuery(), { for: z.optional(nameOf(['spreadsheet'])) }))
