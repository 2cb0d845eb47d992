import { sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { type Results, sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { hasMoreDocuments, removeDocuments, removeSittings } from '../statistics/remove-sittings'
import { ofToken } from './store'

// The undo of what a device did to documents: links, positions and sittings, newest first. The file of its statistics stays,
// so what it has does not count again.

/** Rows of each kind in a batch: with entries of the log, at most nine times as many change, and 900 for documents beyond the limit. */
const MAX_ROWS = 1000
const most = number(MAX_ROWS)

const unlinkDocuments = sqlStatement<{ document: string }>`
  update documents set bookId = null, tokenId = null, linkedAt = null
  where memberId = ${callerId} and document in (
    select document from documents where ${ofToken} and not isByHand and linkedAt >= (:since + 0) limit ${most}
  ) returning document`
const deletePositions = sqlStatement<{ at: number }>`
  delete from positions where ${ofToken} and document in (
    select document from positions where ${ofToken} and at >= (:since + 0) limit ${most}
  ) returning at`
const deleteSittings = removeSittings(sql`(
  select tokenId, document, day, at, seconds from sittings where ${ofToken} and at >= (:since + 0)
  order by at desc, document desc, day desc limit ${most}
)`)

/** The statements of a batch. */
export const undoDocuments = (since: { tokenId: string; since: number }) => ({
  unlinked: unlinkDocuments(since),
  positions: deletePositions(since),
  ...deleteSittings(since),
  // Those that only this device has sent.
  ...removeDocuments(since),
})
type Undone = Pick<
  Results<ReturnType<typeof undoDocuments>>,
  'unlinked' | 'positions' | 'sittings' | 'unused' | 'excess'
>

/** What a batch has undone, and whether there may be more. */
export const countDocuments = ({ unlinked, positions, sittings, ...removed }: Undone) => ({
  documents: unlinked.length,
  seconds: sittings.reduce((sum, { seconds }) => sum + seconds, 0),
  hasMore: [unlinked, positions, sittings].some(({ length }) => length >= MAX_ROWS) || hasMoreDocuments(removed),
})
