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
      summary: 'Log out',
      description: 'Ends your session. All its tokens stop working immediately, including renewed ones.',
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
      summary: 'List your sessions',
      description:
        'Newest first. Each login creates a session. A member has at most a hundred: a further login ends the oldest.',
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
      summary: 'End all other sessions',
      description: 'Logs all other devices out immediately. Access tokens stay valid.',
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
      summary: 'Renew your session',
      description:
        'Returns a fresh token in the `Authorization` response header, like a login. The old token stays valid until it ' +
        'expires. A session can be renewed for at most 90 days after its login; then its last token expires.',
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
      summary: 'End a session',
      description: 'Logs that device out immediately. You can also end your current session.',
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
      summary: 'List the activity of your account',
      description:
        'The last 90 days, newest first: logins, ended sessions, and changes of password, e-mail address and access ' +
        'tokens. At most 500 failed logins, of which twenty a day are listed, and 500 other entries.',
      tags: ['Sessions'],
      responses: { 200: json(z.array(Activity).max(MAX_ENTRIES), 'The entries') },
    }),
    async (c) => c.json(await listActivity(c.get('db'), c.get('caller')), 200),
  )
