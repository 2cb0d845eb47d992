import { sql } from 'drizzle-orm'
import { type Caller, callerId, runAsCaller } from '../../db/caller'
import { type Db, sqlStatement } from '../../db/client'
import { limit, number } from '../../db/parameters'
import { ApiError } from '../../errors'
import { importColumns, type StoredImport, toImport } from '../../transfer/imports/store'
import { DEVICE_SCOPES, toBits } from '../../values/contract'
import { type List, toCursor } from '../../values/cursor'
import { toInstant } from '../../values/fields'
import { toMinutes } from '../../values/time'
import type { DeviceChange } from './responses'
import type { ChangesQuery } from './schema'

// What a device did is found by its token in the rows of the member, also after the token was deleted.

/** Matches rows of the device. db/parameters.ts says why `:tokenId` is in an expression. */
export const ofToken = sql`memberId = ${callerId} and tokenId = (:tokenId || '')`
const isForDevice = sql.raw(`scopes & ${toBits(Object.keys(DEVICE_SCOPES) as (keyof typeof DEVICE_SCOPES)[])} <> 0`)
const exists = (table: string) => sql`exists (select 1 from ${sql.raw(table)} where ${ofToken})`

/** `isDevice`: null if there is no such token. `hasRows`: whether the token has written something. */
type DeviceToken = { isDevice: number | null; hasRows: number }
export const selectDeviceToken = sqlStatement<DeviceToken>`
  select (select ${isForDevice} from accessTokens where ${ofToken} and kind is null) as isDevice,
    ${exists('imports')} or ${exists('positions')} or ${exists('progress')} or ${exists('documents')}
      or ${exists('sittings')} as hasRows`

/** @throws TOKEN_NOT_FOUND unless it is the token of a device of the caller, or was one that wrote something */
export const requireDevice = ([token]: DeviceToken[]) => {
  if (token?.isDevice || token?.hasRows) return
  const message =
    token?.isDevice === 0 ? 'Not the token of a device: what other access tokens did is not recorded' : undefined
  throw new ApiError('TOKEN_NOT_FOUND', { message })
}

/** The kinds of changes. Of the same time, those with a higher rank come first. */
const RANKS = { import: 3, progress: 2, document: 1, statistics: 0 }
type Position = [at: number, rank: number, id: number | string]
/** Before all changes, as the latest come first. */
const START: Position = [Number.MAX_SAFE_INTEGER, RANKS.import + 1, 0]
/** Follows the last item, with an index in the order of `at`. */
const follows = (kind: keyof typeof RANKS, at: string, id: string) =>
  sql.raw(`${at} <= (:at + 0) and (${at}, ${RANKS[kind]}, ${id}) < (:at, :rank, :id)`)

const selectImports = sqlStatement<StoredImport>`
  select ${importColumns} from imports
  where ${ofToken} and isDeleted = 0 and ${follows('import', 'importId', '0')} order by importId desc limit ${limit}`
type Event = { at: number; bookId: number; title: string; page: number }
const selectEvents = sqlStatement<Event>`
  select at, bookId, title, page
  from (
    select memberId, bookId, at, page from progress
    where ${ofToken} and ${follows('progress', 'at', 'bookId')} order by at desc, bookId desc limit ${limit}
  ) cross join books using (memberId, bookId) order by at desc, bookId desc`
type Link = { at: number; document: string; bookId: number; title: string }
const selectLinks = sqlStatement<Link>`
  select linkedAt as at, document, bookId, books.title from documents join books using (memberId, bookId)
  where documents.memberId = ${callerId} and documents.tokenId = (:tokenId || '') and not isByHand
    and ${follows('document', 'linkedAt', 'document')}
  order by at desc, document desc limit ${limit}`

/** The most sittings that a page adds up: those of ten uploads or more, as one has at most 3,000. */
const MAX_SITTINGS_READ = 30_000
type Upload = { at: number; seconds: number; sittings: number }
const selectUploads = sqlStatement<Upload>`
  select at, sum(seconds) as seconds, count(*) as sittings from (
    select at, seconds from sittings
    where ${ofToken} and ${follows('statistics', 'at', '0')} order by at desc limit ${number(MAX_SITTINGS_READ)}
  ) group by at order by at desc limit ${limit}`
/** The time of the upload that was not read to its end, if any. */
const findCut = (uploads: Upload[]) =>
  uploads.reduce((sum, { sittings }) => sum + sittings, 0) < MAX_SITTINGS_READ ? undefined : uploads.at(-1)?.at

type Ranked = { position: Position; change: Omit<DeviceChange, 'at'> }
const NOTHING = { import: null, book: null, page: null, documentId: null, minutes: null }

/** What a device did, newest first. @throws TOKEN_NOT_FOUND */
export const listDeviceChanges = async (
  db: Db,
  caller: Caller,
  tokenId: string,
  { cursor: [at, rank, id] = START, size }: ChangesQuery,
): Promise<List<DeviceChange>> => {
  const values = { tokenId, at, rank, id, limit: size + 1 }
  const { token, imports, events, links, uploads } = await runAsCaller(db, caller, {
    token: selectDeviceToken(values),
    imports: selectImports(values),
    events: selectEvents(values),
    links: selectLinks(values),
    uploads: selectUploads(values),
  })
  requireDevice(token)
  const all: Ranked[] = [
    ...imports.map((stored) => ({
      position: [stored.importId, RANKS.import, 0] as Position,
      change: { ...NOTHING, kind: 'import' as const, import: toImport(stored) },
    })),
    ...events.map(({ at, page, ...book }) => ({
      position: [at, RANKS.progress, book.bookId] as Position,
      change: { ...NOTHING, kind: 'progress' as const, book, page },
    })),
    ...links.map(({ at, document, ...book }) => ({
      position: [at, RANKS.document, document] as Position,
      change: { ...NOTHING, kind: 'document' as const, book, documentId: document },
    })),
    ...uploads.map(({ at, seconds }) => ({
      position: [at, RANKS.statistics, 0] as Position,
      change: { ...NOTHING, kind: 'statistics' as const, minutes: toMinutes(seconds) },
    })),
  ]
  // Each list is in order already, so a stable sort keeps the order of those with the same time and rank.
  const sorted = all.toSorted(({ position: one }, { position: other }) => other[0] - one[0] || other[1] - one[1])
  const cut = findCut(uploads)
  const whole = cut === undefined ? sorted : sorted.filter(({ position }) => position[0] > cut)
  const page = whole.slice(0, size)
  const next = sorted.length > page.length ? toCursor(page.at(-1)?.position) : null
  return { item: page.map(({ position: [at], change }) => ({ at: toInstant(at), ...change })), next }
}
