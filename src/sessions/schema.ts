import * as z from 'zod/mini'

export const MAX_SESSIONS = 100

export const SessionPath = z.object({ 'session-id': z.uuid({ error: 'must be a UUID' }) })
