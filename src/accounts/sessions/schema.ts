import * as z from 'zod/mini'

export const MAX_SESSIONS = 100
/** The most entries of a member's activity, failed logins included. A trigger deletes older ones. */
export const MAX_ENTRIES = 5500

export const SessionPath = z.lazy(() => z.object({ 'session-id': z.uuid({ error: 'must be a UUID' }) }))
