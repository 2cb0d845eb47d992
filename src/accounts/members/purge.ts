import { sql } from 'drizzle-orm'
import { type Db, firstRow, run, sqlStatement } from '../../db/client'
import { log } from '../../runtime/log'
import { purgeObjects, putMark } from '../../storage/bucket'
import { HOUR_MS } from '../../values/time'

// Deletes what withdrawn members leave behind. Deleting the member's row first would delete everything in one
// statement, through ON DELETE CASCADE, and D1 ends statements after 30 seconds.

/** Rows per statement. */
const BATCH = 1000

const withdrawnId = sql`(select memberId from members where memberId = :memberId and withdrawnAt is not null)`
/** Deletes a batch of a member's rows from a table. `columns` identify a row among them. */
const deleteFrom = (table: string, columns: string) => {
  const [name, key, limit] = [table, columns, String(BATCH)].map((text) => sql.raw(text))
  return sqlStatement<{ memberId: number }>`
    delete from ${name} where memberId = ${withdrawnId}
      and (${key}) in (select ${key} from ${name} where memberId = ${withdrawnId} limit ${limit})
    returning memberId`
}

// The log of changes first, so that the triggers add nothing to it. Books after their details: otherwise one batch
// would also delete, by trigger, the details of a thousand books. Tags before bookTags, so that the trigger that counts
// their books writes nothing.
const STEPS = Object.entries({
  changes: 'seq',
  tags: 'tagId',
  bookTags: 'tagId, bookId',
  progress: 'bookId, at',
  authors: 'authorKey',
  readings: 'readingId',
  memos: 'memoId',
  books: 'bookId',
  trashParts: 'partId',
  trash: 'trashId',
  images: 'imageId',
  goals: 'year',
  positions: 'document, tokenId',
  documents: 'document',
  sittings: 'tokenId, at, document, day',
  statisticsFiles: 'memberId',
  idempotencyKeys: 'keyHash',
  importRows: 'importId, row',
  imports: 'importId',
}).map(([table, columns]) => ({ table, build: deleteFrom(table, columns) }))

/** Whether each table has rows of the member: 1 or 0. */
const selectFilled = sqlStatement<Record<string, number>>`
  select ${sql.join(
    STEPS.map(({ table }) => sql.raw(`exists (select 1 from ${table} where memberId = :memberId) as ${table}`)),
    sql`, `,
  )}`
const deleteMember = sqlStatement`
  delete from members where memberId = :memberId and withdrawnAt is not null
    and not exists (select 1 from memos where memos.memberId = members.memberId)
    and not exists (select 1 from books where books.memberId = members.memberId)
    and not exists (select 1 from images where images.memberId = members.memberId)`

/** Enough for a batch of each table, so that every purge makes progress. */
const MIN_STATEMENTS_PER_MEMBER = STEPS.length + 3
/** One member may use less than half of the 1,000 statements that D1 allows an invocation. */
const MAX_STATEMENTS_PER_MEMBER = 400

/** Deletes a withdrawn member's rows in batches, and finally the member's own. The next purge does what is left. */
const purgeRows = async (db: Db, withdrawn: number, maxStatements: number) => {
  const { filled } = await run(db, { filled: firstRow(selectFilled({ memberId: withdrawn })) })
  let statements = 1
  for (const { table, build } of STEPS) {
    let isDone = !filled?.[table]
    while (!isDone) {
      if (statements++ >= maxStatements) return { statements, isDone }
      const { deleted } = await run(db, { deleted: build({ memberId: withdrawn }) })
      isDone = deleted.length < BATCH
    }
  }
  await run(db, { member: deleteMember({ memberId: withdrawn }) })
  // Includes deleteMember and the deletion of the job.
  return { statements: statements + 2, isDone: true }
}

/** `onPurged` gets the keys of the images. */
type PurgeOptions = { onPurged?: (keys: string[]) => unknown; maxStatements?: number }
/** `createdAt`: when the member withdrew. */
export type Job = { memberId: number; createdAt: number }

/**
 * Marks the withdrawal of a member, and deletes the rows and images, as far as one invocation can.
 * @throws the error of the mark after the deletion: the purge must be repeated
 */
// One after the other: the sweep purges six slots at a time, and a Worker has only six connections.
export const purgeMember = async (
  db: Db,
  bucket: R2Bucket,
  { memberId, createdAt }: Job,
  { onPurged = () => {}, maxStatements = MAX_STATEMENTS_PER_MEMBER }: PurgeOptions = {},
) => {
  const [marked] = await Promise.allSettled([putMark(bucket, { kind: 'withdrawn', memberId, at: createdAt })])
  const purge = () => purgeObjects(bucket, memberId).then(onPurged)
  const done = await purgeRows(db, memberId, maxStatements).finally(purge)
  if (marked.status === 'rejected') throw marked.reason
  return done
}

const MAX_JOBS = 100

// Jobs that only wait for late uploads come last. A mark would delete an active member again after each restore.
const selectPurgeJobs = sqlStatement<Job>`
  select memberId, createdAt from purgeJobs
  where not exists (select 1 from members where members.memberId = purgeJobs.memberId and withdrawnAt is null)
  order by memberId not in (select memberId from members), createdAt limit ${sql.raw(String(MAX_JOBS))}`
const deletePurgeJob = sqlStatement`
  delete from purgeJobs where memberId = :memberId and memberId not in (select memberId from members)`

/** How many statements a sweep may still run for purge jobs and imports, and how many slots it visits at a time. */
export type Budget = { left: number; slotsAtATime: number }

/**
 * Purges withdrawn members of a slot, those with rows left before others, the oldest first. The next sweep retries what
 * failed. A job is repeated until it is an hour old: an upload that began before the withdrawal may still store an
 * image. It does not end before its withdrawal is marked. Returns how many members were purged, at least in part, and
 * how many steps failed.
 * @param release frees the addresses of the members; without it, no job ends
 */
export const runPurgeJobs = async (
  db: Db,
  bucket: R2Bucket,
  release: (memberIds: number[]) => Promise<unknown>,
  budget: Budget,
) => {
  const { jobs } = await run(db, { jobs: selectPurgeJobs() })
  if (jobs.length === 0) return { purged: 0, failures: 0 }
  const isReleased = await release(jobs.map(({ memberId }) => memberId)).then(
    () => true,
    (error) => log('error', `purge: ${error}`),
  )
  let purged = 0
  let failures = isReleased ? 0 : 1
  for (const job of jobs) {
    const { memberId, createdAt } = job
    if (budget.left < MIN_STATEMENTS_PER_MEMBER) break
    const share = Math.max(Math.ceil(budget.left / budget.slotsAtATime), MIN_STATEMENTS_PER_MEMBER)
    const most = Math.min(share, MAX_STATEMENTS_PER_MEMBER)
    budget.left -= most
    try {
      const { statements, isDone } = await purgeMember(db, bucket, job, { maxStatements: most })
      budget.left += most - Math.min(most, statements)
      purged++
      const isOver = isReleased && isDone && createdAt < Date.now() - HOUR_MS
      if (isOver) await run(db, { job: deletePurgeJob({ memberId }) })
    } catch (error) {
      failures++
      log('error', `purging member ${memberId}: ${error}`)
    }
  }
  return { purged, failures }
}
