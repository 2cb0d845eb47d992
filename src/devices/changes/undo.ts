import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import type { StoredImport } from '../../transfer/imports/store'
import { intoTrash } from '../../transfer/imports/undo/removal'
import { undoImport } from '../../transfer/imports/undo/undo-import'
import type { Quotas } from '../../values/quotas'
import type { UndoneChanges } from './responses'
import { MAX_IMPORTS_UNDONE, MAX_ROWS_UNDONE } from './schema'
import { ofToken, requireDevice, selectDeviceToken } from './store'
import { undoEvents } from './undo-events'

const isSince = sql`${ofToken} and isDeleted = 0 and importId >= (:since + 0)`
const cancelRunning = sqlStatement`
  update imports set status = 'FAILED', lease = 0 where ${isSince} and status = 'RUNNING'`
type Import = { importId: number; rows: number }
const selectImports = sqlStatement<Import>`
  select importId, created + updated as rows from imports where ${isSince} order by importId desc limit ${limit}`

const unlinkDocuments = sqlStatement<{ document: string }>`
  update documents set bookId = null, tokenId = null, linkedAt = null
  where ${ofToken} and not isByHand and linkedAt >= :since returning document`
const deletePositions = sqlStatement`delete from positions where ${ofToken} and at >= (:since + 0)`
/** Documents that only this device has pushed: their positions are gone. */
const deleteDocuments = sqlStatement`
  delete from documents where memberId = ${callerId} and createdAt >= (:since + 0) and not isByHand and bookId is null
    and not exists (
      select 1 from positions where positions.memberId = documents.memberId and positions.document = documents.document
    )`

/** Batches of events that one call undoes. */
const MAX_BATCHES = 20

/** The imports that one call undoes. */
const takeImports = (imports: Import[]) => {
  let sum = 0
  return imports.slice(0, MAX_IMPORTS_UNDONE).filter(({ rows }, at) => {
    sum += rows
    return at === 0 || sum <= MAX_ROWS_UNDONE
  })
}

type Since = { tokenId: string; since: number }
type Undone = UndoneChanges & { files: StoredImport[] }

/**
 * Undoes what a device did since a time, newest first: a part of it, if that is much. `files`: of the imports.
 * @throws TOKEN_NOT_FOUND; MAX_MEMBER_TEXT_BYTES when the quota has no room for what an import replaced
 */
export const undoDevice = async (db: Db, caller: Caller, of: Since, quotas: Quotas): Promise<Undone> => {
  const { token, imports, unlinked } = await runAsCaller(db, caller, {
    token: selectDeviceToken(of),
    cancelled: cancelRunning(of),
    imports: selectImports({ ...of, limit: MAX_IMPORTS_UNDONE + 1 }),
    unlinked: unlinkDocuments(of),
    positions: deletePositions(of),
    documents: deleteDocuments(of),
  })
  requireDevice(token)
  const files: StoredImport[] = []
  const kept = new Map<number, UndoneChanges['kept'][number]>()
  const keep = (books: UndoneChanges['kept']) => {
    for (const { bookId, title, left } of books) {
      const all = new Set([...(kept.get(bookId)?.left ?? []), ...left])
      if (all.size > 0) kept.set(bookId, { bookId, title, left: [...all] })
    }
  }
  const undone = { imports: 0, books: 0, memos: 0, progress: 0, documents: unlinked.length }
  let batches = 0
  /** Returns whether all events since then are undone. */
  const undoProgress = async (since: number) => {
    for (let hasMore = true; hasMore; ) {
      if (batches++ >= MAX_BATCHES) return false
      const { count, left, ...events } = await undoEvents(db, caller, { ...of, since })
      undone.progress += count
      keep(left.map((book) => ({ ...book, left: ['history'] })))
      hasMore = events.hasMore
    }
    return true
  }
  const answer = (hasMore: boolean) => ({ ...undone, kept: [...kept.values()], hasMore, files })
  const taken = takeImports(imports)
  for (const { importId } of taken) {
    if (!(await undoProgress(importId))) return answer(true)
    const result = await undoImport(db, caller, importId, quotas, intoTrash)
    if (!result) continue
    files.push(result.undone)
    undone.imports += 1
    undone.books += result.removed
    undone.memos += result.memos
    keep(result.kept)
  }
  return answer(taken.length < imports.length || !(await undoProgress(of.since)))
}
