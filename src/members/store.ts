import { and, eq, gt, sql } from 'drizzle-orm'
import { asCaller, type Caller, isCaller } from '../db/caller'
import { type Db, dynamic, given, repeatable, run, statement } from '../db/client'
import { joinCodes, members, purgeJobs } from '../db/schema'
import { ApiError, tooMany } from '../http/errors'
import { countAttempt, countAttempts, forgetAttempts, LOGINS, secondsLeft, windowOf } from './attempts'
import type { Profile, UpdatedProfile } from './schema'

const profile = { email: members.email, name: members.name }
const isEmail = sql`lower(${members.email}) = lower(${sql.placeholder('email')})`

/** Whoever has an e-mail address, whatever its case, with what a login checks. */
const selectLogin = statement((db) =>
  db
    .select({
      ...profile,
      memberId: members.memberId,
      passwordHash: members.passwordHash,
      tokenVersion: members.tokenVersion,
    })
    .from(members)
    .where(isEmail),
)

/** Tells whether somebody has an e-mail address, whatever its case. */
export const selectExisting = statement((db) => db.select({ memberId: members.memberId }).from(members).where(isEmail))

/**
 * What a login checks and answers, for an attempt that is counted as failed until it is forgotten; undefined when
 * nobody has that e-mail, whatever its case.
 * @throws TOO_MANY_REQUESTS when too many attempts of the subject have failed
 */
export const beginLogin = async (db: Db, email: string, subject: string) => {
  const now = Date.now()
  const window = windowOf(LOGINS, subject, now)
  const [[login], [counted], [failed]] = await run(
    db,
    selectLogin({ email }),
    countAttempt(window),
    countAttempts(window),
  )
  if (!counted) throw tooMany(secondsLeft(LOGINS, failed?.oldest, now))
  return login
}

const insertMember = statement((db) =>
  db
    .insert(members)
    .values({
      email: sql.placeholder('email'),
      name: sql.placeholder('name'),
      passwordHash: sql.placeholder('passwordHash'),
      createdAt: sql.placeholder('createdAt'),
      updatedAt: sql.placeholder('createdAt'),
    })
    .onConflictDoNothing()
    .returning(profile),
)

/** A code that was right: what a sign-up consumes. */
export type Proof = { codeSubject: string; codeHash: string }

const isProof = and(
  eq(joinCodes.subject, sql.placeholder('codeSubject')),
  eq(joinCodes.codeHash, sql.placeholder('codeHash')),
)
export const dropCode = statement((db) => db.delete(joinCodes).where(isProof).returning({ subject: joinCodes.subject }))

const none = (counter: string) => sql<number>`0`.as(counter)

const insertProvedMember = statement((db) =>
  db
    .insert(members)
    .select(
      db
        .select({
          memberId: sql<number>`null`.as('memberId'),
          email: given<string>('email'),
          name: given<string>('name'),
          passwordHash: given<string>('passwordHash'),
          tokenVersion: none('tokenVersion'),
          keptTokenId: sql<null>`null`.as('keptTokenId'),
          createdAt: given<string>('createdAt'),
          updatedAt: given<string>('createdAt'),
          yetBooks: none('yetBooks'),
          ingBooks: none('ingBooks'),
          doneBooks: none('doneBooks'),
          finishedBooks: none('finishedBooks'),
          memoBooks: none('memoBooks'),
        })
        .from(joinCodes)
        .where(and(isProof, gt(joinCodes.expiresAt, sql.placeholder('now')))),
    )
    .onConflictDoNothing()
    .returning(profile),
)

type NewRow = Profile & { passwordHash: string; createdAt: string }

/**
 * Creates a member, and consumes the proof of the address in the same transaction; undefined when the proof is gone.
 * @throws MEMBER_EXISTS when another has that e-mail, whatever its case
 */
export const createMember = async (db: Db, member: NewRow, proof?: Proof): Promise<Profile | undefined> => {
  const { email } = member
  const [[created], [existing]] = proof
    ? await run(
        db,
        insertProvedMember({ ...member, ...proof, now: Date.now() }),
        selectExisting({ email }),
        dropCode(proof),
      )
    : await run(db, insertMember(member), selectExisting({ email }))
  if (!created && existing) throw new ApiError('MEMBER_EXISTS')
  return created
}

const replaceHash = statement((db) =>
  db
    .update(members)
    .set({ passwordHash: sql`${sql.placeholder('passwordHash')}` })
    .where(
      and(eq(members.memberId, sql.placeholder('memberId')), eq(members.passwordHash, sql.placeholder('weakHash'))),
    )
    .returning({ memberId: members.memberId }),
)

/**
 * Ends a login that was right: forgets the attempts that failed before, and replaces a hash that is weak, unless the
 * password was changed meanwhile.
 */
export const endLogin = (
  db: Db,
  subject: string,
  upgrade?: { memberId: number; weakHash: string; passwordHash: string },
) => (upgrade ? run(db, forgetAttempts({ subject }), replaceHash(upgrade)) : run(db, forgetAttempts({ subject })))

const selectProfile = statement((db) => db.select(profile).from(members).where(isCaller))
const selectUpdatedProfile = statement((db) =>
  db
    .select({ ...profile, updatedAt: members.updatedAt })
    .from(members)
    .where(isCaller),
)

export const getProfile = async (db: Db, caller: Caller): Promise<Profile> => {
  const [own] = await asCaller(db, caller, selectProfile())
  return own
}

type Changes = { name?: string; passwordHash?: string }

/**
 * Changes what is given of the caller's profile. A new password revokes every token but the one that changes it.
 * @throws UNAUTHORIZED when the token is no longer good
 */
export const updateProfile = async (
  db: Db,
  caller: Caller,
  { name, passwordHash }: Changes,
  now: string,
): Promise<UpdatedProfile> => {
  if (name === undefined && passwordHash === undefined) {
    const [own] = await asCaller(db, caller, selectUpdatedProfile())
    return own
  }
  const update = dynamic((db) =>
    db
      .update(members)
      .set({
        name,
        ...(passwordHash && {
          passwordHash,
          tokenVersion: sql`${members.tokenVersion} + 1`,
          keptTokenId: caller.tokenId,
        }),
        updatedAt: now,
      })
      .where(isCaller)
      .returning({ ...profile, updatedAt: members.updatedAt }),
  )
  // A version that is raised is raised twice.
  const [own] = await asCaller(db, caller, passwordHash ? update : repeatable(update))
  return own
}

const deleteCaller = statement((db) => db.delete(members).where(isCaller).returning({ memberId: members.memberId }))
const insertPurgeJob = statement((db) =>
  db
    .insert(purgeJobs)
    .select(
      db
        .select({ memberId: members.memberId, createdAt: given<number>('createdAt') })
        .from(members)
        .where(isCaller),
    )
    .returning({ memberId: purgeJobs.memberId }),
)

/** Deletes the caller with all books and memos, and leaves a job to delete the images. */
export const deleteMember = (db: Db, caller: Caller) =>
  asCaller(db, caller, insertPurgeJob({ createdAt: Date.now() }), deleteCaller())
