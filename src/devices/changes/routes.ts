import { TokenPath } from '../../accounts/tokens/schema'
import { sessionOnly } from '../../callers/authenticated'
import { throttledByMember } from '../../callers/throttle'
import type { App } from '../../env'
import { Hono } from '../../http/hono'
import { runLater } from '../../http/later'
import { valid } from '../../input/validate'
import { dropFile } from '../../transfer/imports/lease'
import { contextOf } from '../../transfer/imports/routes'
import { ChangesQuery, UndoRequest } from './schema'
import { listDeviceChanges } from './store'
import { undoDevice } from './undo'

const validPath = valid('param', TokenPath)

/** Mounted at `/tokens`. */
export const deviceChanges = new Hono<App>()
  .get('/:token-id/changes', sessionOnly, validPath, valid('query', ChangesQuery), async (c) => {
    const { db, caller } = c.var
    return c.json(await listDeviceChanges(db, caller, c.req.valid('param')['token-id'], c.req.valid('query')), 200)
  })
  .post('/:token-id/undo', sessionOnly, throttledByMember, validPath, valid('json', UndoRequest), async (c) => {
    const { db, caller, config } = c.var
    const of = { tokenId: c.req.valid('param')['token-id'], ...c.req.valid('json') }
    const { files, ...undone } = await undoDevice(db, caller, of, config)
    for (const ended of files) runLater(c, () => dropFile(contextOf(c), ended))
    return c.json(undone, 200)
  })
