import { sql } from 'drizzle-orm'
import { type Caller, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { limit } from '../../db/parameters'
import type { StoredImport } from '../../transfer/imports/store'
import { intoTrash } from '../../transfer/imports/undo/removal'
import { undoImport } from '../../transfer/imports/undo/undo-import'
import type { Quotas } from '../../values/quotas'
import { toMinutes } from '../../values/time'
import type { UndoneChanges } from './responses'
import { MAX_IMPORTS_UNDONE, MAX_ROWS_UNDONE } from './schema'
import { ofToken, requireDevice, selectDeviceToken } from './store'
import { countDocuments, undoDocuments } from './undo-documents'
import { undoEvents } from './undo-events'

const isSince = sql`${ofToken} and isDeleted = 0 and importId >= (:since + 0)`
const cancelRunning = sqlStatement`
  update imports set status = 'FAILED', lease = 0 where ${isSince} and status = 'RUNNING'`
type Import = { importId: number; rows: number }
const selectImports = sqlStatement<Import>`
  select importId, created + updated as rows from imports where ${isSince} order by importId desc limit ${limit}`

/** Batches of events, and of documents, that one call undoes. */
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
  const { token, imports, ...first } = await runAsCaller(db, caller, {
    token: selectDeviceToken(of),
    cancelled: cancelRunning(of),
    imports: selectImports({ ...of, limit: MAX_IMPORTS_UNDONE + 1 }),
    ...undoDocuments(of),
  })
  requireDevice(token)
  let { documents, seconds, hasMore: hasDocuments } = countDocuments(first)
  for (let batches = 1; hasDocuments && batches < MAX_BATCHES; batches++) {
    const more = countDocuments(await runAsCaller(db, caller, undoDocuments(of)))
    documents += more.documents
    seconds += more.seconds
    hasDocuments = more.hasMore
  }
  const files: StoredImport[] = []
  const kept = new Map<number, UndoneChanges['kept'][number]>()
  const keep = (books: UndoneChanges['kept']) => {
    for (const { bookId, title, left } of books) {
      const all = new Set([...(kept.get(bookId)?.left ?? []), ...left])
      if (all.size > 0) kept.set(bookId, { bookId, title, left: [...all] })
    }
  }
  const undone = { imports: 0, books: 0, memos: 0, progress: 0, documents, minutes: toMinutes(seconds) }
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
  return answer(hasDocuments || taken.length < imports.length || !(await undoProgress(of.since)))
}
