import { hashToken } from '../../auth/access-token'
import { sessionOnly } from '../../callers/authenticated'
import { remember } from '../../callers/credentials'
import { originOf } from '../../callers/origin'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { runLater } from '../../http/later'
import { publicBase } from '../../http/public-base'
import { valid } from '../../input/validate'
import { toBits } from '../../values/contract'
import { informOwner } from './notice'
import { NewToken, TokenPath } from './schema'
import { createToken, deleteToken, deleteTokens, listTokens } from './store'

export const tokens = new Hono<App>()
  .post('/', sessionOnly, valid('json', NewToken), async (c) => {
    const { caller } = c.var
    const { created, member, owner } = await createToken(c.var, c.req.valid('json'), () => publicBase(c), originOf(c))
    runLater(c, () => informOwner(c.env, c.var, owner))
    // The member's limits cover the token from its first use.
    const token = { kind: 'token', slot: caller.slot, tokenHash: await hashToken(created.token), required: [] } as const
    remember(token, { ...member, scopes: toBits(created.scopes) })
    return c.json(created, 201)
  })
  .get('/', sessionOnly, async (c) => c.json(await listTokens(c.var.db, c.var.caller), 200))
  .delete('/', sessionOnly, async (c) => {
    await deleteTokens(c.var.db, c.var.caller, originOf(c))
    return c.body(null, 204)
  })
  .delete('/:token-id', sessionOnly, valid('param', TokenPath), async (c) => {
    const { 'token-id': tokenId } = c.req.valid('param')
    found(await deleteToken(c.var.db, c.var.caller, originOf(c), { tokenId }), 'TOKEN_NOT_FOUND')
    return c.body(null, 204)
  })
