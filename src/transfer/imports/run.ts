import { sql } from 'drizzle-orm'
import { type Db, run, sqlStatement } from '../../db/client'
import { localTime } from '../../values/local-time'
import type { Quotas } from '../../values/quotas'
import type { ReceivedEntry } from '../entry-lines'
import { ImportFileError } from '../reader/file-error'
import { toArrays } from './plan/arrays'
import { loadExisting, loadLibrary } from './plan/existing'
import { limitTags, limitUsage, type Usage, withAdded } from './plan/limit-plan'
import { type Planned, planRow } from './plan/plan'
import { deleteFile, getFile } from './receive/import-files'
import { type ReaderBinding, readEntries } from './receive/reader-client'
import { importColumns, type StoredImport } from './store'
import { commitChunk } from './write/chunk'
import { claimChunk } from './write/chunk-claim'

const { placeholder } = sql
const memberId = placeholder('memberId')
const isImport = sql`memberId = ${memberId} and importId = ${placeholder('importId')}`

/** A run works on its import at most this long; what is left, the next run does. */
const MAX_RUN_MS = 20_000
/** Longer than a run, with its last call. */
export const LEASE_MS = 45_000
/** How often an import is continued without committing rows. Then it ends. */
const MAX_CONTINUATIONS = 10
/** D1 allows an invocation 1,000 statements. */
const MAX_STATEMENTS = 800
const MAX_CHUNK_ROWS = 120
/** Characters of JSON: an entry is about as large as the parameters of its statements. */
const MAX_CHUNK_SIZE = 256 * 1024

export const newLease = () => ({
  lease: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
  leaseEndsAt: Date.now() + LEASE_MS,
})

/** Fails if another run has the lease. */
const takeLease = sqlStatement<StoredImport>(
  () => sql`
  update imports set lease = ${placeholder('lease')}, leaseEndsAt = ${placeholder('leaseEndsAt')},
    continuations = continuations + 1
  where ${isImport} and status = 'RUNNING' and isDeleted = 0 and leaseEndsAt <= ${placeholder('now')}
  returning ${importColumns}`,
)
const returnLease = sqlStatement(
  () =>
    sql`update imports set leaseEndsAt = 0 where ${isImport} and lease = ${placeholder('lease')} and status = 'RUNNING'`,
)
const failImport = sqlStatement(
  () => sql`
  update imports set status = 'FAILED', reason = ${placeholder('reason')}
  where ${isImport} and lease = ${placeholder('lease')} and status = 'RUNNING'`,
)
const forgetFile = sqlStatement(() => sql`update imports set file = null where ${isImport} and status <> 'RUNNING'`)

const selectTagKeys = sqlStatement<{ tagKey: string }>(() => sql`select tagKey from tags where memberId = ${memberId}`)

/** The books of the rows that earlier runs committed. */
const selectTaken = sqlStatement<{ bookId: number }>(
  () => sql`
  select bookId from importRows
  where ${isImport} and bookId is not null and code is not 'ambiguous-match'`,
)
const selectUsage = sqlStatement<Usage>(
  () => sql`
  select yetBooks + ingBooks + doneBooks as books, textBytes from members
  where memberId = ${memberId} and withdrawnAt is null`,
)

/** The text that the rows in the report of a dry run would have added. */
const selectReported = sqlStatement<Pick<Usage, 'textBytes'>>(
  () => sql`select coalesce(sum(undo ->> 'bytes'), 0) as textBytes from importRows where ${isImport}`,
)

export type RunContext = {
  db: Db
  bucket: R2Bucket
  reader: ReaderBinding
  quotas: Quotas
  timeZone: string
  /** The statements that are left for the library and for chunks: counts down. The last chunk may exceed them. */
  budget?: { left: number }
}

const nextChunk = (entries: ReceivedEntry[], from: number) => {
  let size = 0
  let to = from
  while (to < entries.length && to - from < MAX_CHUNK_ROWS && size < MAX_CHUNK_SIZE) {
    size += entries[to]?.size ?? 0
    to += 1
  }
  return to
}

const countOf = (plan: Planned[], outcome: Planned['outcome']) => plan.filter((each) => each.outcome === outcome).length

/** Commits a planned chunk. Returns false if nothing was written: the import was cancelled, or a quota is full. */
const commit = async (
  { db, quotas }: RunContext,
  { memberId, importId, isDryRun, merge }: StoredImport,
  lease: number,
  doneBefore: number,
  plan: Planned[],
  now: string,
  before: Usage,
) => {
  const done = doneBefore + plan.length
  const values = { memberId, importId, lease, done }
  const { books, textBytes } = withAdded(before, plan)
  const claim = claimChunk({
    ...values,
    doneBefore,
    leaseEndsAt: Date.now() + LEASE_MS,
    created: countOf(plan, 'created'),
    updated: countOf(plan, 'updated'),
    unchanged: countOf(plan, 'unchanged'),
    skipped: countOf(plan, 'skipped'),
    failed: countOf(plan, 'failed'),
    // A chunk that adds nothing never exceeds a quota.
    newBooks: books > before.books ? books : 0,
    bytes: textBytes > before.textBytes ? textBytes : 0,
    MAX_BOOKS: quotas.MAX_BOOKS,
    MAX_MEMBER_TEXT_BYTES: quotas.MAX_MEMBER_TEXT_BYTES,
  })
  const statements = commitChunk(values, Date.now(), merge === 'overwrite', toArrays(plan, now, isDryRun === 1))
  const [claimed] = await run(db, claim, ...statements)
  return { isCommitted: claimed.length > 0, statements: 1 + statements.length }
}

