import { withoutTag } from '../../src/accounts/codes/mail-limits.ts'
import { accountPrefix } from '../../src/auth/keyed-hash.ts'
import { mainOf, queryAll } from '../slots/compare.ts'
import type { Target } from './find.ts'

/**
 * What is counted for a member's address in `attempts`: its subjects begin with one of these. Undefined without
 * JWT_SECRET.
 */
const listPrefixes = async ({ email, settings }: Target) => {
  const secret = String(settings.JWT_SECRET ?? '')
  // Mails are counted for the address without its tag.
  const addresses = new Set([email, withoutTag(email)])
  return secret
    ? JSON.stringify(await Promise.all([...addresses].map((each) => accountPrefix(secret, each))))
    : undefined
}

// A prefix ends with a space, which `!` follows.
const MATCHING = `from attempts where attemptId in (
  select attemptId from json_each(?) join attempts on subject > value and subject < rtrim(value) || '!')`

/** How many attempts are counted, or undefined without JWT_SECRET. */
export const countAttempts = async (target: Target) => {
  const prefixes = await listPrefixes(target)
  if (!prefixes) return undefined
  const [row] = await queryAll<{ count: number }>(
    mainOf(target.slots),
    `select count(*) as count ${MATCHING}`,
    prefixes,
  )
  return row?.count ?? 0
}

export const deleteAttempts = async (target: Target) =>
  queryAll(mainOf(target.slots), `delete ${MATCHING}`, await listPrefixes(target))
