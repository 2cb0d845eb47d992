import * as z from 'zod/mini'
import { ACTIVITY_KINDS } from '../../values/contract'
import { Instant } from '../../values/responses'

const Device = z.nullable(z.string().check(z.maxLength(64)))
const Country = z.nullable(z.string().check(z.regex(/^[A-Z]{2}$/)))

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
  .register(z.globalRegistry, { id: 'Session' })
export type Session = z.infer<typeof Session>

export const Activity = z
  .object({
    at: Instant,
    firstAt: Instant,
    count: z.int().check(z.minimum(1)),
    kind: z.enum(ACTIVITY_KINDS).register(z.globalRegistry, { id: 'ActivityKind' }),
    device: Device,
    country: Country,
  })
  .register(z.globalRegistry, { id: 'Activity' })
export type Activity = z.infer<typeof Activity>