/** Works on an import until it is done, or the time or the statements of an invocation are used up. */
const work = async (context: RunContext, stored: StoredImport, lease: number, entries: ReceivedEntry[]) => {
  const { db, quotas, timeZone, budget = { left: MAX_STATEMENTS } } = context
  const owner = stored.memberId
  const deadline = Date.now() + MAX_RUN_MS
  const library = await loadLibrary(db, owner, entries)
  const ofImport = { memberId: owner, importId: stored.importId }
  const [tagKeys, taken, [reported]] = await run(
    db,
    selectTagKeys({ memberId: owner }),
    selectTaken(ofImport),
    selectReported(ofImport),
  )
  const isDryRun = stored.isDryRun === 1
  // What a dry run has reported counts as if it were stored.
  let before: Usage = { books: isDryRun ? stored.created : 0, textBytes: reported?.textBytes ?? 0 }
  const knownTags = new Set(tagKeys.map(({ tagKey }) => tagKey))
  budget.left -= library.statements
  let done = stored.done
  for (const { bookId } of taken) library.matcher.exclude(bookId)
  const isLeft = (entry: ReceivedEntry, at: number) => at >= done && !entry.failure
  const origins = entries.map((entry, at) => (isLeft(entry, at) ? library.matcher.takeOrigin(entry) : undefined))
  const targets = entries.map((entry, at) =>
    isLeft(entry, at) ? (origins[at] ?? library.matcher.take(entry)) : undefined,
  )
  while (done < entries.length && Date.now() < deadline && budget.left > 0) {
    const to = nextChunk(entries, done)
    const chunk = entries
      .slice(done, to)
      .map((entry, at) => ({ row: done + at + 1, entry, target: targets[done + at] }))
    const loaded = await loadExisting(db, owner, chunk)
    const now = localTime(timeZone)
    const situation = { now, overwrites: stored.merge === 'overwrite', quotas, ...loaded }
    let plan = chunk.map(({ row, entry, target }) => planRow(row, entry, target, situation))
    limitTags(plan, knownTags)
    let committed = await commit(context, stored, lease, done, plan, now, before)
    budget.left -= loaded.statements + committed.statements
    if (!committed.isCommitted) {
      const [[usage]] = await run(db, selectUsage({ memberId: owner }))
      if (!usage) return
      const { books, textBytes } = usage
      plan = limitUsage(plan, { books: books + before.books, textBytes: textBytes + before.textBytes }, quotas)
      committed = await commit(context, stored, lease, done, plan, now, before)
      budget.left -= 1 + committed.statements
      if (!committed.isCommitted) return
    }
    done = to
    if (isDryRun) before = withAdded(before, plan)
  }
}

const fail = async ({ db }: RunContext, { memberId, importId }: StoredImport, lease: number, reason: string) =>
  run(db, failImport({ memberId, importId, lease, reason }))

/** Deletes the file of an import that has ended. The sweep repeats it. */
export const dropFile = async ({ db, bucket }: RunContext, memberId: number, importId: number, file: string) => {
  await deleteFile(bucket, memberId, file)
  await run(db, forgetFile({ memberId, importId }))
}

/** Ends an import as failed, so that the next one may start. */
export const abandonImport = async (context: RunContext, stored: StoredImport, lease: number, reason: string) => {
  const { memberId, importId, file } = stored
  await fail(context, stored, lease, reason)
  if (file !== null) await dropFile(context, memberId, importId, file)
}

const selectState = sqlStatement<{ status: StoredImport['status'] }>(
  () => sql`select status from imports where ${isImport}`,
)

/** @throws ImportFileError if the file is not what it was when the import began */
const readAgain = async ({ bucket, reader }: RunContext, stored: StoredImport, file: string) => {
  const { memberId, format, encoding, options, total } = stored
  const bytes = await getFile(bucket, memberId, file)
  if (!bytes) throw new ImportFileError('The file was lost. Send it again.')
  const { entries } = await readEntries(reader, bytes, { ...JSON.parse(options), format, encoding })
  // Rows are known by their number, and the reader may have been updated since.
  if (entries.length === total) return entries
  throw new ImportFileError(
    'The service was updated during the import, and now finds other rows in the file. Send it again: what was imported is not imported twice.',
  )
}

/**
 * Runs an import whose lease the caller has. After an error, the lease stays until it ends, so that the next run does not
 * follow at once.
 * @param entries if the file has been read already
 */
export const runLeased = async (
  context: RunContext,
  stored: StoredImport,
  lease: number,
  entries?: ReceivedEntry[],
) => {
  const { memberId, importId, file } = stored
  const values = { memberId, importId, lease }
  if (file === null) return
  try {
    await work(context, stored, lease, entries ?? (await readAgain(context, stored, file)))
  } catch (error) {
    if (!(error instanceof ImportFileError)) throw error
    await fail(context, stored, lease, error.reason)
  }
  const [, [state]] = await run(context.db, returnLease(values), selectState(values))
  if (state && state.status !== 'RUNNING') await dropFile(context, memberId, importId, file)
}

/** The statements of a run, beside those of loading the library and of chunks. */
export const RUN_STATEMENTS = 7

/** Continues an import, unless it has ended or another run works on it. */
export const continueImport = async (context: RunContext, memberId: number, importId: number) => {
  const lease = newLease()
  const [[stored]] = await run(context.db, takeLease({ memberId, importId, now: Date.now(), ...lease }))
  if (!stored) return
  if (stored.continuations <= MAX_CONTINUATIONS) return runLeased(context, stored, lease.lease)
  const reason = `The import failed after ${stored.done} of ${stored.total} rows, and so did each attempt to continue it. Send the file again: what was imported is not imported twice.`
  await abandonImport(context, stored, lease.lease, reason)
}
