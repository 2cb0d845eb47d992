import { randomInt } from 'node:crypto'
import type { R2Bucket } from '@cloudflare/workers-types'
import { hashFor } from '../../src/accounts/codes/mail-limits.ts'
import { Email } from '../../src/accounts/members/schema.ts'
import { DAY_MS } from '../../src/values/time.ts'
import type { OpenSlot, Settings } from '../data/stores.ts'
import { mainOf, queryAll } from '../slots/compare.ts'
import { findMembers } from './find.ts'
import { recordAndApply } from './log.ts'

const LIFETIME_MS = 7 * DAY_MS
/** Of random digits, which any keyboard has: a hundred tries a day find one of six too often in a week. */
const LENGTH = 12
/** In the log, instead of the identifier of a member. */
const NO_MEMBER = 0

/** Takes the place of an earlier invitation of the address. The sign-up treats it as a mailed code, which works once. */
const REPLACE_CODE = `insert into joinCodes (subject, address, codeHash, issuedAt, expiresAt) values (?, ?, ?, ?, ?)
  on conflict (subject) do update set codeHash = excluded.codeHash, issuedAt = excluded.issuedAt, expiresAt = excluded.expiresAt`

/**
 * Creates a code with which an e-mail address can sign up, once, within a week. Returns what to print.
 * @throws Error if the address is invalid or a member has it, or without JWT_SECRET
 */
export const invite = async (
  { slots, bucket, settings }: { slots: OpenSlot[]; bucket: R2Bucket; settings: Settings },
  email: string,
  { isDry }: { isDry: boolean },
) => {
  if (!Email.safeParse(email).success) throw new Error(`${email} is not a valid e-mail address`)
  if ((await findMembers(slots, email)).length > 0) throw new Error(`A member has the address ${email}`)
  const { JWT_SECRET, PUBLIC_URL } = settings
  if (!JWT_SECRET) throw new Error('Set JWT_SECRET in the environment to the secret of the deployment')
  if (isDry) return [`invite ${email} (dry run)`]
  const hash = hashFor({ JWT_SECRET: String(JWT_SECRET) }, email)
  const code = Array.from({ length: LENGTH }, () => randomInt(10)).join('')
  const now = Date.now()
  const expiresAt = now + LIFETIME_MS
  const [subject, address, codeHash] = [await hash('invitation'), await hash('code'), await hash('code', code)]
  await recordAndApply(
    { slots, bucket },
    {
      action: 'invite',
      memberId: NO_MEMBER,
      apply: () => queryAll(mainOf(slots), REPLACE_CODE, subject, address, codeHash, now, expiresAt),
    },
  )
  return [
    `${email} can sign up once, until ${new Date(expiresAt).toISOString()}, with the code ${code}`,
    ...(PUBLIC_URL
      ? [`${String(PUBLIC_URL).replace(/\/+$/, '')}/docs#invitation?${new URLSearchParams({ code, email })}`]
      : []),
  ]
}
