import { type Context, Hono } from 'hono'
import type { App } from '../env'
import { ApiError, found, unavailable } from '../errors'
import { authenticated } from '../http/auth'
import { sendText } from '../http/json-stream'
import { runLater } from '../http/later'
import { sendPage } from '../http/send-page'
import { callerKey, throttledByMember } from '../http/throttle'
import { valid } from '../http/validate'
import { createLimiter } from '../limiter'
import { ImportFileError } from '../reader/file-error'
import { validImport } from './body'
import { writeFailed } from './failed'
import { putFile } from './files'
import { readEntries } from './reader'
import { abandonImport, continueImport, dropFile, LEASE_MS, newLease, type RunContext, runLeased } from './run'
import { ImportPath, ImportQuery, MAX_FILE_BYTES, RowsQuery } from './schema'
import { createImport, getImport, listImports, listRows, toImport } from './store'
import { undoImport } from './undo'

/** Bytes of files being imported. They take up to ten times as much memory, and an isolate has 128 MB. */
const running = createLimiter({ capacity: MAX_FILE_BYTES, leaseMs: LEASE_MS, maxWaiting: 16, maxWaitMs: 10_000 })

const contextOf = (c: Context<App>): RunContext => {
  const { db, config } = c.var
  return { db, bucket: c.env.IMAGES, reader: c.env.READER, quotas: config, timeZone: config.TIME_ZONE }
}

const readUpload = (...values: Parameters<typeof readEntries>) =>
  readEntries(...values).catch((error): never => {
    if (!(error instanceof ImportFileError)) throw error
    throw new ApiError('FILE_NOT_IMPORTABLE', { message: `The file cannot be imported: ${error.reason}` })
  })

/** Continues an import after the response, if this isolate is not at work on another one. */
const continueLater = (c: Context<App>, importId: number) => {
  const { caller } = c.var
  const lease = running.tryAcquire(MAX_FILE_BYTES)
  if (!lease || caller.memberId === undefined) return
  const { memberId } = caller
  runLater(c, () => continueImport(contextOf(c), memberId, importId).finally(lease.release))
}

export const imports = new Hono<App>()
  .post(
    '/',
    authenticated('library:read', 'library:write', 'memos:write'),
    throttledByMember,
    valid('query', ImportQuery),
    validImport,
    async (c) => {
      const { db, caller } = c.var
      const upload = c.req.valid('form')
      const { dryRun, merge, format, encoding } = c.req.valid('query')
      const turn = await running.acquire(upload.file.length, [callerKey(c)])
      if (!turn) throw unavailable('too many imports are being read')
      const start = async () => {
        const read = await readUpload(c.env.READER, upload.file, { format, encoding, ...upload.parts })
        const lease = newLease()
        const file = crypto.randomUUID()
        const { entries, ...about } = read
        const isDryRun = dryRun === 'true'
        const values = { ...about, isDryRun, merge, options: upload.parts, file, total: entries.length }
        const created = await createImport(db, caller, values, lease)
        await putFile(c.env.IMAGES, created.memberId, file, upload.file).catch((error) => {
          runLater(c, () => abandonImport(contextOf(c), created, lease.lease, file))
          throw error
        })
        runLater(c, () => runLeased(contextOf(c), created, lease.lease, entries).finally(turn.release))
        return toImport(created)
      }
      const started = await start().catch((error) => {
        turn.release()
        throw error
      })
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
    async (c) => {
      const importId = c.req.valid('param')['import-id']
      const query = c.req.valid('query')
      const page = await listRows(c.get('db'), c.get('caller'), importId, query)
      return sendPage(c, `/imports/${importId}/rows`, query, found(page, 'IMPORT_NOT_FOUND'))
    },
  )
  .get('/:import-id/failed.csv', authenticated('library:read'), valid('param', ImportPath), async (c) => {
    const { db, caller } = c.var
    const importId = c.req.valid('param')['import-id']
    const chunks = found(await writeFailed(db, caller, importId), 'IMPORT_NOT_FOUND')
    c.header('Content-Disposition', `attachment; filename="failed-${importId}.csv"`)
    return sendText(c, 'text/csv', chunks, () => chunks.return())
  })
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
