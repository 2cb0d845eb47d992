import * as z from 'zod/mini'
import { cursorOf } from '../../values/cursor'
import { int, intParameter, nameOf } from '../../values/fields'

/** More than any library needs. */
export const MAX_PARTS = 10_000

/** The last millisecond of a year with four digits. */
const LAST_TIME = 253_402_300_799_999

/**
 * Where a further part of an export begins: after the book `after`. `exportedAt`: when the export began, in
 * milliseconds since 1970. `last`: the member's newest book at that time. The client sends it back with the request for
 * the part, so the service stores nothing. A forged one is harmless: it selects only among the caller's books, and does
 * not make a part larger.
 */
const Plan = z.lazy(() =>
  z.object({
    part: int(2, MAX_PARTS),
    exportedAt: int(0, LAST_TIME),
    after: int(1, Number.MAX_SAFE_INTEGER),
    last: int(1, Number.MAX_SAFE_INTEGER),
  }),
)
export type Plan = z.infer<typeof Plan>

const exportQuery = () =>
  z.object({
    part: z._default(intParameter(1, MAX_PARTS), 1),
    plan: z.optional(cursorOf(Plan, 'must be from the Link header of the part before')),
  })

export const ExportQuery = z.lazy(() => exportQuery())
export type ExportQuery = z.infer<typeof ExportQuery>

export const CsvQuery = z.lazy(() => z.extend(exportQuery(), { for: z.optional(nameOf(['spreadsheet'])) }))
