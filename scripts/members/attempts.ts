import { withoutTag } from '../../src/accounts/codes/mail-limits.ts'
import { accountPrefix, memberAccount } from '../../src/auth/keyed-hash.ts'
import { mainOf, queryAll } from '../slots/compare.ts'
import type { Target } from './find.ts'

/** Begins the subjects of what is counted for a member and the address. Undefined without JWT_SECRET. */
const listPrefixes = async ({ email, memberId, settings }: Target) => {
  const secret = String(settings.JWT_SECRET ?? '')
  // Mails are counted for the address without its tag.
  const accounts = new Set([email, withoutTag(email), memberAccount(memberId)])
  return secret
    ? JSON.stringify(await Promise.all([...accounts].map((each) => accountPrefix(secret, each))))
    : undefined
}

// A prefix ends with a space, which `!` follows.
const MATCHING = `from attempts where attemptId in (
  select attemptId from json_each(?) join attempts on subject > value and subject < rtrim(value) || '!')`

/** Attempts are in the database of slot 0, and those that need no other one in the member's. */
const databasesOf = ({ slots, database }: Target) => [...new Set([mainOf(slots), database])]

type Attempt = { subject: string; at: number }

/** The attempts that are counted, or undefined without JWT_SECRET. */
export const listAttempts = async (target: Target) => {
  const prefixes = await listPrefixes(target)
  if (!prefixes) return undefined
  const found = databasesOf(target).map((each) => queryAll<Attempt>(each, `select subject, at ${MATCHING}`, prefixes))
  return (await Promise.all(found)).flat()
}

export const deleteAttempts = async (target: Target) => {
  const prefixes = await listPrefixes(target)
  for (const each of databasesOf(target)) await queryAll(each, `delete ${MATCHING}`, prefixes)
}
