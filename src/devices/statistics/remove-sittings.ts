import { type SQL, sql } from 'drizzle-orm'
import { callerId } from '../../db/caller'
import { sqlStatement, type Values } from '../../db/client'
import { number } from '../../db/parameters'
import { MAX_DOCUMENTS } from '../../values/prices'

// Shared by the undo of a device and the reset of reading statistics.

/**
 * The statements that delete sittings of the caller, and take them from the sums of their documents and of the file.
 * @param taken selects whole rows of `sittings`
 */
export const removeSittings = (taken: SQL) => {
  const lowerDocuments = sqlStatement`
    update documents set seconds = documents.seconds - taken.seconds
    from (select document, sum(seconds) as seconds from ${taken} group by document) as taken
    where documents.memberId = ${callerId} and documents.document = taken.document`
  const lowerCount = sqlStatement`
    update statisticsFiles set sittings = sittings - (select count(*) from ${taken})
    where memberId = ${callerId} and exists (select 1 from ${taken})`
  const deleteSittings = sqlStatement<{ seconds: number }>`
    delete from sittings where memberId = ${callerId}
      and (tokenId, at, document, day) in (select tokenId, at, document, day from ${taken}) returning seconds`
  return (values: Values) => ({
    lowered: [lowerDocuments(values), lowerCount(values)],
    sittings: deleteSittings(values),
  })
}

/** Documents of each kind that a batch deletes, with at most 5 positions each of those beyond the limit. */
const MAX_UNUSED = 1000
const MAX_EXCESS = 150

type Deleted = { document: string }
const withoutPositions = sql`not exists (
  select 1 from positions where positions.memberId = documents.memberId and positions.document = documents.document
)`
const deleteUnused = sqlStatement<Deleted>`
  delete from documents where memberId = ${callerId} and document in (
    select document from documents
    where memberId = ${callerId} and createdAt >= (:since + 0) and not isByHand and bookId is null and seconds = 0
      and ${withoutPositions} limit ${number(MAX_UNUSED)}
  ) returning document`
const ofCaller = sql`from documents where memberId = ${callerId}`
const limitOf = number(MAX_DOCUMENTS)
// A trigger limits new ones: these had reading time. Mostly, the limit is 0, so that the documents are only counted.
const deleteExcess = sqlStatement<Deleted>`
  delete ${ofCaller} and document in (
    select document ${ofCaller} and seconds = 0 order by isByHand desc, createdAt desc
    limit max(0, min(${number(MAX_EXCESS)}, (select count(*) ${ofCaller}) - ${limitOf})) offset ${limitOf}
  ) returning document`

/** Deletes documents that have nothing left, and the oldest without reading time beyond the limit. */
export const removeDocuments = (since: { since: number }) => ({
  unused: deleteUnused(since),
  excess: deleteExcess(),
})

/** Whether a batch may have left more such documents. */
export const hasMoreDocuments = ({ unused, excess }: Record<'unused' | 'excess', Deleted[]>) =>
  unused.length === MAX_UNUSED || excess.length === MAX_EXCESS
