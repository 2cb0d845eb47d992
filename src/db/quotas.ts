import { type SQL, sql } from 'drizzle-orm'
import { quotaExceeded } from '../errors'
import { IMAGE_PRICE, NOTE_PRICE } from '../values/prices'
import type { OwnQuota, Quotas } from '../values/quotas'
import { type Caller, queryOne, selectMember } from './caller'
import type { Db } from './client'

// An operator may give a member other quotas than the service's, which are parameters. Both are compared in the
// member's row, which a write reads anyway.

export const bookLimit = sql`coalesce(maxBooks, :MAX_BOOKS)`
export const textLimit = sql`coalesce(maxTextBytes, :MAX_MEMBER_TEXT_BYTES)`
export const imageLimit = sql`coalesce(maxImageBytes, :MAX_MEMBER_IMAGE_BYTES)`
/** What the member's images count with one more. */
export const usedImageBytes = sql`imageBytes + (imageCount + 1) * ${sql.raw(String(IMAGE_PRICE))}`
/** How many bytes of texts and rows are left to the member whose row matches. */
export const roomOf = (isMember: SQL) => sql`(select ${textLimit} - textBytes from members where ${isMember})`
/** What a new memo or past reading counts. `:bytes`: of its text. */
export const notePrice = sql`:bytes + ${sql.raw(String(NOTE_PRICE))}`

/** The quotas of a member's row, null where those of the service apply. */
export type OwnQuotas = { maxBooks: number | null; maxTextBytes: number | null; maxImageBytes?: number | null }

/** The quotas that apply to a member. */
export const quotasOf = (quotas: Quotas, { maxBooks, maxTextBytes, maxImageBytes }: OwnQuotas): Quotas => ({
  ...quotas,
  MAX_BOOKS: maxBooks ?? quotas.MAX_BOOKS,
  MAX_MEMBER_TEXT_BYTES: maxTextBytes ?? quotas.MAX_MEMBER_TEXT_BYTES,
  MAX_MEMBER_IMAGE_BYTES: maxImageBytes ?? quotas.MAX_MEMBER_IMAGE_BYTES,
})

const selectOwn = selectMember('maxBooks', 'maxTextBytes', 'maxImageBytes')

/** The error of a write that was refused, with the limit of the caller, which only then takes a call. */
export const ownQuotaExceeded = async (db: Db, caller: Caller, quota: OwnQuota, quotas: Quotas) => {
  const own = await queryOne(db, caller, selectOwn())
  return quotaExceeded(quota, own ? quotasOf(quotas, own) : quotas)
}
