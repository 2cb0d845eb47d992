import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findMismatches } from '../../../scripts/data/integrity'
import { blockMember, unblockMember } from '../../../scripts/members/block'
import { change, confirmChange, lastCodeTo, requestChange, undo } from '../../support/accounts/email-changes'
import { type From, mails, newNetwork, requestReset, resetCodeIn, resetWith } from '../../support/accounts/mailed-codes'
import { join, login, newEmail, type Reader, send, signUp } from '../../support/api'
import { memberDatabase, memberSlot, select } from '../../support/database'
import { memberIdOf } from '../../support/images/images'
import { insertAccessToken } from '../../support/tokens'
import { wrapDatabase } from '../../support/wrap-database'

const NEW_PASSWORD = 'another-horse-2'

let reader: Reader
let memberId: number
let from: string
beforeEach(async () => {
  vi.useRealTimers()
  reader = await signUp()
  memberId = await memberIdOf(reader)
  from = newNetwork()
  mails.length = 0
})

const block = () => blockMember(memberDatabase(), memberId)
/** Also lets the minute pass in which an isolate remembers that it was refused. */
const unblock = async () => {
  await unblockMember(memberDatabase(), memberId)
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] })
}
const codeOf = ({ status, headers }: { status: number; headers: Headers }) => [status, headers.get('X-Error-Code')]
const reset = (code: string, more: Partial<From> = {}) => resetWith(reader.email, code, NEW_PASSWORD, { from, ...more })
const credentials = () =>
  select(
    'select sessionId from sessions where memberId = ? union all select tokenHash from accessTokens where memberId = ?',
    memberId,
    memberId,
  )

describe('a blocked member', () => {
  it('cannot use sessions and access tokens, until the block is lifted', async () => {
    const accessToken = await insertAccessToken(memberDatabase(), memberId, ['library:write'], memberSlot())
    const before = await credentials()
    const attempts = async () => [
      codeOf(await reader.get('/members/me')),
      codeOf(await reader.post('/sessions/renew', {})),
      codeOf(await reader.post('/tokens', { name: 'Script', scopes: ['library:read'] })),
      codeOf(await reader.patch('/members/me', { name: 'Renamed', password: NEW_PASSWORD })),
      codeOf(await reader.delete('/members/me')),
      codeOf(
        await send('POST', '/books', {
          body: { title: 'Demian' },
          headers: { Authorization: `Bearer ${accessToken}` },
        }),
      ),
    ]
    await block()
    await block()
    expect(await attempts()).toEqual(Array(6).fill([401, 'UNAUTHORIZED']))
    expect(await findMismatches(memberDatabase())).toEqual([])
    await unblock()
    expect(await credentials()).toEqual(before)
    expect(await attempts()).toEqual([
      [200, null],
      [200, null],
      [201, null],
      [200, null],
      [204, null],
      [401, 'UNAUTHORIZED'],
    ])
    expect((await select('select name, withdrawnAt from members where memberId = ?', memberId))[0]).toMatchObject({
      name: '',
    })
  })

  it('learns it from a login, but only with the right password', async () => {
    await block()
    expect(codeOf(await login(reader.email))).toEqual([403, 'MEMBER_BLOCKED'])
    const [wrong, unknown] = [await login(reader.email, 'wrong'), await login(newEmail(), 'wrong')]
    expect([wrong.status, wrong.body, [...wrong.headers.keys()]]).toEqual([
      401,
      unknown.body,
      [...unknown.headers.keys()],
    ])
    expect(await join({ email: reader.email })).toMatchObject({ status: 409 })
    await unblock()
    expect((await login(reader.email)).status).toBe(200)
  })

  it('cannot reset the password, not even with a code mailed before, or checked when the block came', async () => {
    await requestReset(reader.email, { from })
    const [early] = [resetCodeIn(mails.at(-1))]
    await block()
    expect(await requestReset(reader.email, { from })).toMatchObject({ status: 202, body: null })
    expect(mails).toHaveLength(1)
    expect((await reset(early)).status).toBe(400)
    await unblock()
    expect((await reset(early)).status).toBe(400)

    await requestReset(reader.email, { from })
    const code = resetCodeIn(mails.at(-1))
    let calls = 0
    const blocking = wrapDatabase(env.DB, async (call) => {
      calls += 1
      if (calls === 2) await block()
      return call()
    })
    expect([(await reset(code, { DB: blocking })).status, calls > 1]).toEqual([400, true])
    expect(codeOf(await login(reader.email))).toEqual([403, 'MEMBER_BLOCKED'])
  })

  it('cannot undo or finish a change of e-mail address before the block is lifted', async () => {
    const [former, email, next] = [reader.email, newEmail(), newEmail()]
    const undoCode = await change(reader, former, email)
    await requestChange(reader, next)
    const code = lastCodeTo(next)
    await block()
    expect(codeOf(await undo(undoCode))).toEqual([400, 'INVALID_FIELDS'])
    expect((await confirmChange(reader, next, code)).status).toBe(401)
    expect(codeOf(await login(email))).toEqual([403, 'MEMBER_BLOCKED'])
    await unblock()
    expect(codeOf(await confirmChange(reader, next, code))).toEqual([400, 'INVALID_FIELDS'])
    expect((await undo(undoCode)).status).toBe(204)
    expect((await select('select email from members where memberId = ?', memberId))[0]).toEqual({ email: former })
  })

  it('is found by the integrity check with a session in use, and another member with one set aside', async () => {
    await select('update members set blockedAt = 1 where memberId = ?', memberId)
    const other = await memberIdOf(await signUp())
    await blockMember(memberDatabase(), other)
    await select('update members set blockedAt = null where memberId = ?', other)
    expect(await findMismatches(memberDatabase())).toMatchObject([
      { table: 'sessions', id: memberId, expected: 'set aside', found: 'in use' },
      { table: 'sessions', id: other, expected: 'in use', found: 'set aside' },
    ])
    await select('delete from sessions where memberId in (?, ?)', memberId, other)
  })
})
