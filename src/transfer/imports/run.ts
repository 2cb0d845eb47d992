import { firstRow, sqlStatement } from '../../db/client'
import { type OwnQuotas, quotasOf } from '../../db/quotas'
import { DEADLINES } from '../../runtime/deadlines'
import { callBucket, fileKey } from '../../storage/bucket'
import { IMPORT_OUTCOMES } from '../../values/contract'
import { MAX_REPORT_BYTES } from '../../values/prices'
import { createZone, localTime, type Zone } from '../../values/time'
import { type Entry, ImportFileError } from '../entries/entry'
import type { ReceivedEntry } from '../entries/reader-protocol'
import { failImport, returnLease, takeLease } from './lease'
import { loadExisting, loadLibrary } from './plan/existing'
import type { Match } from './plan/matching'
import { limitTags, limitUsage, type Planned, planRow, type Usage, withAdded } from './plan/plan'
import { readEntries } from './receive/reader-client'
import { deleteHiddenRows, limitReports } from './reports'
import { query, type RunContext } from './run-context'
import type { StoredImport } from './store'
import { writeChunk } from './write/chunk'
import { claimChunk } from './write/chunk-claim'
import { toItems } from './write/chunk-items'
import { addRemainingMemos, changesOfEntry, firstMemos, isWhole, MAX_CHANGES } from './write/remaining-memos'

/** How often an import is continued without committing rows. Then it becomes FAILED. */
const MAX_CONTINUATIONS = 10
const MAX_CHUNK_ROWS = 120
/** Characters of JSON: an entry is about as large as the parameters of its statements. */
const MAX_CHUNK_SIZE = 256 * 1024

const REPORT_FULL =
  'The report of the import has become too large. Send the file again for the other rows: what was imported is not imported twice.'

/** The text that the rows in the report of a dry run would have added. */
const selectReported = sqlStatement<Pick<Usage, 'textBytes'>>`
  select coalesce(sum(undo ->> 'bytes'), 0) as textBytes from importRows
  where memberId = :memberId and importId = :importId`
const selectZone = sqlStatement<{ timeZone: string | null }>`select timeZone from members where memberId = :memberId`
const selectMemberUsage = sqlStatement<Usage & OwnQuotas & { reportBytes: number }>`
  select (select reportBytes from imports where memberId = :memberId and importId = :importId) as reportBytes,
    yetBooks + ingBooks + doneBooks as books, textBytes, maxBooks, maxTextBytes from members
  where memberId = :memberId and withdrawnAt is null`

const takeChunk = (entries: ReceivedEntry[], done: number) => {
  const chunk: ReceivedEntry[] = []
  let [size, changes] = [0, 0]
  for (const entry of entries.slice(done, done + MAX_CHUNK_ROWS)) {
    changes += changesOfEntry(entry)
    if (chunk.length > 0 && (size >= MAX_CHUNK_SIZE || changes > MAX_CHANGES)) break
    size += entry.size
    chunk.push(entry)
  }
  return chunk
}

/** The rows of the file that follow the first `done` rows. `now`: the local time. `zone`: that of the member. */
type Chunk = { done: number; entries: Entry[]; now: string; zone: Zone }

/** Returns undefined if a book to which a row belongs is gone: it may have been merged into another one. */
const planChunk = async (
  context: RunContext,
  { memberId, merge, options }: StoredImport,
  { done, entries, now, zone }: Chunk,
  matches: Map<Entry, Match>,
) => {
  const matched = new Map<number, Entry>()
  for (const entry of entries) {
    const match = matches.get(entry)
    if (match?.kind === 'same') matched.set(match.bookId, entry)
  }
  const existing = await loadExisting(context, memberId, matched, zone)
  if (existing.size < matched.size) return undefined
  const { keepVisibility } = JSON.parse(options)
  const situation = { now, zone, overwrites: merge === 'overwrite', keepVisibility, quotas: context.config, existing }
  return entries.map((entry, at) => planRow({ row: done + at + 1, entry }, matches.get(entry), situation))
}

/** Returns false if nothing was written: the import was cancelled, another run has it, or a quota is full. */
const commit = async (
  context: RunContext,
  { memberId, importId, isDryRun, lease }: StoredImport,
  { done: doneBefore, now }: Chunk,
  { plan, before }: { plan: Planned[]; before: Usage },
) => {
  const { MAX_BOOKS, MAX_MEMBER_TEXT_BYTES } = context.config
  const ofChunk = { memberId, importId, lease, done: doneBefore + plan.length, now: Date.now() }
  const { books, textBytes } = withAdded(before, plan)
  const last = plan.at(-1)
  const countOf = (outcome: Planned['outcome']) => plan.filter((each) => each.outcome === outcome).length
  const claim = claimChunk({
    ...ofChunk,
    ...Object.fromEntries(IMPORT_OUTCOMES.map((outcome) => [outcome, countOf(outcome)])),
    doneBefore,
    leaseEndsAt: Date.now() + DEADLINES.importLease,
    // A chunk that adds nothing never exceeds a quota.
    newBooks: books > before.books ? books : 0,
    bytes: textBytes > before.textBytes ? textBytes : 0,
    isWhole: Number(isDryRun || isWhole(last?.entry)),
    MAX_BOOKS,
    MAX_MEMBER_TEXT_BYTES,
  })
  const items = toItems(plan, now, isDryRun === 1)
  const memos = last && !isWhole(last.entry) ? items.memos.slice(0, firstMemos(last.entry)) : items.memos
  const statements = [...writeChunk(ofChunk, { ...items, memos }), ...limitReports({ ...ofChunk, doneBefore })]
  const { claimed } = await query(context, { claimed: firstRow(claim), statements })
  return claimed !== undefined
}

