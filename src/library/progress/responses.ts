import * as z from 'zod/mini'
import { PROGRESS_KINDS } from '../../values/contract'
import { Int32 } from '../../values/fields'
import { Instant, listOf } from '../../values/responses'

export const ProgressEvent = z
  .object({ at: Instant, page: Int32, kind: z.enum(PROGRESS_KINDS).register(z.globalRegistry, { id: 'ProgressKind' }) })
  .register(z.globalRegistry, { id: 'ProgressEvent' })
export type ProgressEvent = z.infer<typeof ProgressEvent>

export const ProgressEvents = listOf(ProgressEvent)
