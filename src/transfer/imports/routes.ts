import type { Context, MiddlewareHandler } from 'hono'
import { authenticated, canReadAll, confirmFirst } from '../../callers/authenticated'
import { limitLargePages } from '../../callers/large-reads'
import { limitCaller, throttledByMember, turnsOf } from '../../callers/throttle'
import type { App } from '../../env'
import { found } from '../../errors'
import { Hono } from '../../http/hono'
import { sendText } from '../../http/json-stream'
import { runLater } from '../../http/later'
import { sendPage } from '../../http/send-page'
import { valid } from '../../input/validate'
import { loadFailed, toTable } from './failed-csv'
import { dropFile } from './lease'
import { validImport } from './receive/import-body'
import { continueLater, type ImportContext, startImport } from './receive/start'
import { MAX_STATEMENTS } from './run-context'
import { ImportPath, ImportQuery, ListQuery, RowsQuery } from './schema'
import { getImport, listImports, listRows, toImport } from './store'
import { undoImport } from './undo/undo-import'

export const contextOf = (c: Context<App>): ImportContext => {
  const { db, caller, config } = c.var
  return {
    db,
    caller,
    bucket: c.env.IMAGES,
    reader: c.env.READER,
    config,
    turns: turnsOf(c),
    budget: { left: MAX_STATEMENTS },
    runLater: (work) => runLater(c, work),
  }
}

// The outcome of a row tells whether the library has its memos.
const canImport = authenticated('library:read', 'library:write', 'memos:read', 'memos:write')
const validPath = valid('param', ImportPath)

/** A page of an outcome reads up to all rows of the report, that of all outcomes only its own. */
const limitOutcomes: MiddlewareHandler<App, string, { out: { query: RowsQuery } }> = (c, next) => {
  const { outcome } = c.req.valid('query')
  if (outcome !== 'ALL') limitCaller(c, { binding: 'MEMBER_LIMIT', kind: 'rows of an outcome' })
  return next()
}

export const imports = new Hono<App>()
  .post('/', canImport, throttledByMember, valid('query', ImportQuery), validImport, async (c) => {
    const started = await startImport(contextOf(c), await confirmFirst(c), c.req.valid('form'), c.req.valid('query'))
    return c.json(started, 202, { Location: `/imports/${started.importId}` })
  })
  .get('/', canReadAll, valid('query', ListQuery), async (c) => {
    const listed = await listImports(c.var.db, c.var.caller, c.req.valid('query'))
    return c.json(listed, 200)
  })
  .get('/:import-id', canReadAll, validPath, async (c) => {
    const stored = await getImport(c.var.db, c.var.caller, c.req.valid('param')['import-id'])
    const row = found(stored, 'IMPORT_NOT_FOUND')
    const isInterrupted = row.status === 'RUNNING' && row.leaseEndsAt <= Date.now()
    if (isInterrupted && c.var.config.MAINTENANCE === 'off') continueLater(contextOf(c), row.memberId)
    return c.json(toImport(row), 200)
  })
  .get(
    '/:import-id/rows',
    canReadAll,
    validPath,
    valid('query', RowsQuery),
    limitOutcomes,
    limitLargePages,
    async (c) => {
      const importId = c.req.valid('param')['import-id']
      const page = await listRows(c.var.db, c.var.caller, importId, c.req.valid('query'))
      return sendPage(c, found(page, 'IMPORT_NOT_FOUND'))
    },
  )
  .get('/:import-id/failed.csv', canReadAll, throttledByMember, validPath, async (c) => {
    const importId = c.req.valid('param')['import-id']
    const failed = await loadFailed(c.var.db, c.var.caller, importId)
    const { columns, parts } = found(failed, 'IMPORT_NOT_FOUND')
    c.header('Content-Disposition', `attachment; filename="failed-${importId}.csv"`)
    return sendText(c, 'text/csv', toTable(columns, parts), async () => parts.return?.())
  })
  .delete('/:import-id', canImport, validPath, async (c) => {
    const answer = await undoImport(c.var.db, c.var.caller, c.req.valid('param')['import-id'], c.var.config)
    const { undone, memos: _, ...result } = found(answer, 'IMPORT_NOT_FOUND')
    runLater(c, () => dropFile(contextOf(c), undone))
    return c.json(result, 200)
  })
