import * as z from 'zod/mini'
import { AccessToken, CreatedToken } from '../../../accounts/tokens/responses'
import { MAX_TOKENS } from '../../../accounts/tokens/schema'
import { empty, json, type Operations } from '../operation'

export const tokensOperations: Operations = {
  'POST /tokens': {
    operationId: 'createToken',
    summary: 'Create an access token',
    description:
      'For a script or an app that needs only part of your account. No other response contains the token: the service ' +
      `stores only a hash. A member may have ${MAX_TOKENS} tokens, not counting expired ones. You are informed by mail, ` +
      'at most once an hour.',
    responses: { 201: json(CreatedToken, 'The new access token') },
    errors: ['MAX_TOKENS'],
  },
  'GET /tokens': {
    operationId: 'listTokens',
    summary: 'List your access tokens',
    description: 'Newest first, without the tokens themselves. Expired ones are not listed.',
    responses: { 200: json(z.array(AccessToken).check(z.maxLength(MAX_TOKENS)), 'Your access tokens') },
  },
  'DELETE /tokens': {
    operationId: 'deleteTokens',
    summary: 'Delete all access tokens',
    description:
      'All of them stop working immediately. If someone else had access to your account, also change the password.',
    responses: { 204: empty('Deleted') },
  },
  'DELETE /tokens/{token-id}': {
    operationId: 'deleteToken',
    summary: 'Delete an access token',
    description: 'It stops working immediately. A second deletion returns 404.',
    responses: { 204: empty('Deleted') },
    errors: ['TOKEN_NOT_FOUND'],
  },
}
