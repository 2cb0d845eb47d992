import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { type Results, sqlStatement } from '../../db/client'
import { number } from '../../db/parameters'
import { ofToken } from './store'

// The undo of what a device did to documents: links, positions and sittings, newest first. The file of its statistics stays,
// so what it has does not count again.

/** Rows of each kind in a batch: with entries of the log, at most nine times as many change. */
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
const undone = sql`(
  select document, day, at, seconds from sittings where ${ofToken} and at >= (:since + 0)
  order by at desc, document desc, day desc limit ${most}
)`
const lowerDocuments = sqlStatement`
  update documents set seconds = documents.seconds - undone.seconds
  from (select document, sum(seconds) as seconds from ${undone} group by document) as undone
  where documents.memberId = ${callerId} and documents.document = undone.document`
const lowerCount = sqlStatement`
  update statisticsFiles set sittings = sittings - (select count(*) from ${undone})
  where memberId = ${callerId} and exists (select 1 from ${undone})`
const deleteSittings = sqlStatement<{ seconds: number }>`
  delete from sittings where ${ofToken} and (at, document, day) in (select at, document, day from ${undone}) returning seconds`
const withoutPositions: SQL = sql`not exists (
  select 1 from positions where positions.memberId = documents.memberId and positions.document = documents.document
)`
/** Documents that only this device has sent: their positions and sittings are gone. */
const deleteDocuments = sqlStatement<{ document: string }>`
  delete from documents where memberId = ${callerId} and document in (
    select document from documents
    where memberId = ${callerId} and createdAt >= (:since + 0) and not isByHand and bookId is null and seconds = 0
      and ${withoutPositions} limit ${most}
  ) returning document`

/** The statements of a batch. */
export const undoDocuments = (since: { tokenId: string; since: number }) => ({
  unlinked: unlinkDocuments(since),
  positions: deletePositions(since),
  lowered: [lowerDocuments(since), lowerCount(since)],
  sittings: deleteSittings(since),
  documents: deleteDocuments(since),
})
type Undone = Pick<Results<ReturnType<typeof undoDocuments>>, 'unlinked' | 'positions' | 'sittings' | 'documents'>

/** What a batch has undone, and whether there may be more. */
export const countDocuments = ({ unlinked, positions, sittings, documents }: Undone) => ({
  documents: unlinked.length,
  seconds: sittings.reduce((sum, { seconds }) => sum + seconds, 0),
  hasMore: [unlinked, positions, sittings, documents].some(({ length }) => length >= MAX_ROWS),
})
