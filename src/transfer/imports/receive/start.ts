import type { Context } from 'hono'
import { uninterrupted } from '../../../db/client'
import type { App } from '../../../env'
import { ApiError, unavailable } from '../../../errors'
import { turnsOf } from '../../../http/guard/throttle'
import { runLater } from '../../../http/later'
import { createLimiter, type Lease } from '../../../runtime/limiter'
import { log } from '../../../runtime/log'
import { ImportFileError } from '../../reader/file-error'
import { columnsOf } from '../failed-csv'
import { abandonImport, continueImport, LEASE_MS, newLease, type RunContext, runLeased } from '../run'
import { type ImportQuery, MAX_FILE_BYTES } from '../schema'
import { createImport, toImport } from '../store'
import { admitFile } from './admission'
import type { Upload } from './import-body'
import { putFile } from './import-files'
import { readEntries } from './reader-client'

/** Bytes of files being imported. They take up to ten times as much memory, and an isolate has 128 MB. */
const running = createLimiter({ capacity: MAX_FILE_BYTES, leaseMs: LEASE_MS, maxWaiting: 16, maxWaitMs: 10_000 })

export const contextOf = (c: Context<App>): RunContext => {
  const { db, config } = c.var
  return { db, bucket: c.env.IMAGES, reader: c.env.READER, quotas: config, timeZone: config.TIME_ZONE }
}

const readUpload = (...values: Parameters<typeof readEntries>) =>
  readEntries(...values).catch((error): never => {
    if (!(error instanceof ImportFileError)) throw error
    throw new ApiError('FILE_NOT_IMPORTABLE', { message: `The file cannot be imported: ${error.reason}` })
  })

/** Works on an import after the response, and then gives up its turn. */
const workLater = (c: Context<App>, turn: Lease, work: () => Promise<unknown>) => {
  const logError = (error: Error) => log('error', `import: ${error}`, { requestId: c.var.requestId })
  runLater(c, () => work().catch(logError).finally(turn.release))
}

/** Continues an import after the response, if this isolate is not at work on another one. */
export const continueLater = (c: Context<App>, importId: number) => {
  const { memberId } = c.var.caller
  const turn = memberId === undefined ? undefined : running.tryAcquire(MAX_FILE_BYTES)
  if (!turn || memberId === undefined) return
  workLater(c, turn, () => continueImport(contextOf(c), memberId, importId))
}

/** Reads a file and stores its import, whose rows follow the response. */
const store = async (c: Context<App>, { file: bytes, parts }: Upload, query: ImportQuery, turn: Lease) => {
  const { db, caller } = c.var
  const { dryRun, merge, format, encoding } = query
  const { entries, ...about } = await readUpload(c.env.READER, bytes, { format, encoding, ...parts })
  const lease = newLease()
  const file = crypto.randomUUID()
  const columns = columnsOf(entries.map(({ cells }) => cells.names))
  const values = { ...about, columns, isDryRun: dryRun === 'true', merge, options: parts, file, total: entries.length }
  const created = await createImport(db, caller, values, lease)
  await putFile(c.env.IMAGES, created.memberId, file, bytes).catch((error) => {
    const reason = 'The file could not be stored. Send it again.'
    runLater(c, () => abandonImport(contextOf(c), created, lease.lease, reason))
    throw error
  })
  workLater(c, turn, () => runLeased(contextOf(c), created, lease.lease, entries))
  return toImport(created)
}

/**
 * Starts an import of a file.
 * @throws the errors of `admitFile` and `createImport`; FILE_NOT_IMPORTABLE; UNAVAILABLE if the reader or the bucket fails
 */
export const startImport = async (c: Context<App>, upload: Upload, query: ImportQuery) => {
  const { db, caller, config } = c.var
  await admitFile(db, caller, config.JWT_SECRET)
  const turn = await running.acquire(upload.file.length, turnsOf(c))
  if (!turn) throw unavailable('too many imports are being read')
  const storing = store(c, upload, query, turn).catch((error) => {
    turn.release()
    throw error
  })
  return uninterrupted(db, storing)
}
