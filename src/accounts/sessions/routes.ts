import { issueToken } from '../../auth/token'
import { sessionOnly } from '../../callers/authenticated'
import { remember } from '../../callers/credentials'
import { originOf } from '../../callers/origin'
import type { App } from '../../env'
import { found, unauthorized } from '../../errors'
import { allowOnly } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { listActivity } from './activity'
import { SessionPath } from './schema'
import { endCurrentSession, endOtherSessions, endSession, listSessions, renewSession } from './store'

export const sessions = new Hono<App>()
  .post('/logout', sessionOnly, async (c) => {
    await endCurrentSession(c.var.db, c.var.caller, originOf(c))
    remember(c.var.caller, 'ended')
    return c.body(null, 204)
  })
  .get('/sessions', sessionOnly, async (c) => c.json(await listSessions(c.var.db, c.var.caller), 200))
  .delete('/sessions', sessionOnly, async (c) => {
    await endOtherSessions(c.var.db, c.var.caller, originOf(c))
    return c.body(null, 204)
  })
  .post('/sessions/renew', sessionOnly, async (c) => {
    const { db, caller, config } = c.var
    const tokenTtl = config.TOKEN_TTL_SECONDS * 1000
    const sessionTtl = Math.max(config.SESSION_TTL_SECONDS * 1000, tokenTtl)
    const { profile, session } = await renewSession(db, caller, { tokenTtl, sessionTtl })
    if (!session) throw unauthorized('ended')
    const token = await issueToken(config, session, caller.slot)
    return c.json(profile, 200, { Authorization: `Bearer ${token}` })
  })
  .all('/sessions/renew', allowOnly('POST'))
  .delete('/sessions/:session-id', sessionOnly, valid('param', SessionPath), async (c) => {
    const { 'session-id': sessionId } = c.req.valid('param')
    found(await endSession(c.var.db, c.var.caller, originOf(c), { sessionId }), 'SESSION_NOT_FOUND')
    return c.body(null, 204)
  })
  .get('/members/me/activity', sessionOnly, async (c) => c.json(await listActivity(c.var.db, c.var.caller), 200))
