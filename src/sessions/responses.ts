import * as z from 'zod'
import { ACTIVITY_KINDS } from '../contract'
import { Instant } from '../schema/responses'

const Device = z.string().max(64).nullable()
const Country = z
  .string()
  .regex(/^[A-Z]{2}$/)
  .nullable()

export const Session = z
  .object({
    sessionId: z.uuid(),
    createdAt: Instant,
    renewedAt: Instant,
    expiresAt: Instant,
    device: Device,
    country: Country,
    current: z.boolean(),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

export const Activity = z
  .object({ at: Instant, kind: z.enum(ACTIVITY_KINDS).meta({ id: 'ActivityKind' }), device: Device, country: Country })
  .meta({ id: 'Activity' })
export type Activity = z.infer<typeof Activity>
