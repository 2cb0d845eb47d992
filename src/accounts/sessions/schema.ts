import * as z from 'zod/mini'

export const MAX_SESSIONS = 100

export const SessionPath = z.lazy(() => z.object({ 'session-id': z.uuid({ error: 'must be a UUID' }) }))
