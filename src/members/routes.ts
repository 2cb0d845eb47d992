import { Hono } from 'hono'
import type { App } from '../env'
import { anonymous, authenticated } from '../http/auth'
import { localTime } from '../http/clock'
import { describe, empty, json } from '../http/describe'
import { ApiError } from '../http/errors'
import { keyedHash } from '../http/keys'
import { log } from '../http/log'
import { networkOf, throttledByNetwork } from '../http/throttle'
import { issueToken } from '../http/token'
import { valid } from '../http/validate'
import { imageBase } from '../images/address'
import { dropCached, purgeImages } from '../images/bucket'
import { mailCode } from './mail'
import { DUMMY_HASH, hashPassword, isWeak, verifyPassword } from './password'
import { CodeRequest, Credentials, NewMember, Profile, ProfilePatch, UpdatedProfile } from './schema'
import { beginLogin, createMember, deleteMember, endLogin, getProfile, updateProfile } from './store'
import { confirmTurn, takeTurn } from './turns'
import { issueCode, proveAddress, refusal } from './verification'

export const members = new Hono<App>()
  .post(
    '/join',
    throttledByNetwork,
    anonymous,
    describe({
      operationId: 'signUp',
      summary: 'Sign up',
      description: 'With a code that was mailed, or with any where the deployment mails none. Then log in.',
      tags: ['Members'],
      responses: { 201: json(Profile, 'The new member') },
      errors: ['AUTHORIZATION_NOT_ALLOWED', 'MEMBER_EXISTS'],
    }),
    valid('json', NewMember),
    async (c) => {
      const { db, config } = c.var
      const { email, name, password, authenticationCode } = c.req.valid('json')
      confirmTurn()
      const proof = await proveAddress(db, config, email, authenticationCode)
      const passwordHash = await takeTurn((pause) => hashPassword(password, pause))
      const member = { email, name, passwordHash, createdAt: localTime(config.TIME_ZONE) }
      const created = await createMember(db, member, proof)
      if (!created) throw refusal(authenticationCode)
      return c.json(created, 201)
    },
  )
  .post(
    '/email/join',
    throttledByNetwork,
    describe({
      operationId: 'requestCode',
      summary: 'Have a verification code mailed',
      description: 'Six digits, good for ten minutes and one sign-up; a new code voids the one before.',
      tags: ['Members'],
      responses: { 201: empty('The code is on its way') },
      errors: ['MEMBER_EXISTS', 'TOO_MANY_REQUESTS'],
    }),
    valid('json', CodeRequest),
    async (c) => {
      const { db, config } = c.var
      const email = c.req.valid('json').joinAuthCodeEmail
      await issueCode(db, config, email, (code) => mailCode(c.env, config, email, code))
      return c.body(null, 201)
    },
  )
  .post(
    '/login',
    throttledByNetwork,
    anonymous,
    describe({
      operationId: 'logIn',
      summary: 'Log in',
      description: 'The token comes in the `Authorization` header of the answer, as `Bearer <JWT>`.',
      tags: ['Members'],
      responses: { 200: json(Profile, 'The member, and the token in a header', 'Authorization') },
      errors: ['AUTHORIZATION_NOT_ALLOWED', 'LOGIN_FAILED'],
    }),
    valid('json', Credentials),
    async (c) => {
      const { db, config } = c.var
      const { email, password } = c.req.valid('json')
      const subject = await keyedHash(config.JWT_SECRET, 'login', email.toLowerCase(), networkOf(c))
      confirmTurn()
      const member = await beginLogin(db, email, subject)
      const stored = member?.passwordHash ?? DUMMY_HASH
      const isRight = await takeTurn((pause) => verifyPassword(password, stored, pause))
      if (!member || !isRight) throw new ApiError('LOGIN_FAILED')
      const passwordHash = isWeak(stored) ? await takeTurn((pause) => hashPassword(password, pause)) : undefined
      const upgrade = passwordHash ? { memberId: member.memberId, weakHash: stored, passwordHash } : undefined
      await endLogin(db, subject, upgrade)
      c.header('Authorization', `Bearer ${await issueToken(config, member)}`)
      return c.json({ email: member.email, name: member.name }, 200)
    },
  )
  .get(
    '/members/me',
    authenticated,
    describe({
      operationId: 'getProfile',
      summary: 'Read one’s own profile',
      description: 'The member that the token is of.',
      tags: ['Members'],
      responses: { 200: json(Profile, 'The member') },
    }),
    async (c) => c.json(await getProfile(c.get('db'), c.get('caller')), 200),
  )
  .patch(
    '/members/me',
    authenticated,
    describe({
      operationId: 'updateProfile',
      summary: 'Change one’s own name or password',
      description: 'A new password signs every other device out at once; the token that made the change stays good.',
      tags: ['Members'],
      responses: { 200: json(UpdatedProfile, 'The member afterwards') },
      errors: ['TOO_MANY_REQUESTS'],
    }),
    valid('json', ProfilePatch),
    async (c) => {
      const { name, password } = c.req.valid('json')
      const { db, caller, config } = c.var
      // Hashing is dear, so a revoked token does not get that far.
      if (password !== undefined) await getProfile(db, caller)
      const passwordHash = password && (await takeTurn((pause) => hashPassword(password, pause)))
      return c.json(await updateProfile(db, caller, { name, passwordHash }, localTime(config.TIME_ZONE)), 200)
    },
  )
  .delete(
    '/members/me',
    authenticated,
    describe({
      operationId: 'withdraw',
      summary: 'Withdraw',
      description: 'Deletes the member with all books, memos and images; every token is dead at once.',
      tags: ['Members'],
      responses: { 204: empty('Withdrawn') },
    }),
    async (c) => {
      const { db, caller } = c.var
      await deleteMember(db, caller)
      const purged = purgeImages(c.env.IMAGES, caller.memberId).then((keys) => dropCached(imageBase(c), keys))
      c.executionCtx.waitUntil(purged.catch((error: Error) => log('error', `purge: ${error.message}`)))
      return c.body(null, 204)
    },
  )
