import type { ConfirmedMember } from '../../db/client'
import { uninterrupted } from '../../db/client'
import { ApiError, unavailable } from '../../errors'
import { log } from '../../runtime/log'
import { deleteObject, getBytes, putBytes, statisticsKey } from '../../storage/bucket'
import { type ImportContext, readingLimiter } from '../../transfer/imports/receive/start'
import { MAX_FILE_BYTES } from '../../transfer/imports/schema'
import { matchesEtag, matchesWeakEtag } from '../../values/text/etags'
import { readStatistics } from './read'
import { MAX_ATTEMPTS, MAX_LINKED, MAX_LINKED_AGAIN, MAX_PARTS, MAX_SITTINGS } from './schema'
import { admitFile, getState, linkWaiting, replaceFile, type State } from './store'

// A file and what is counted of it: docs/decisions/0040-reading-time.md.

export const etagOf = ({ file, hash }: State) => (file === null ? undefined : `"${hash}"`)

type Conditions = { ifMatch?: string; ifNoneMatch?: string }

/** @throws PRECONDITION_FAILED */
const evaluate = (state: State, { ifMatch, ifNoneMatch }: Conditions) => {
  const etag = etagOf(state)
  const isOther = ifMatch !== undefined && !(etag && matchesEtag(ifMatch, etag))
  const isKnown = ifNoneMatch !== undefined && etag && matchesWeakEtag(ifNoneMatch, etag)
  if (isOther || isKnown) throw new ApiError('PRECONDITION_FAILED')
}

type Upload = { bytes: Uint8Array<ArrayBuffer>; hash: string }

/** Deletes objects that no row names. A failure is only logged. */
export const drop = (bucket: R2Bucket, keys: string[]) =>
  Promise.all(
    keys.map((key) =>
      deleteObject(bucket, key).catch((error) => log('error', `statistics may be orphaned: ${key}: ${error.message}`)),
    ),
  )

/** Stores all of the objects, or none. */
const putAll = async (context: ImportContext, objects: Map<string, Uint8Array>) => {
  const stored = await Promise.allSettled([...objects].map(([key, bytes]) => putBytes(context.bucket, key, bytes)))
  const failed = stored.find(({ status }) => status === 'rejected')
  if (!failed) return
  await drop(context.bucket, [...objects.keys()])
  throw (failed as PromiseRejectedResult).reason
}

/** Loads the objects of a state. Undefined if one is gone, because another request has replaced it. */
const loadCounted = async ({ bucket }: ImportContext, { memberId, file, missing }: State) => {
  const load = (name: string | null) => (name === null ? null : getBytes(bucket, statisticsKey(memberId, name)))
  const [fileBytes, missingBytes] = await Promise.all([load(file), load(missing)])
  const isGone = (file !== null && !fileBytes) || (missing !== null && !missingBytes)
  return isGone ? undefined : { file: fileBytes, missing: missingBytes }
}

/** What a step leaves: all is counted, a part of it, or another request was faster. */
type Step = 'done' | 'part' | 'overtaken'

/** Counts what the file adds to a state, or a part of it. The objects come first: a row always has its objects. */
const countPart = async (context: ImportContext, before: State, { bytes, hash }: Upload): Promise<Step> => {
  const { db, caller, config, reader } = context
  const { memberId } = before
  const counted = await loadCounted(context, before)
  if (!counted) return 'overtaken'
  const options = { timeZone: before.timeZone ?? config.TIME_ZONE, maxSittings: MAX_SITTINGS }
  const read = await readStatistics(reader, bytes, counted, options)
  const after = {
    ...(read.isComplete ? { file: crypto.randomUUID(), hash, bytes: bytes.length } : before),
    missing: read.missing && crypto.randomUUID(),
    missingBytes: read.missing?.length ?? 0,
  }
  const keyOf = (name: string) => statisticsKey(memberId, name)
  const objects = new Map<string, Uint8Array>()
  if (read.isComplete && after.file) objects.set(keyOf(after.file), bytes)
  if (read.missing && after.missing) objects.set(keyOf(after.missing), read.missing)
  await putAll(context, objects)
  const isWritten = await replaceFile(db, caller, before, after, read, config).catch(async (error) => {
    // After a failure of the database, the row may name them.
    const isKnown = error instanceof ApiError && error.code !== 'UNAVAILABLE'
    if (isKnown) await drop(context.bucket, [...objects.keys()])
    else log('error', `statistics may be orphaned: ${[...objects.keys()].join(', ')}`)
    throw error
  })
  const unused = [before.file, before.missing].flatMap((name) =>
    name !== null && name !== after.file ? [keyOf(name)] : [],
  )
  db.waitUntil(drop(context.bucket, isWritten ? unused : [...objects.keys()]))
  return !isWritten ? 'overtaken' : read.isComplete ? 'done' : 'part'
}

const count = async (context: ImportContext, first: State, upload: Upload, conditions: Conditions) => {
  const left = { part: MAX_PARTS, overtaken: MAX_ATTEMPTS }
  for (let state = first; ; state = await getState(context.db, context.caller)) {
    evaluate(state, conditions)
    if (state.hash === upload.hash) return
    const step = await countPart(context, state, upload)
    if (step === 'done') return
    left[step] -= 1
    if (left.part === 0) throw unavailable('statistics are counted in part', 'Only a part is counted yet: sync again')
    if (left.overtaken === 0) throw unavailable('statistics change, or lack an object')
  }
}

/**
 * Stores the file of the caller, and counts what it adds. The same file again adds nothing. Books of waiting documents
 * are looked for. Returns its tag.
 * @throws PRECONDITION_FAILED; TOO_MANY_REQUESTS; FILE_NOT_IMPORTABLE; the quotas of `replaceFile`; UNAVAILABLE, also if there
 * is so much to count that the file must be sent again
 */
export const uploadStatistics = async (
  context: ImportContext,
  member: ConfirmedMember,
  bytes: Uint8Array<ArrayBuffer>,
  conditions: Conditions,
) => {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
  const { db, caller, config, turns } = context
  const { state, waiting } = await admitFile(db, caller, member, config, hash)
  evaluate(state, conditions)
  if (state.hash !== hash) {
    const weight = Math.min(bytes.length + state.bytes + state.missingBytes, MAX_FILE_BYTES)
    const turn = await readingLimiter.acquire(weight, turns)
    if (!turn) throw unavailable('too many files are being read')
    await uninterrupted(db, count(context, state, { bytes, hash }, conditions).finally(turn.release))
  }
  // The same file counts towards no limit of a day.
  const sought = waiting.slice(0, state.hash === hash ? MAX_LINKED_AGAIN : MAX_LINKED)
  if (sought.length > 0) await linkWaiting(db, caller, sought)
  return `"${hash}"`
}
