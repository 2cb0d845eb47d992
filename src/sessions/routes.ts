import { Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { found } from '../errors'
import { sessionOnly } from '../http/auth'
import { describeRoute, empty, json } from '../http/describe-route'
import { originOf } from '../http/device'
import { allowOnly } from '../http/error-response'
import { valid } from '../http/validate'
import { Profile } from '../members/schema'
import { issueToken } from '../token'
import { listActivity, MAX_ENTRIES } from './activity'
import { Activity, MAX_SESSIONS, Session, SessionPath } from './schema'
import { endCurrentSession, endOtherSessions, endSession, listSessions, renewSession } from './store'

export const sessions = new Hono<App>()
  .post(
    '/logout',
    sessionOnly,
    describeRoute({
      operationId: 'logOut',
      tags: ['Sessions'],
      responses: { 204: empty('Logged out') },
    }),
    async (c) => {
      await endCurrentSession(c.get('db'), c.get('caller'), originOf(c))
      return c.body(null, 204)
    },
  )
  .get(
    '/sessions',
    sessionOnly,
    describeRoute({
      operationId: 'listSessions',
      tags: ['Sessions'],
      responses: { 200: json(z.array(Session).max(MAX_SESSIONS), 'Your sessions') },
    }),
    async (c) => c.json(await listSessions(c.get('db'), c.get('caller')), 200),
  )
  .delete(
    '/sessions',
    sessionOnly,
    describeRoute({
      operationId: 'endOtherSessions',
      tags: ['Sessions'],
      responses: { 204: empty('Ended') },
    }),
    async (c) => {
      await endOtherSessions(c.get('db'), c.get('caller'), originOf(c))
      return c.body(null, 204)
    },
  )
  .post(
    '/sessions/renew',
    sessionOnly,
    describeRoute({
      operationId: 'renewSession',
      tags: ['Sessions'],
      responses: { 200: json(Profile, 'The member; the token is in a header', 'Authorization') },
    }),
    async (c) => {
      const { db, caller, config } = c.var
      const tokenTtl = config.TOKEN_TTL_SECONDS * 1000
      const sessionTtl = Math.max(config.SESSION_TTL_SECONDS * 1000, tokenTtl)
      const { profile, session } = await renewSession(db, caller, { tokenTtl, sessionTtl })
      const token = await issueToken(config, found(session, 'UNAUTHORIZED'), caller.slot)
      return c.json(profile, 200, { Authorization: `Bearer ${token}` })
    },
  )
  .all('/sessions/renew', allowOnly('POST'))
  .delete(
    '/sessions/:session-id',
    sessionOnly,
    describeRoute({
      operationId: 'endSession',
      tags: ['Sessions'],
      responses: { 204: empty('Ended') },
      errors: ['SESSION_NOT_FOUND'],
    }),
    valid('param', SessionPath),
    async (c) => {
      const { 'session-id': sessionId } = c.req.valid('param')
      const ended = await endSession(c.get('db'), c.get('caller'), originOf(c), { sessionId })
      found(ended || undefined, 'SESSION_NOT_FOUND')
      return c.body(null, 204)
    },
  )
  .get(
    '/members/me/activity',
    sessionOnly,
    describeRoute({
      operationId: 'listActivity',
      tags: ['Sessions'],
      responses: { 200: json(z.array(Activity).max(MAX_ENTRIES), 'The entries') },
    }),
    async (c) => c.json(await listActivity(c.get('db'), c.get('caller')), 200),
  )
