import { Hono } from 'hono'
import * as z from 'zod'
import type { App } from '../env'
import { found } from '../errors'
import { sessionOnly } from '../http/auth'
import { describeRoute, empty, json } from '../http/describe-route'
import { originOf } from '../http/device'
import { valid } from '../http/validate'
import { AccessToken, CreatedToken, MAX_TOKENS, NewToken, TokenPath } from './schema'
import { createToken, deleteToken, listTokens } from './store'

export const tokens = new Hono<App>()
  .post(
    '/',
    sessionOnly,
    describeRoute({
      operationId: 'createToken',
      tags: ['Access tokens'],
      responses: { 201: json(CreatedToken, 'The new access token') },
      errors: ['MAX_TOKENS'],
    }),
    valid('json', NewToken),
    async (c) => c.json(await createToken(c.get('db'), c.get('caller'), c.req.valid('json'), originOf(c)), 201),
  )
  .get(
    '/',
    sessionOnly,
    describeRoute({
      operationId: 'listTokens',
      tags: ['Access tokens'],
      responses: { 200: json(z.array(AccessToken).max(MAX_TOKENS), 'Your access tokens') },
    }),
    async (c) => c.json(await listTokens(c.get('db'), c.get('caller')), 200),
  )
  .delete(
    '/:token-id',
    sessionOnly,
    describeRoute({
      operationId: 'deleteToken',
      tags: ['Access tokens'],
      responses: { 204: empty('Deleted') },
      errors: ['TOKEN_NOT_FOUND'],
    }),
    valid('param', TokenPath),
    async (c) => {
      const { 'token-id': tokenId } = c.req.valid('param')
      found(await deleteToken(c.get('db'), c.get('caller'), tokenId, originOf(c)), 'TOKEN_NOT_FOUND')
      return c.body(null, 204)
    },
  )
