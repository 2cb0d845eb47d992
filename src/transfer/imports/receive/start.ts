import type { Caller } from '../../../db/caller'
import { type ConfirmedMember, uninterrupted } from '../../../db/client'
import { ApiError, unavailable } from '../../../errors'
import { DEADLINES } from '../../../runtime/deadlines'
import { createLimiter, type Lease } from '../../../runtime/limiter'
import { callBucket, fileKey } from '../../../storage/bucket'
import { ImportFileError, MAX_ROWS } from '../../entries/entry'
import { columnsOf } from '../failed-csv'
import { failImport, newLease } from '../lease'
import { continueImport, runImport } from '../run'
import type { RunContext } from '../run-context'
import { type ImportQuery, MAX_FILE_BYTES } from '../schema'
import { admitFile, createImport, type StoredImport, toImport } from '../store'
import type { Upload } from './import-body'
import { readEntries } from './reader-client'

/** What an import needs of the request that starts or continues it. */
export type ImportContext = RunContext & {
  caller: Caller
  /** The keys by which callers take turns. */
  turns: string[]
  /** Runs work after the response, and logs errors. */
  runLater: (work: () => Promise<unknown>) => void
}

/** Limits the weight of files being imported: they take up to ten times as much memory, and an isolate has 128 MB. */
const running = createLimiter({
  capacity: MAX_FILE_BYTES,
  leaseMs: DEADLINES.importLease,
  maxWaiting: 16,
  maxWaitMs: DEADLINES.importTurn,
})

/** The least that a row weighs: a short row takes as much memory and time as this many bytes of long rows. */
const ROW_BYTES = 256

/** The bytes of a file, or more if its rows are short. Counts rows by line ends, or by objects of JSON. */
export const weigh = (file: Uint8Array) => {
  let [lineFeeds, returns, objects] = [0, 0, 0]
  for (const byte of file) {
    if (byte === 0x0a) lineFeeds++
    else if (byte === 0x0d) returns++
    else if (byte === 0x7b) objects++
  }
  const rows = Math.min(MAX_ROWS, Math.max(lineFeeds, returns, objects))
  return Math.max(file.length, rows * ROW_BYTES)
}

/** Works on an import after the response, and then gives up its turn. */
const workLater = ({ runLater }: ImportContext, turn: Lease, work: () => Promise<unknown>) =>
  runLater(() =>
    work()
      .catch((error) => {
        throw new Error(`import: ${error}`)
      })
      .finally(turn.release),
  )

/** Continues an import after the response, if this isolate is not at work on another one. */
export const continueLater = (context: ImportContext, stored: StoredImport) => {
  const turn = running.tryAcquire(MAX_FILE_BYTES)
  if (turn) workLater(context, turn, () => continueImport(context, stored))
}

/**
 * Starts an import of a file. Its rows are written after the response.
 * @throws the errors of `admitFile` and `createImport`; FILE_NOT_IMPORTABLE; UNAVAILABLE if the reader or the bucket
 * fails
 */
export const startImport = async (
  context: ImportContext,
  member: ConfirmedMember,
  { file: bytes, maps }: Upload,
  query: ImportQuery,
) => {
  const { db, bucket, reader, caller, config, turns, runLater } = context
  const { dryRun, merge, keepVisibility, format, encoding } = query
  await admitFile(db, caller, member, config.JWT_SECRET)
  const turn = await running.acquire(weigh(bytes), turns)
  if (!turn) throw unavailable('too many imports are being read')
  const readAndStore = async () => {
    const read = readEntries(reader, bytes, { format, encoding, ...maps })
    const { entries, ...about } = await read.catch((error): never => {
      if (!(error instanceof ImportFileError)) throw error
      throw new ApiError('FILE_NOT_IMPORTABLE', { message: `The file cannot be imported: ${error.message}` })
    })
    const file = crypto.randomUUID()
    const created = await createImport(db, caller, {
      ...about,
      ...newLease(),
      isDryRun: dryRun === 'true' ? 1 : 0,
      merge,
      columns: columnsOf(entries.map(({ cells }) => cells.names)),
      options: { ...maps, keepVisibility: keepVisibility === 'true' },
      file,
      total: entries.length,
    })
    await callBucket(() => bucket.put(fileKey(created.memberId, file), bytes)).catch((error) => {
      runLater(() => failImport(context, created, 'The file could not be stored. Send it again.'))
      throw error
    })
    workLater(context, turn, () => runImport(context, created, entries))
    return toImport(created)
  }
  const storing = readAndStore().catch((error) => {
    turn.release()
    throw error
  })
  return uninterrupted(db, storing)
}
