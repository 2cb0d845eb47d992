import { authenticated, canReadAll, sessionOnly } from '../../callers/authenticated'
import { throttledByMember } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { valid } from '../../input/validate'
import { restore } from './restore'
import { TrashPath, TrashQuery } from './schema'
import { deleteTrash, emptyTrash, listTrash } from './store'

const canRestore = authenticated('library:read', 'library:write', 'memos:read', 'memos:write')

export const trash = new Hono<App>()
  .get('/', canReadAll, valid('query', TrashQuery), async (c) =>
    c.json(await listTrash(c.var.db, c.var.caller, c.req.valid('query')), 200),
  )
  .delete('/', sessionOnly, async (c) => {
    await emptyTrash(c.var.db, c.var.caller)
    return c.body(null, 204)
  })
  // A book can be deleted and restored again and again, and each time thousands of rows are written.
  .post('/:trash-id/restore', canRestore, throttledByMember, valid('param', TrashPath), async (c) => {
    const restored = await restore(c.var, c.req.valid('param')['trash-id'])
    return c.json(found(restored, 'TRASH_NOT_FOUND'), 200)
  })
  .delete('/:trash-id', sessionOnly, valid('param', TrashPath), async (c) => {
    found(await deleteTrash(c.var.db, c.var.caller, c.req.valid('param')['trash-id']), 'TRASH_NOT_FOUND')
    return c.body(null, 204)
  })
