import { and, eq, sql } from 'drizzle-orm'
import { asCaller, type Caller, isCaller } from '../db/caller'
import { type Db, dynamic, run, statement } from '../db/client'
import { members } from '../db/schema'
import type { Profile, UpdatedProfile } from './schema'

const profile = { email: members.email, name: members.name }
const isEmail = sql`lower(${members.email}) = lower(${sql.placeholder('email')})`

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

/** What a login checks and answers; undefined when nobody has that e-mail, whatever its case. */
export const findLogin = async (db: Db, email: string) => {
  const [[login]] = await run(db, selectLogin({ email }))
  return login
}

const insertMember = statement((db) =>
  db
    .insert(members)
    .values({
      email: sql.placeholder('email'),
      name: sql.placeholder('name'),
      passwordHash: sql.placeholder('passwordHash'),
      createdAt: sql.placeholder('now'),
      updatedAt: sql.placeholder('now'),
    })
    .onConflictDoNothing()
    .returning(profile),
)

/** Creates a member; undefined when another already has that e-mail, whatever its case. */
export const createMember = async (
  db: Db,
  member: Profile & { passwordHash: string; now: string },
): Promise<Profile | undefined> => {
  const [[created]] = await run(db, insertMember(member))
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

/** Replaces a weak hash by a stronger one of the same password, unless the password was changed meanwhile. */
export const upgradeHash = (db: Db, memberId: number, weakHash: string, passwordHash: string) =>
  run(db, replaceHash({ memberId, weakHash, passwordHash }))

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
  const [own] = await asCaller(db, caller, update)
  return own
}

const deleteCaller = statement((db) => db.delete(members).where(isCaller).returning({ memberId: members.memberId }))

/** Deletes the caller with all books and memos. */
export const deleteMember = (db: Db, caller: Caller) => asCaller(db, caller, deleteCaller())
