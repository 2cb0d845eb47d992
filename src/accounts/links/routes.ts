import { authenticated } from '../../callers/authenticated'
import { originOf } from '../../callers/origin'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { runLater } from '../../http/later'
import { publicBase } from '../../http/public-base'
import { valid } from '../../input/validate'
import { informOwner } from '../tokens/notice'
import { LinkPatch, LinkPath, NewLink } from './schema'
import { createLink, deleteLink, listLinks, updateLink } from './store'

export const links = new Hono<App>()
  // A link shows others what it reads, so creating one needs the scopes to read that.
  .post('/', authenticated('links:write', 'library:read', 'memos:read'), valid('json', NewLink), async (c) => {
    const { created, owner } = await createLink(c.var, c.req.valid('json'), publicBase(c), originOf(c))
    runLater(c, () => informOwner(c.env, c.var, owner))
    return c.json(created, 201)
  })
  // Links name tags. Without them, a link with a tag would look like one to the whole shelf.
  .get('/', authenticated('links:read', 'library:read'), async (c) =>
    c.json(await listLinks(c.var.db, c.var.caller), 200),
  )
  .patch(
    '/:link-id',
    authenticated('links:read', 'links:write', 'library:read'),
    valid('param', LinkPath),
    valid('json', LinkPatch),
    async (c) => {
      const link = await updateLink(c.var.db, c.var.caller, c.req.valid('param')['link-id'], c.req.valid('json'))
      return c.json(found(link, 'LINK_NOT_FOUND'), 200)
    },
  )
  .delete('/:link-id', authenticated('links:write'), valid('param', LinkPath), async (c) => {
    const { 'link-id': linkId } = c.req.valid('param')
    found(await deleteLink(c.var.db, c.var.caller, originOf(c), { linkId }), 'LINK_NOT_FOUND')
    return c.body(null, 204)
  })
