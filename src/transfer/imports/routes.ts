import { Hono } from 'hono'
import type { App } from '../../env'
import { found } from '../../errors'
import { valid } from '../../http/bodies/validate'
import { authenticated } from '../../http/guard/authenticated'
import { limitLargePages } from '../../http/guard/large-pages'
import { throttledByMember } from '../../http/guard/throttle'
import { sendText } from '../../http/json-stream'
import { runLater } from '../../http/later'
import { sendPage } from '../../http/send-page'
import { loadFailed, toTable } from './failed-csv'
import { validImport } from './receive/import-body'
import { contextOf, continueLater, startImport } from './receive/start'
import { dropFile } from './run'
import { ImportPath, ImportQuery, RowsQuery } from './schema'
import { getImport, listImports, listRows, toImport } from './store'
import { undoImport } from './undo'

export const imports = new Hono<App>()
  .post(
    '/',
    authenticated('library:read', 'library:write', 'memos:write'),
    throttledByMember,
    valid('query', ImportQuery),
    validImport,
    async (c) => {
      const started = await startImport(c, c.req.valid('form'), c.req.valid('query'))
      return c.json(started, 202, { Location: `/imports/${started.importId}` })
    },
  )
  .get('/', authenticated('library:read'), async (c) => c.json(await listImports(c.get('db'), c.get('caller')), 200))
  .get('/:import-id', authenticated('library:read'), valid('param', ImportPath), async (c) => {
    const stored = await getImport(c.get('db'), c.get('caller'), c.req.valid('param')['import-id'])
    const row = found(stored, 'IMPORT_NOT_FOUND')
    if (row.status === 'RUNNING' && row.leaseEndsAt <= Date.now()) continueLater(c, row.importId)
    return c.json(toImport(row), 200)
  })
  .get(
    '/:import-id/rows',
    authenticated('library:read'),
    valid('param', ImportPath),
    valid('query', RowsQuery),
    limitLargePages,
    async (c) => {
      const importId = c.req.valid('param')['import-id']
      const query = c.req.valid('query')
      const page = await listRows(c.get('db'), c.get('caller'), importId, query)
      return sendPage(c, query, found(page, 'IMPORT_NOT_FOUND'))
    },
  )
  .get(
    '/:import-id/failed.csv',
    // The rows have reviews and private notes.
    authenticated('library:read', 'memos:read'),
    throttledByMember,
    valid('param', ImportPath),
    async (c) => {
      const importId = c.req.valid('param')['import-id']
      const failed = await loadFailed(c.get('db'), c.get('caller'), importId)
      const { columns, parts } = found(failed, 'IMPORT_NOT_FOUND')
      c.header('Content-Disposition', `attachment; filename="failed-${importId}.csv"`)
      return sendText(c, 'text/csv', toTable(columns, parts), () => parts.return())
    },
  )
  .delete(
    '/:import-id',
    authenticated('library:read', 'library:write', 'memos:write'),
    valid('param', ImportPath),
    async (c) => {
      const { db, caller } = c.var
      const importId = c.req.valid('param')['import-id']
      const { file, ...undone } = found(await undoImport(db, caller, importId), 'IMPORT_NOT_FOUND')
      const { memberId } = caller
      if (file && memberId !== undefined) runLater(c, () => dropFile(contextOf(c), memberId, importId, file))
      return c.json(undone, 200)
    },
  )
