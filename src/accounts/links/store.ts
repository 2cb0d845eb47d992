import { sql } from 'drizzle-orm'
import { createLinkSecret, hashToken } from '../../auth/access-token'
import { type Caller, callerId, isCaller, queryOne, runAsCaller } from '../../db/caller'
import { type Db, firstRow, idempotent, sqlStatement } from '../../db/client'
import type { Variables } from '../../env'
import { ApiError } from '../../errors'
import { toBits } from '../../values/contract'
import { toInstant } from '../../values/fields'
import { type LinkShape, toVariant } from '../../values/link'
import { fold } from '../../values/text/fold'
import { deleteAndRecord, type Origin, recordActivity } from '../sessions/activity'
import type { Owner } from '../tokens/notice'
import { countsOf, toDate } from '../tokens/store'
import type { CreatedLink, Link } from './responses'
import { type LinkPatch, MAX_LINKS, type NewLink } from './schema'

type Row = Omit<Link, 'createdAt' | 'lastUsedAt' | 'showName'> &
  Record<'createdAt' | 'showName', number> & { lastUsedDay: number | null }

const isLinkWithId = sql`tokenId = :linkId and kind is not null`
const isOwnLink = sql`memberId = ${callerId} and ${isLinkWithId}`
const ownerOfLink = sql`(select memberId from accessTokens where ${isOwnLink})`
const columns = sql.raw(`tokenId as linkId, name, kind, bookStatus, (
  select tag from tags where tags.memberId = accessTokens.memberId and tags.tagId = accessTokens.tagId
) as tag, year, showName, createdAt, lastUsedDay`)

const tagId = sql`(select tagId from tags where memberId = ${callerId} and tagKey = :tagKey)`
const hasValidTag = sql`(:tagKey is null or ${tagId} is not null)`
const isCreatable = sql`${hasValidTag}
  and (select count(*) from accessTokens where memberId = owner and kind is not null) < ${sql.raw(String(MAX_LINKS))}`
const insertLink = sqlStatement<Row>`
  insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, kind, bookStatus, tagId, year, showName)
  select :tokenHash, owner, :linkId, :name, :bits, '', :callerNow, :kind, :bookStatus, ${tagId}, :year, :showName
  from (select ${callerId} as owner)
  where owner is not null and ${isCreatable}
  returning ${columns}`
const selectOwner = sqlStatement<Owner & { isTagValid: number }>`
  select memberId, email, ${countsOf}, ${hasValidTag} as isTagValid from members where ${isCaller}`
const recordCreation = recordActivity('LINK_CREATED', ownerOfLink)

const toLink = ({ showName, createdAt, lastUsedDay, ...link }: Row): Link => ({
  ...link,
  showName: showName === 1,
  createdAt: toInstant(createdAt),
  lastUsedAt: lastUsedDay === null ? null : toDate(lastUsedDay),
})

/** The schema requires the year of a `YEAR`. */
const toLinkShape = ({ kind, bookStatus = null, tag, year }: NewLink): LinkShape => {
  if (kind === 'YEAR') return { kind, year: year ?? 0 }
  return kind === 'SHELF' ? { kind, bookStatus, hasTag: Boolean(tag) } : { kind }
}

/**
 * Creates a link of the caller. Only the hash of its secret is stored, so its address cannot be read again.
 * @param base the URL of the service
 * @throws TAG_NOT_FOUND; MAX_LINKS when the caller already has MAX_LINKS links
 */
export const createLink = async ({ db, caller }: Variables, link: NewLink, base: string, origin: Origin) => {
  const secret = createLinkSecret({ slot: caller.slot, kind: link.kind, variant: toVariant(toLinkShape(link)) })
  const { bookStatus = null, tag = null, year = null } = link
  const linkId = crypto.randomUUID()
  const tokenHash = await hashToken(secret)
  const bits = toBits(['show'])
  const tagKey = tag === null ? null : fold(tag)
  const row = { ...link, bookStatus, year, tagKey, linkId, tokenHash, bits }
  const { guard, inserted } = await runAsCaller(db, caller, {
    guard: selectOwner({ tagKey }),
    inserted: firstRow(insertLink(row)),
    activity: recordCreation(origin, { linkId }),
  })
  const { isTagValid, ...owner } = guard
  if (!inserted) throw new ApiError(isTagValid ? 'MAX_LINKS' : 'TAG_NOT_FOUND')
  const { lastUsedAt: _, ...shown } = toLink(inserted)
  const created: CreatedLink = { ...shown, url: `${base}/l/${secret}` }
  // The owner was selected before the insert.
  return { created, owner: { ...owner, links: owner.links + 1 } }
}

const selectLinks = sqlStatement<Row>`
  select ${columns} from accessTokens where memberId = ${callerId} and kind is not null`

/** The caller's links, newest first. */
export const listLinks = async (db: Db, caller: Caller): Promise<Link[]> => {
  const { links } = await runAsCaller(db, caller, { links: selectLinks() })
  return links.toSorted((one, other) => other.createdAt - one.createdAt).map(toLink)
}

const patchLink = sqlStatement<Row>`
  update accessTokens set name = coalesce(:name, name), showName = coalesce(:showName, showName)
  where ${isOwnLink} returning ${columns}`

/** Changes a link of the caller. Returns undefined if the caller has no such link. */
export const updateLink = async (db: Db, caller: Caller, linkId: string, patch: LinkPatch) => {
  const row = await queryOne(db, caller, idempotent(patchLink({ linkId, name: null, showName: null, ...patch })))
  return row && toLink(row)
}

/** Deletes the link `linkId` of the caller, which ends at once. */
export const deleteLink = deleteAndRecord('LINK_DELETED', 'accessTokens', isLinkWithId)
