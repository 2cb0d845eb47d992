// The progress protocol of KOReader, which Readest and CrossPoint also speak: docs/decisions/0037-devices.md.

import { pushedByDevice, readByDevice, sentByDevice } from '../../callers/authenticated'
import { throttledAsDevice } from '../../callers/throttle'
import type { App } from '../../env'
import { type ApiError, ERRORS, toErrorBody } from '../../errors'
import { toApiError } from '../../http/error-response'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { DocumentPath, PushedPosition } from './schema'
import { checkToken, pullPosition, pushPosition } from './store'

/** Codes of the protocol, by status. It has 403 for what is malformed: on 400, Readest would sign in again. */
const CODES: Record<number, number> = { 401: 2001, 403: 2003 }
const toStatus = ({ code }: ApiError) => {
  const [status] = ERRORS[code]
  return [400, 413, 415].includes(status) ? 403 : status
}
const messageOf = ({ code, details }: ApiError) => {
  const { message, fieldErrors } = toErrorBody(code, details)
  const [field] = fieldErrors ?? []
  return code === 'UNAUTHORIZED' ? 'Unauthorized' : field ? `${field.field}: ${field.reason}` : message
}

export const koreader = new Hono<App>()
  .get('/healthcheck', (c) => c.json({ state: 'OK' }))
  .post('/users/create', (c) => c.json({ code: 2005, message: 'User registration is disabled.' }, 402))
  .get('/users/auth', sentByDevice, throttledAsDevice, async (c) => {
    await checkToken(c.var.db, c.var.caller)
    return c.json({ authorized: 'OK' })
  })
  .put('/syncs/progress', pushedByDevice, valid('json', PushedPosition), async (c) => {
    const position = c.req.valid('json')
    const at = await pushPosition(c.var.db, c.var.caller, position)
    return c.json({ document: position.document, timestamp: Math.floor(at / 1000) })
  })
  .get('/syncs/progress/:document', readByDevice, throttledAsDevice, valid('param', DocumentPath), async (c) =>
    c.json((await pullPosition(c.var.db, c.var.caller, c.req.valid('param').document)) ?? {}),
  )

koreader.onError((thrown, c) => {
  const error = toApiError(c, thrown)
  const status = toStatus(error)
  return c.json({ code: CODES[status] ?? 2000, message: messageOf(error) }, status, {
    'X-Error-Code': error.code,
    ...error.details.headers,
  })
})
