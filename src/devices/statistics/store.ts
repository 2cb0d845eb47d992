import { type SQL, sql } from 'drizzle-orm'
import { accountSubject, memberAccount } from '../../auth/keyed-hash'
import { credentialOf } from '../../auth/token'
import { type Caller, callerId, callerTokenId, isCaller, requiring, runAsCaller } from '../../db/caller'
import { type ConfirmedMember, type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import { DEVICE_FILES, insertAttemptIf, isAllowed, selectUsage, toAttempt } from '../../db/limits/attempts'
import { tooManyAttempts } from '../../db/limits/rate-limit'
import { number } from '../../db/parameters'
import { imageLimit, ownQuotaExceeded, textLimit } from '../../db/quotas'
import { isWaiting } from '../../db/schema/device-tables'
import type { Config } from '../../env'
import type { StatisticsAnswer } from '../../transfer/entries/reader-protocol'
import { toJsonArrays } from '../../transfer/imports/run-context'
import { BLOCK_PRICE, IMAGE_PRICE, PRICED_ROWS } from '../../values/prices'
import { limitsOf, type Quotas } from '../../values/quotas'
import { linkByNames, linkDocument, toNames } from '../documents/match'
import { shorten } from '../koreader/store'
import { MAX_LINKED } from './schema'

/** The file of a member. `file`, `missing`: names of objects. `sittings`: how many rows were counted. */
type StoredFile = {
  file: string | null
  hash: string | null
  bytes: number
  missing: string | null
  missingBytes: number
  sittings: number
  uploadedAt: number
}
export type State = StoredFile & { memberId: number; timeZone: string | null }

const selectState = sqlStatement<State>`
  select members.memberId, timeZone, file, hash, coalesce(bytes, 0) as bytes, missing, coalesce(missingBytes, 0) as missingBytes,
    coalesce(sittings, 0) as sittings, coalesce(uploadedAt, 0) as uploadedAt
  from members left join statisticsFiles using (memberId) where ${isCaller}`

/** What is stored for the caller. */
export const getState = async (db: Db, caller: Caller): Promise<State> =>
  (await runAsCaller(db, caller, { guard: selectState() })).guard

/** The same for a caller who may read what other devices have sent. @throws INSUFFICIENT_SCOPE */
export const getReadableState = (db: Db, caller: Caller) => getState(db, requiring(caller, 'intake:read'))

const isOwn = sql`statisticsFiles.memberId = ${callerId}`
const countFile = insertAttemptIf(
  sql`${isAllowed} and ${callerId} is not null and not exists (select 1 from statisticsFiles where ${isOwn} and hash = :hash)`,
)

type Waiting = { document: string; title: string; authors: string }
const selectWaiting = (isAfter: SQL) => sqlStatement<Waiting>`
  select document, title, authors from documents indexed by documents_waiting
  where memberId = ${callerId} and ${isWaiting} and ${isAfter} order by document limit ${number(MAX_LINKED)}`
// From a random place, so that each of more has its turn.
const selectFirstWaiting = selectWaiting(sql`document >= :start`)
const selectFurtherWaiting = selectWaiting(sql`document < :start`)

/**
 * What is stored, and documents that wait for a book, once the file is counted towards those of a day, unless it is the stored one.
 * @throws TOO_MANY_REQUESTS after the files of a day
 */
export const admitFile = async (db: Db, caller: Caller, member: ConfirmedMember, config: Config, hash: string) => {
  const now = Date.now()
  const account = memberAccount(member.memberId)
  const subject = await accountSubject(config.JWT_SECRET, account, 'statistics', credentialOf(caller))
  const values = { ...toAttempt(now, { subject, limits: DEVICE_FILES.statistics }), hash }
  const start = crypto.randomUUID()
  const { guard, usage, counted, waiting, further } = await runAsCaller(db, caller, {
    guard: selectState(),
    usage: selectUsage(values),
    counted: countFile(values),
    waiting: selectFirstWaiting({ start }),
    further: selectFurtherWaiting({ start }),
  })
  if (guard.hash !== hash && counted.length === 0) throw tooManyAttempts(usage, now)
  return { state: guard, waiting: [...waiting, ...further].slice(0, MAX_LINKED) }
}

/** Looks in the library for the books of documents, which may have been registered since. */
export const linkWaiting = (db: Db, caller: Caller, waiting: Waiting[]) => {
  const now = Date.now()
  const toValues = ({ document, title, authors }: Waiting) => ({ ...toNames(title, authors), document, now })
  return runAsCaller(db, caller, { linked: waiting.map((each) => idempotent(linkByNames(toValues(each)))) })
}

const hasImageRoom = sql`(:growth <= 0 or imageBytes + imageCount * ${number(IMAGE_PRICE)} + :growth <= ${imageLimit})`
const hasTextRoom = sql`(:price <= 0 or textBytes + :price <= ${textLimit})`
const upsertFile = sqlStatement`
  insert into statisticsFiles (memberId, file, hash, bytes, missing, missingBytes, sittings, uploadedAt)
  select memberId, :file, :hash, :bytes, :missing, :missingBytes, :sittings, :at from members
  where ${isCaller} and ${hasImageRoom} and ${hasTextRoom}
    and (select json_array(file, missing, sittings) from statisticsFiles where ${isOwn}) is :before
  on conflict do update set file = excluded.file, hash = excluded.hash, bytes = excluded.bytes, missing = excluded.missing,
    missingBytes = excluded.missingBytes, sittings = excluded.sittings, uploadedAt = excluded.uploadedAt`
// The other statements do nothing unless this one has written. Repeating them changes nothing.
const written = sql`(
  select memberId, ${callerTokenId} as tokenId from statisticsFiles
  where ${isOwn} and (file, missing, sittings, uploadedAt) is (:file, :missing, :sittings, :at)
)`
const insertSittings = sqlStatement`
  insert into sittings (memberId, tokenId, at, document, day, seconds)
  select memberId, tokenId, :at, value ->> 0, value ->> 1, value ->> 2 from ${written} cross join json_each(:added) where true
  on conflict do nothing`
const upsertDocuments = sqlStatement`
  insert into documents (memberId, document, createdAt, title, authors, seconds)
  select memberId, value ->> 0, :at, nullif(value ->> 1, ''), nullif(value ->> 2, ''), (
    select sum(seconds) from sittings where sittings.memberId = written.memberId and sittings.document = value ->> 0
  ) from ${written} as written cross join json_each(:documents) where true
  on conflict do update set title = coalesce(title, excluded.title), authors = coalesce(authors, excluded.authors),
    seconds = excluded.seconds`
const linkWritten = linkDocument(sql`exists (select 1 from ${written})`)
type Outcome = { isWritten: number; isChanged: number; hasImageRoom: number; hasTextRoom: number }
const selectOutcome = sqlStatement<Outcome>`
  select exists (select 1 from ${written}) as isWritten, ${hasImageRoom} as hasImageRoom, ${hasTextRoom} as hasTextRoom,
    (select json_array(file, missing, sittings) from statisticsFiles where ${isOwn}) is not :before as isChanged
  from members where ${isCaller}`

type Read = Exclude<StatisticsAnswer, { reason: string }>

/** The documents that were read last, which are looked for in the library. */
const toLinked = ({ documents, added }: Read) => {
  const newest = new Set(added.toReversed().map(({ document }) => document))
  const named = [...newest].flatMap((at) => documents[at] ?? []).filter(({ title, authors }) => title && authors)
  return named.slice(0, MAX_LINKED)
}

const blocksOf = (rows: number) => Math.floor(rows / PRICED_ROWS)

/**
 * Replaces the file of the caller, and adds what it adds, unless another request has replaced it since `before` was read: then
 * returns false. Repeating it changes nothing.
 * @throws MAX_MEMBER_IMAGE_BYTES, MAX_MEMBER_TEXT_BYTES when a quota is full
 */
export const replaceFile = async (
  db: Db,
  caller: Caller,
  before: State,
  after: Pick<StoredFile, 'file' | 'hash' | 'bytes' | 'missing' | 'missingBytes'>,
  read: Read,
  config: Quotas,
) => {
  const at = Math.max(Date.now(), before.uploadedAt + 1)
  const { documents, added } = read
  const sittings = before.sittings + added.length
  const isNew = before.uploadedAt === 0
  const own = { ...after, sittings, at }
  const values = {
    ...own,
    ...limitsOf(config),
    growth: after.bytes + after.missingBytes - before.bytes - before.missingBytes,
    price: BLOCK_PRICE * (blocksOf(sittings) - blocksOf(before.sittings)),
    before: isNew ? null : JSON.stringify([before.file, before.missing, before.sittings]),
  }
  const rows = added.map(({ document, day, seconds }) => [documents[document]?.document, day, seconds])
  const named = documents.map(({ document, title, authors }) => [document, shorten(title), shorten(authors)])
  const { outcome } = await runAsCaller(db, caller, {
    file: idempotent(upsertFile(values)),
    sittings: rows.length > 0 ? idempotent(insertSittings({ ...own, added: JSON.stringify(rows) })) : undefined,
    documents: toJsonArrays(named).map((json) => idempotent(upsertDocuments({ ...own, documents: json }))),
    linked: toLinked(read).map(({ document, title, authors }) =>
      idempotent(linkWritten({ ...own, ...toNames(shorten(title), shorten(authors)), document, now: at })),
    ),
    outcome: firstRow(selectOutcome(values)),
  })
  if (outcome?.isWritten) return true
  if (!outcome || outcome.isChanged) return false
  throw await ownQuotaExceeded(
    db,
    caller,
    outcome.hasImageRoom ? 'MAX_MEMBER_TEXT_BYTES' : 'MAX_MEMBER_IMAGE_BYTES',
    config,
  )
}
