import { sql } from 'drizzle-orm'
import { type Caller, callerId, callerTokenId, queryOne, requireMember, runAsCaller } from '../../db/caller'
import { type Db, idempotent, sqlStatement } from '../../db/client'
import { truncate } from '../../values/text/truncate'
import { applyPosition } from '../documents/apply'
import { linkByNames, toNames } from '../documents/match'
import type { PushedPosition } from './schema'

/** Pushes of a device that follow each other faster come from its queue. They carry no time. */
const REPLAY_MS = 10_000

const isRecent = (at: string) => sql.raw(`abs(:now - ${at}) <= ${REPLAY_MS}`)
/** The last push of the device, if this one follows it within seconds, and is not the same one again. */
const previous = sql`
  previous as materialized (
    select * from (
      select memberId, document, tokenId, at, percentage from positions
      where memberId = ${callerId} and tokenId = ${callerTokenId} order by at desc limit 1
    ) where ${isRecent('at')} and not (document = :document and percentage = :percentage)
  )`
const markEvent = sqlStatement`
  with ${previous}
  update progress set kind = 'UNDATED'
  from previous cross join documents using (memberId, document)
  where progress.memberId = previous.memberId and progress.tokenId = previous.tokenId and progress.at >= previous.at
    and progress.bookId = documents.bookId and kind <> 'UNDATED'`
const markPosition = sqlStatement`
  with ${previous}
  update positions set isReplayed = 1 from previous
  where positions.memberId = previous.memberId and positions.document = previous.document
    and positions.tokenId = previous.tokenId and not positions.isReplayed`

const callerRow = sql`(select ${callerId} as memberId limit 1)`
const insertDocument = sqlStatement`
  insert into documents (memberId, document, createdAt, title, authors, filename)
  select memberId, :document, :now, nullif(:title, ''), nullif(:authors, ''), nullif(:filename, '')
  from ${callerRow} where memberId is not null
  on conflict do update set title = excluded.title, authors = excluded.authors, filename = coalesce(excluded.filename, filename)
  where excluded.title is not null and (title, authors) is not (excluded.title, excluded.authors)`
// The same percentage again within seconds changes neither the time nor what is known of a replay.
const isRepeated = sql`(percentage = excluded.percentage and ${isRecent('at')})`
const upsertPosition = sqlStatement`
  with ${previous}
  insert into positions (memberId, document, tokenId, at, percentage, isReplayed, progress, device, deviceId)
  select memberId, :document, ${callerTokenId}, :now, :percentage, exists (select 1 from previous), :progress, :device, :device_id
  from ${callerRow} where memberId is not null
  on conflict do update set
    at = iif(${isRepeated}, at, excluded.at), isReplayed = iif(${isRepeated}, isReplayed, excluded.isReplayed),
    percentage = excluded.percentage, progress = excluded.progress, device = excluded.device, deviceId = excluded.deviceId`
const applyOwn = applyPosition(sql`tokenId = ${callerTokenId}`)

/** The most characters of what is only shown. */
const MAX_SHOWN = 300
/** What a device sends that is only shown. */
export const shorten = (text: string | null | undefined) =>
  truncate((text ?? '').replaceAll('\0', '').toWellFormed().trim(), MAX_SHOWN)

/**
 * Stores where a device is in a document, and moves the page of its book, in one call. Repeating it changes nothing.
 * Returns its time, in milliseconds since 1970.
 */
export const pushPosition = async (db: Db, caller: Caller, { metadata, ...position }: PushedPosition) => {
  const now = Date.now()
  const [title = '', authors = '', filename = ''] = [metadata?.title, metadata?.authors, metadata?.filename].map(
    shorten,
  )
  const values = { ...position, device: shorten(position.device), device_id: shorten(position.device_id), now }
  const { document } = position
  await runAsCaller(db, caller, {
    marked: [markEvent, markPosition].map((build) => idempotent(build(values))),
    document: idempotent(insertDocument({ document, now, title, authors, filename })),
    linked: title && authors ? idempotent(linkByNames({ ...toNames(title, authors), document, now })) : undefined,
    position: idempotent(upsertPosition(values)),
    applied: applyOwn({ document }),
  })
  return now
}

type Pulled = {
  document: string
  percentage: number
  progress: string
  device: string
  device_id: string
  timestamp: number
}
const selectPosition = sqlStatement<Pulled>`
  select document, percentage, progress, device, deviceId as device_id, at / 1000 as timestamp from positions
  where memberId = ${callerId} and document = :document and tokenId is not ${callerTokenId}
  order by at desc limit 1`

/** The newest position of the caller's other devices in a document. */
export const pullPosition = (db: Db, caller: Caller, document: string) =>
  queryOne(db, caller, selectPosition({ document }))

/** @throws UNAUTHORIZED, INSUFFICIENT_SCOPE */
export const checkToken = requireMember
