import type { ConfirmedMember } from '../../db/client'
import { ApiError } from '../../errors'
import { SCOPES } from '../../values/contract'
import type { Memo } from './responses'

/** A memo with its version, which responses have as `ETag`. */
export type StoredMemo = Memo & { version: number }

/** Random, so that a version does not come back with another text after the database is restored. */
export const newVersion = () => Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) + 1

export const toEtag = (version: number) => `"${version}"`

/** The versions that `If-Match` names; undefined if any will do. Weak tags count: Cloudflare weakens tags. */
export const readIfMatch = (header: string | undefined) =>
  header === undefined || header.trim() === '*'
    ? undefined
    : header.split(',').flatMap((tag) => {
        const [, version] = /^\s*(?:W\/)?"(\d{1,16})"\s*$/.exec(tag) ?? []
        return version === undefined ? [] : Number(version)
      })

export const mayReadMemos = ({ scopes }: ConfirmedMember) => (scopes & SCOPES['memos:read']) !== 0

/**
 * The memo is not of a version that `If-Match` names. Shows the present one, unless the caller may not read memos.
 * @param expected the versions: none, if the header has no tag of a memo
 */
export const memoChanged = (member: ConfirmedMember, { version, ...memo }: StoredMemo, expected?: number[]) =>
  new ApiError('PRECONDITION_FAILED', {
    ...(expected?.length === 0 && { message: 'Precondition failed: If-Match must be the ETag of the memo, in quotes' }),
    headers: { ETag: toEtag(version) },
    further: { memo: mayReadMemos(member) ? memo : null },
  })
