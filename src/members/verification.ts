import { sql } from 'drizzle-orm'
import { type Db, run, statement } from '../db/client'
import { attempts, joinCodes, members } from '../db/schema'
import type { Config } from '../env'
import { ApiError, fieldError, tooMany } from '../http/errors'
import { keyedHash } from '../http/keys'
import {
  CODE_TRIES,
  countAttempt,
  countAttempts,
  countSince,
  forgetAttempt,
  isAllowed,
  MAILS,
  secondsLeft,
  windowOf,
} from './attempts'
import { dropCode, type Proof, selectExisting } from './store'

const LIFETIME = 600_000
const TRIES_A_CODE = 5

/** Whose code, as the database knows it: no address is kept of somebody who is no member. */
const subjectOf = (config: Config, email: string) => keyedHash(config.JWT_SECRET, 'code', email.toLowerCase())
const mailSubjectOf = (config: Config, email: string) => keyedHash(config.JWT_SECRET, 'mail', email.toLowerCase())
const hashOf = (config: Config, email: string, code: string) =>
  keyedHash(config.JWT_SECRET, 'code', email.toLowerCase(), code)

/** Six digits, each number equally likely but for one part in 10^13. */
const drawCode = () => {
  const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1))
  return String(random % 1_000_000n).padStart(6, '0')
}

const replaceCode = statement((db) =>
  db
    .insert(joinCodes)
    .select(
      sql`select ${sql.placeholder('codeSubject')}, ${sql.placeholder('codeHash')}, ${sql.placeholder('now')},
        ${sql.placeholder('expiresAt')}
      where ${isAllowed}
        and not exists (select 1 from ${members} where lower(${members.email}) = lower(${sql.placeholder('email')}))`,
    )
    .onConflictDoUpdate({
      target: joinCodes.subject,
      set: {
        codeHash: sql`excluded.${sql.identifier('codeHash')}`,
        issuedAt: sql`excluded.${sql.identifier('issuedAt')}`,
        expiresAt: sql`excluded.${sql.identifier('expiresAt')}`,
      },
    })
    .returning({ subject: joinCodes.subject }),
)

/**
 * Issues a code for an e-mail address, which voids the one before, and hands it to `deliver`. When that fails, no code
 * is left behind and no mail is counted.
 * @throws MEMBER_EXISTS, TOO_MANY_REQUESTS after five mails in an hour, and whatever `deliver` throws
 */
export const issueCode = async (db: Db, config: Config, email: string, deliver: (code: string) => Promise<void>) => {
  const now = Date.now()
  const code = drawCode()
  const issued = { codeSubject: await subjectOf(config, email), codeHash: await hashOf(config, email, code) }
  const window = windowOf(MAILS, await mailSubjectOf(config, email), now)
  const [[member], [replaced], [counted], [sent]] = await run(
    db,
    selectExisting({ email }),
    replaceCode({ ...window, ...issued, email, expiresAt: now + LIFETIME }),
    countAttempt(window),
    countAttempts(window),
  )
  if (member) throw new ApiError('MEMBER_EXISTS')
  if (!replaced || !counted) throw tooMany(secondsLeft(MAILS, sent?.oldest, now))
  try {
    await deliver(code)
  } catch (error) {
    await run(db, dropCode(issued), forgetAttempt(counted))
    throw error
  }
}

// Each evaluation costs a try, right or wrong, before its answer is known: so a thousand at once get five.
const tryCode = statement((db) =>
  db
    .insert(attempts)
    .select(
      sql`select null, ${sql.placeholder('subject')}, max(${sql.placeholder('now')}, ${joinCodes.issuedAt}) from ${joinCodes}
      where ${joinCodes.subject} = ${sql.placeholder('subject')} and ${joinCodes.expiresAt} > ${sql.placeholder('now')}
        and ${countSince(sql`${joinCodes.issuedAt} - 1`)} < ${sql.raw(String(TRIES_A_CODE))} and ${isAllowed}`,
    )
    .returning({
      codeHash: sql<string>`(
        select ${joinCodes.codeHash} from ${joinCodes} where ${joinCodes.subject} = ${sql.placeholder('subject')}
      )`.as('codeHash'),
    }),
)

/**
 * Begins a sign-up: checks that nobody has the e-mail, and the code. Undefined where no code is needed.
 * @throws MEMBER_EXISTS whatever the code; INVALID_FIELDS when the code is wrong, expired or used up;
 * TOO_MANY_REQUESTS after twenty tries in a day
 */
export const proveAddress = async (db: Db, config: Config, email: string, code: string): Promise<Proof | undefined> => {
  if (config.EMAIL_VERIFICATION === 'off') {
    const [[member]] = await run(db, selectExisting({ email }))
    if (member) throw new ApiError('MEMBER_EXISTS')
    return undefined
  }
  const subject = await subjectOf(config, email)
  const codeHash = await hashOf(config, email, code)
  const now = Date.now()
  const window = windowOf(CODE_TRIES, subject, now)
  const [[member], [spent], [live]] = await run(db, selectExisting({ email }), countAttempts(window), tryCode(window))
  if (member) throw new ApiError('MEMBER_EXISTS')
  if (spent && spent.count >= CODE_TRIES.most) throw tooMany(secondsLeft(CODE_TRIES, spent.oldest, now))
  if (live?.codeHash !== codeHash) throw refusal(code)
  return { codeSubject: subject, codeHash }
}

export const refusal = (code: string) =>
  fieldError('authenticationCode', code, 'is wrong, expired or used up: ask for a new one')
