import type { Caller } from '../../../db/caller'
import { type ConfirmedMember, uninterrupted } from '../../../db/client'
import { ApiError, unavailable } from '../../../errors'
import { DEADLINES } from '../../../runtime/deadlines'
import { createLimiter, type Lease } from '../../../runtime/limiter'
import { callBucket, fileKey } from '../../../storage/bucket'
import { ImportFileError, MAX_ROWS } from '../../entries/entry'
import type { ReadOptions, ReceivedEntry } from '../../entries/reader-protocol'
import { headerOf } from '../failed-csv'
import { failImport, newLease, returnLease } from '../lease'
import { continueImport, endOfRun, runImport } from '../run'
import type { RunContext } from '../run-context'
import { type ImportQuery, MAX_FILE_BYTES } from '../schema'
import { admitFile, type Created, createImport, type NewImport, toImport } from '../store'
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

/** Limits the weight of files being read: they take up to ten times as much memory, and an isolate has 128 MB. */
export const readingLimiter = createLimiter({
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

/** Works on imports after the response. */
const workLater = ({ runLater }: ImportContext, work: () => Promise<unknown>) =>
  runLater(() =>
    work().catch((error) => {
      throw new Error(`import: ${error}`)
    }),
  )

/** Runs the imports of a member, oldest first, until another run has one or the time is up. */
const runWaiting = async (context: ImportContext, memberId: number, deadline: number) => {
  while (Date.now() < deadline && (await continueImport(context, memberId, deadline))) {}
}

/** Continues the imports of a member after the response, if this isolate is not at work on another one. */
export const continueLater = (context: ImportContext, memberId: number) => {
  const turn = readingLimiter.tryAcquire(MAX_FILE_BYTES)
  if (turn) workLater(context, () => runWaiting(context, memberId, endOfRun()).finally(turn.release))
}

/** Runs the waiting imports of a member. Their files may be larger than that of an earlier turn. */
export const runInTurn = async (context: ImportContext, memberId: number, deadline: number) => {
  const turn = await readingLimiter.acquire(MAX_FILE_BYTES, context.turns)
  if (turn) await runWaiting(context, memberId, deadline).finally(turn.release)
}

/** Runs an import unless it waits for others, and gives up its turn. Returns the work on those that wait. */
const runFirst = async (context: ImportContext, turn: Lease, created: Created, entries: ReceivedEntry[]) => {
  const deadline = endOfRun()
  const work = created.isQueued ? returnLease(context, created) : runImport(context, created, deadline, entries)
  const isWaiting = await work.finally(turn.release)
  return async () => {
    if (created.isQueued || isWaiting) await runInTurn(context, created.memberId, deadline)
  }
}

/** Stores the file of an import until it has ended. */
export const putFile = (
  { bucket }: ImportContext,
  { memberId, file }: { memberId: number; file: string },
  bytes: Uint8Array,
) => callBucket(() => bucket.put(fileKey(memberId, file), bytes))

type Start = Pick<NewImport, 'isDryRun' | 'merge' | 'options' | 'device'> & {
  read: ReadOptions
  /** Whether to end when the import has ended, or its time is up, rather than when it has started. */
  wait?: boolean
}

/**
 * Reads a file, and starts its import. Its rows are written after the response.
 * @throws those of `createImport`; FILE_NOT_IMPORTABLE; UNAVAILABLE if the reader or the bucket fails
 */
export const readAndStart = async (context: ImportContext, bytes: Uint8Array, { read, wait, ...how }: Start) => {
  const { db, reader, caller, turns } = context
  const turn = await readingLimiter.acquire(weigh(bytes), turns)
  if (!turn) throw unavailable('too many files are being read')
  const start = async () => {
    const { entries, member, ...about } = await readEntries(reader, bytes, read).catch((error): never => {
      if (!(error instanceof ImportFileError)) throw error
      throw new ApiError('FILE_NOT_IMPORTABLE', { message: `The file cannot be imported: ${error.message}` })
    })
    const file = crypto.randomUUID()
    const created = await createImport(db, caller, {
      ...about,
      ...newLease(),
      ...how,
      // A device may send books, but set nothing else.
      member: how.device ? undefined : member,
      columns: headerOf(entries.map(({ cells }) => cells.names)),
      file,
      total: entries.length,
    })
    await putFile(context, { memberId: created.memberId, file }, bytes).catch(async (error) => {
      // Before the response: a device that sends the file again starts another import.
      await failImport(context, created, 'The file could not be stored. Send it again.').catch(() => {})
      throw error
    })
    const first = () => runFirst(context, turn, created, entries)
    if (wait) workLater(context, await first())
    else workLater(context, async () => (await first())())
    return created
  }
  const started = start().catch((error) => {
    turn.release()
    throw error
  })
  return uninterrupted(db, started)
}

/**
 * Starts an import of a file that the member sent.
 * @throws the errors of `admitFile` and `readAndStart`
 */
export const startImport = async (
  context: ImportContext,
  member: ConfirmedMember,
  { file, maps }: Upload,
  { dryRun, merge, keepVisibility, format, encoding }: ImportQuery,
) => {
  await admitFile(context.db, context.caller, member, context.config.JWT_SECRET)
  const created = await readAndStart(context, file, {
    read: { format, encoding, ...maps },
    isDryRun: dryRun === 'true' ? 1 : 0,
    merge,
    options: { ...maps, keepVisibility: keepVisibility === 'true' },
  })
  return toImport(created)
}
