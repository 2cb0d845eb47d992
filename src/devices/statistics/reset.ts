import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement, uninterrupted } from '../../db/client'
import { number } from '../../db/parameters'
import { statisticsKey } from '../../storage/bucket'
import { hasMoreDocuments, removeDocuments, removeSittings } from './remove-sittings'
import { drop } from './upload'

/**
 * Sittings of a batch. With 2,000 documents and a full log, 6,000 further rows change. The 335,000 that the default quota allows
 * take fewer than the 1,000 statements of a request to D1.
 */
const MAX_SITTINGS_RESET = 3500
const deleteFirst = removeSittings(sql`(
  select tokenId, at, document, day, seconds from sittings
  where memberId = ${callerId} order by document, day limit ${number(MAX_SITTINGS_RESET)}
)`)
// Last: until then, an upload counts only what the file does not have.
const deleteFile = sqlStatement<{ file: string | null; missing: string | null }>`
  delete from statisticsFiles where memberId = ${callerId} and not exists (
    select 1 from sittings where memberId = ${callerId}
  ) returning file, missing`

const reset = async (db: Db, caller: Caller, bucket: R2Bucket) => {
  for (let hasMore = true; hasMore; ) {
    const { member, files, sittings } = await runAsCaller(db, caller, {
      ...deleteFirst({}),
      files: deleteFile(),
    })
    const names = files.flatMap(({ file, missing }) => [file, missing]).filter((name) => name !== null)
    const keys = names.map((name) => statisticsKey(member.memberId, name))
    await drop(bucket, keys)
    hasMore = sittings.length === MAX_SITTINGS_RESET
  }
  while (hasMoreDocuments(await runAsCaller(db, caller, removeDocuments({ since: 0 })))) {}
}

/**
 * Deletes the reading statistics of the caller, and all that was counted of them: in batches, each of which leaves what
 * another call goes on with.
 */
export const resetStatistics = (db: Db, caller: Caller, bucket: R2Bucket) =>
  uninterrupted(db, reset(db, caller, bucket))
