import { Hono } from 'hono'
import type { App } from '../env'
import { anonymous, authenticated } from '../http/auth'
import { localTime } from '../http/clock'
import { ApiError, found } from '../http/errors'
import { describe, empty, json } from '../http/openapi'
import { issueToken } from '../http/token'
import { valid } from '../http/validate'
import { DUMMY_HASH, hashPassword, isWeak, verifyPassword } from './password'
import { Credentials, NewMember, Profile, ProfilePatch, UpdatedProfile } from './schema'
import { createMember, deleteMember, findLogin, getProfile, updateProfile, upgradeHash } from './store'
import { checkCode } from './verification'

export const members = new Hono<App>()
  .post(
    '/join',
    anonymous,
    describe({
      summary: 'Sign up',
      tags: ['Members'],
      responses: { 201: json(Profile) },
      errors: ['AUTHORIZATION_NOT_ALLOWED', 'MEMBER_EXISTS'],
    }),
    valid('json', NewMember),
    async (c) => {
      const { email, name, password, authenticationCode } = c.req.valid('json')
      if (await findLogin(c.var.db, email)) throw new ApiError('MEMBER_EXISTS')
      checkCode(c.var.config, authenticationCode)
      const passwordHash = await hashPassword(password)
      const now = localTime(c.var.config.TIME_ZONE)
      const created = await createMember(c.var.db, { email, name, passwordHash, now })
      return c.json(found(created, 'MEMBER_EXISTS'), 201)
    },
  )
  .post(
    '/login',
    anonymous,
    describe({
      summary: 'Log in',
      description: 'The token comes in the `Authorization` header of the answer, as `Bearer <JWT>`.',
      tags: ['Members'],
      responses: { 200: json(Profile) },
      errors: ['AUTHORIZATION_NOT_ALLOWED', 'LOGIN_FAILED'],
    }),
    valid('json', Credentials),
    async (c) => {
      const { email, password } = c.req.valid('json')
      const member = await findLogin(c.var.db, email)
      const isRight = await verifyPassword(password, member?.passwordHash ?? DUMMY_HASH)
      if (!member || !isRight) throw new ApiError('LOGIN_FAILED')
      if (isWeak(member.passwordHash)) {
        await upgradeHash(c.var.db, member.memberId, member.passwordHash, await hashPassword(password))
      }
      c.header('Authorization', `Bearer ${await issueToken(c.var.config, member)}`)
      return c.json({ email: member.email, name: member.name }, 200)
    },
  )
  .get(
    '/members/me',
    authenticated,
    describe({ summary: 'Read one’s own profile', tags: ['Members'], responses: { 200: json(Profile) } }),
    async (c) => c.json(await getProfile(c.var.db, c.var.caller), 200),
  )
  .patch(
    '/members/me',
    authenticated,
    describe({
      summary: 'Change one’s own name or password',
      description: 'A new password signs every other device out at once; the token that made the change stays good.',
      tags: ['Members'],
      responses: { 200: json(UpdatedProfile) },
    }),
    valid('json', ProfilePatch),
    async (c) => {
      const { name, password } = c.req.valid('json')
      const { db, caller, config } = c.var
      // Hashing is dear, so a revoked token does not get that far.
      if (password !== undefined) await getProfile(db, caller)
      const passwordHash = password === undefined ? undefined : await hashPassword(password)
      return c.json(await updateProfile(db, caller, { name, passwordHash }, localTime(config.TIME_ZONE)), 200)
    },
  )
  .delete(
    '/members/me',
    authenticated,
    describe({
      summary: 'Withdraw',
      description: 'Deletes the member with all books and memos; every token is dead at once.',
      tags: ['Members'],
      responses: { 204: empty('Withdrawn') },
    }),
    async (c) => {
      await deleteMember(c.var.db, c.var.caller)
      return c.body(null, 204)
    },
  )