/** Works on an import until it is done, or the time or the statements of an invocation are used up. */
const work = async (context: RunContext, stored: StoredImport, entries: ReceivedEntry[], deadline: number) => {
  const { budget, config } = context
  const { memberId, importId, isDryRun, created } = stored
  const values = { memberId, importId }
  let library = await loadLibrary(context, stored, entries, deadline)
  const { member } = await query(context, { member: firstRow(selectZone(values)) })
  const zone = createZone(member?.timeZone ?? config.TIME_ZONE)
  const reported = isDryRun ? (await query(context, { row: firstRow(selectReported(values)) })).row : undefined
  // What a dry run has reported counts as if it were stored.
  let before: Usage = { books: isDryRun ? created : 0, textBytes: reported?.textBytes ?? 0 }
  let { done } = stored
  // If an interrupted run has left memos of its last row.
  await addRemainingMemos(context, stored, { done, entries, now: localTime(config.TIME_ZONE), zone })
  await deleteHiddenRows(context, stored)
  while (library && done < entries.length && Date.now() < deadline && budget.left > 0) {
    const chunk = { done, entries: takeChunk(entries, done), now: localTime(config.TIME_ZONE), zone }
    const matches = library.match(chunk.entries.filter(({ failure }) => !failure))
    const planned = await planChunk(context, stored, chunk, matches)
    if (!planned) {
      library = await loadLibrary(context, { ...stored, done }, entries, deadline)
      continue
    }
    let plan = limitTags(planned, library.tagKeys)
    if (!(await commit(context, stored, chunk, { plan, before }))) {
      const { usage } = await query(context, { usage: firstRow(selectMemberUsage(values)) })
      if (!usage) return
      if (usage.reportBytes >= MAX_REPORT_BYTES) throw new ImportFileError(REPORT_FULL)
      const used = { books: usage.books + before.books, textBytes: usage.textBytes + before.textBytes }
      plan = limitUsage(plan, used, quotasOf(config, usage))
      if (!(await commit(context, stored, chunk, { plan, before }))) return
    }
    done += plan.length
    await addRemainingMemos(context, stored, { done, entries, now: chunk.now, zone })
    if (isDryRun) before = withAdded(before, plan)
  }
  await deleteHiddenRows(context, stored)
}

/** @throws ImportFileError if the file is not what it was when the import began */
const readAgain = async ({ bucket, reader }: RunContext, stored: StoredImport) => {
  const { memberId, format, encoding, options, total, file } = stored
  const object = file === null ? null : await callBucket(() => bucket.get(fileKey(memberId, file)))
  if (!object) throw new ImportFileError('The file was lost. Send it again.')
  const { entries } = await readEntries(reader, await object.bytes(), { ...JSON.parse(options), format, encoding })
  // Rows are known by their number, and the reader may have been updated since.
  if (entries.length === total) return entries
  throw new ImportFileError(
    'The service was updated during the import, and now finds other rows in the file. Send it again: what was imported is not imported twice.',
  )
}

/** When a run that begins now ends; what is left, the next run does. */
export const endOfRun = () => Date.now() + DEADLINES.importRun

/**
 * Runs an import whose lease the caller has. After an error, the lease stays until it ends, so that the next run does
 * not follow at once. Returns whether the import has ended and another one waits.
 * @param entries if the file has been read already
 */
export const runImport = async (
  context: RunContext,
  stored: StoredImport,
  deadline: number,
  entries?: ReceivedEntry[],
) => {
  try {
    await work(context, stored, entries ?? (await readAgain(context, stored)), deadline)
  } catch (error) {
    if (error instanceof ImportFileError) return failImport(context, stored, error.message)
    throw error
  }
  return returnLease(context, stored)
}

/** The statements of a run, beside those of `loadLibrary` and of chunks. */
export const RUN_STATEMENTS = 10

/** Runs the oldest import of a member, unless another run has it. Returns whether it has ended and another one waits. */
export const continueImport = async (context: RunContext, memberId: number, deadline = endOfRun()) => {
  const stored = await takeLease(context, memberId)
  if (!stored) return false
  const { continuations, done, total } = stored
  if (continuations <= MAX_CONTINUATIONS) return runImport(context, stored, deadline)
  const reason = `The import failed after ${done} of ${total} rows, and so did each attempt to continue it. Send the file again: what was imported is not imported twice.`
  return failImport(context, stored, reason)
}
