import { anonymous, authenticated, sessionOnly } from '../../callers/authenticated'
import { networkOf, originOf } from '../../callers/origin'
import { throttledByNetwork } from '../../callers/throttle'
import type { App } from '../../env'
import { fieldError } from '../../errors'
import { Hono } from '../../http/hono'
import { runLater } from '../../http/later'
import { imageBase } from '../../http/public-base'
import { valid } from '../../input/validate'
import { log } from '../../runtime/log'
import { chooseSlot } from '../../slots/slots'
import { dropCached } from '../../storage/image-cache'
import { releaseAddresses, toAddress } from '../addresses/directory'
import { issueCode } from '../codes/verification'
import { sendMail } from '../mail/send'
import { requireUncommon } from '../passwords/common-passwords'
import { markOwnPassword } from '../passwords/mark'
import { currentPasswordError, hashNewPassword } from '../passwords/password-change'
import { logIn } from './login'
import { purgeMember } from './purge'
import { CodeRequest, Credentials, NewMember, ProfilePatch } from './schema'
import { signUp } from './sign-up'
import { getProfile, getSettings, updateProfile, withdraw } from './store'

const BY_INVITATION =
  'cannot request a code: sign up with the code of an invitation, which the operator of the service gives'

export const members = new Hono<App>()
  .post('/join', throttledByNetwork, anonymous, valid('json', NewMember), async (c) => {
    const member = c.req.valid('json')
    await requireUncommon(c.env, c.var.config, member.password)
    const slot = chooseSlot(c.env, (c.req.raw as Request<unknown, IncomingRequestCfProperties>).cf?.continent)
    const { profile, rateLimit } = await signUp(c.var, slot, member, networkOf(c))
    return c.json(profile, 201, rateLimit)
  })
  .post('/email/join', throttledByNetwork, valid('json', CodeRequest), async (c) => {
    const { slots, config } = c.var
    const email = c.req.valid('json').joinAuthCodeEmail
    if (config.SIGN_UP === 'invited') throw fieldError('joinAuthCodeEmail', email, BY_INVITATION)
    const address = await toAddress(slots, config, email)
    const deliver = (code: string) => sendMail(c.env, config, email, { kind: 'verification', code })
    return c.body(null, 201, await issueCode(c.var, address, networkOf(c), deliver))
  })
  .post('/login', throttledByNetwork, anonymous, valid('json', Credentials), async (c) => {
    const { slots, config } = c.var
    const { profile, token, rateLimit } = await logIn(slots, config, c.req.valid('json'), originOf(c))
    return c.json(profile, 200, { Authorization: `Bearer ${token}`, ...rateLimit })
  })
  .get('/members/me', authenticated('profile:read'), async (c) => c.json(await getProfile(c.var.db, c.var.caller), 200))
  .get('/members/me/settings', authenticated('profile:read'), async (c) =>
    c.json(await getSettings(c.var.db, c.var.caller, c.var.config.TIME_ZONE), 200),
  )
  .patch('/members/me', sessionOnly, valid('json', ProfilePatch), async (c) => {
    const { name, password, currentPassword, deleteAccessTokens, timeZone } = c.req.valid('json')
    const origin = originOf(c)
    if (password) await requireUncommon(c.env, c.var.config, password)
    const hashed = password ? await hashNewPassword(c.var, { password, currentPassword }, origin) : undefined
    const profile = await updateProfile(c.var, { name, timeZone, deleteAccessTokens, ...hashed }, origin)
    if (!profile) throw currentPasswordError(currentPassword)
    if (hashed) runLater(c, () => markOwnPassword(c.env.IMAGES, c.var.caller))
    return c.json(profile, 200, hashed?.rateLimit)
  })
  .delete('/members/me', sessionOnly, async (c) => {
    const { db, caller, slots } = c.var
    const job = await withdraw(db, caller)
    // The sweep repeats what fails.
    const logError = (error: unknown) => log('error', `purge: ${error}`)
    if (caller.slot > 0) await releaseAddresses(slots, [job.memberId]).catch(logError)
    const drop = (keys: string[]) => dropCached(imageBase(c), keys)
    runLater(c, () => purgeMember(db, c.env.IMAGES, job, { onPurged: drop }).catch(logError))
    return c.body(null, 204)
  })
