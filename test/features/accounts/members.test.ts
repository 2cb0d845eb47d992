import { describe, expect, it, vi } from 'vitest'
import { join, login, newEmail, PASSWORD, send, sharedReader, signUp, tokenOf } from '../../support/api'
import { memberSlot, select } from '../../support/database'
import * as invalid from '../../support/inputs/invalid-values'
import { fieldError, itRejects, UNUSUAL_TEXTS } from '../../support/inputs/invalid-values'
import { snapshot, TIMESTAMP } from '../../support/library'
import { remote } from '../../support/target'

// The tests cannot read mailed codes, and --public creates no members.
const canJoin = !remote?.members

describe('POST /login', () => {
  it('answers a token in the Authorization header, and the profile', async () => {
    const { email } = await sharedReader()
    const answer = await login(email.toUpperCase())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ email, name: 'Reader' })
    expect(answer.headers.get('Authorization')).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]{43}$/)
  })

  // In slot 1, it also names the slot: slots-sign-up.test.ts.
  it.skipIf(memberSlot() > 0)('issues an HS256 token without personal data', async () => {
    const { email } = await sharedReader()
    const [header = '', claims = ''] = tokenOf(await login(email))
      .split('.', 2)
      .map((part) => atob(part.replaceAll('-', '+').replaceAll('_', '/')))
    expect(JSON.parse(header).alg).toBe('HS256')
    const { iat, exp, ...others } = JSON.parse(claims)
    const text = expect.stringMatching(/./)
    expect(others).toEqual({ iss: text, sub: text, sid: text })
    expect([Number.isInteger(iat), Number.isInteger(exp), exp > iat]).toEqual([true, true, true])
    if (!remote) expect(exp - iat).toBe(2_592_000)
    for (const personal of [email, 'Reader']) expect(claims).not.toContain(personal)
  })

  it('answers a wrong password and an unknown e-mail alike', async () => {
    const { email } = await sharedReader()
    const wrong = await login(email, 'wrong-password')
    const unknown = await login(newEmail(), 'wrong-password')
    expect([wrong.status, unknown.status]).toEqual([401, 401])
    expect(wrong.headers.get('WWW-Authenticate')).toBe('Bearer')
    expect(wrong.body).toEqual(unknown.body)
  })

  it.skipIf(remote)('hashes as much for an unknown e-mail as for a wrong password', async () => {
    const { email } = await sharedReader()
    using derive = vi.spyOn(crypto.subtle, 'deriveBits')
    const hashesFor = async (address: string) => {
      derive.mockClear()
      await login(address, 'wrong-password')
      return derive.mock.calls.map(([algorithm, , length]) => ({ ...(algorithm as object), salt: undefined, length }))
    }
    const known = await hashesFor(email)
    expect(known).not.toEqual([])
    expect(await hashesFor(newEmail())).toEqual(known)
    // A right password forgets the failures.
    expect((await login(email)).status).toBe(200)
  })

  itRejects(
    {
      email: { ...invalid.NOT_EMAIL, ...invalid.ABSENT },
      password: { ...invalid.NOT_STRING, ...invalid.NULL, ...invalid.EMPTY, ...invalid.ABSENT },
    },
    { email: newEmail(), password: PASSWORD },
    (body) => send('POST', '/login', body),
  )

  it.each(['x', ' ', 'ö', 'a\0', '\ud800', 'x'.repeat(1000)])('does not check the format: %j', async (password) => {
    expect((await login(newEmail(), password)).status).toBe(401)
  })

  it('replaces a weak password hash', async () => {
    const { email } = await signUp()
    // PASSWORD with a salt of zeros and 1,000 iterations.
    const weak =
      '$pbkdf2-sha512-chain$r=1,i=1000$AAAAAAAAAAAAAAAAAAAAAA==$LDjc6BkRaYOg35MX0S/pvtqiZ6W2OX9APQuHIp7WXAht47RK0Y02dc02GNsAN+lK4EugCl8wQ9yBAB+FEadUWg=='
    await select('update members set passwordHash = ? where email = ?', weak, email)
    expect((await login(email)).status).toBe(200)
    const [stored] = await select('select passwordHash from members where email = ?', email)
    expect(stored?.passwordHash).toMatch(/^\$pbkdf2-sha512-chain\$r=3,i=70000\$/)
    expect((await login(email)).status).toBe(200)
  })
})

describe('/members/me', () => {
  it('accepts the scheme in any case, but no modified token', async () => {
    const { token } = await sharedReader()
    const status = async (Authorization: string) =>
      (await send('GET', '/members/me', { headers: { Authorization } })).status
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer ']) expect(await status(`${scheme} ${token}`)).toBe(200)
    const [header = '', claims = '', signature = ''] = token.split('.')
    const mistyped = [3, header.length + 3, header.length + claims.length + 4].map(
      (index) => token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1),
    )
    const unsigned = ['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => {
      const start = `${btoa(JSON.stringify({ typ: 'JWT', alg })).replaceAll('=', '')}.${claims}`
      return [start, `${start}.`, `${start}.${signature}`]
    })
    const malformed = [`${token}=`, `${token}.${signature}`, `${header}.${claims}`, 'x'.repeat(8000)]
    for (const changed of [...mistyped, ...unsigned, ...malformed]) {
      expect(await status(`Bearer ${changed}`), changed).toBe(401)
    }
  })

  it('changes the name and nothing else', async () => {
    const reader = await signUp()
    const patch = { name: 'José', email: newEmail(), tokenVersion: 9, updatedAt: '2000-01-01T00:00:00', memberId: 1 }
    const answer = await reader.patch('/members/me', patch)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ email: reader.email, name: 'José', updatedAt: TIMESTAMP })
    expect(answer.body.updatedAt).not.toBe('2000-01-01T00:00:00')
    expect((await reader.get('/members/me')).body).toEqual({ email: reader.email, name: 'José' })
    await reader.logInAgain()
  })

  it('changes nothing for an empty object', async () => {
    const { email, patch } = await sharedReader()
    const answer = await patch('/members/me', {})
    const body = { email, name: 'Reader', updatedAt: TIMESTAMP }
    expect(answer).toEqual({ status: 200, headers: expect.anything(), body })
  })

  it('stores unusual names unchanged', async () => {
    const reader = await signUp()
    for (const [what, name] of Object.entries(UNUSUAL_TEXTS)) {
      expect((await reader.patch('/members/me', { name })).status, what).toBe(200)
      expect((await reader.get('/members/me')).body.name, what).toBe(name)
    }
  })

  itRejects(
    { name: { ...invalid.notText(100), ...invalid.NULL, ...invalid.BLANK }, password: invalid.NOT_PASSWORD },
    {},
    async (body) => (await sharedReader()).send('PATCH', '/members/me', body),
    async () => snapshot(await sharedReader()),
  )

  it('changes neither if one of name and password is invalid', async () => {
    const reader = await sharedReader()
    const answer = await reader.patch('/members/me', { name: 'Other', password: 'short' })
    expect(answer).toMatchObject(fieldError('password', '"short"'))
    expect((await reader.get('/members/me')).body.name).toBe('Reader')
    await reader.logInAgain()
  })

  it('signs out every other device when the password changes', async () => {
    const reader = await signUp()
    const phone = await reader.logInAgain()
    const answer = await reader.patch('/members/me', { password: 'new-password-1' })
    expect(JSON.stringify(answer.body)).not.toContain('new-password-1')
    expect((await reader.get('/members/me')).status).toBe(200)
    expect((await phone.get('/members/me')).status).toBe(401)
    expect((await phone.patch('/members/me', { password: 'stolen-password' })).status).toBe(401)
    expect((await login(reader.email)).status).toBe(401)

    const tablet = await reader.logInAgain('new-password-1')
    await tablet.patch('/members/me', { password: 'new-password-2' })
    expect((await tablet.get('/members/me')).status).toBe(200)
    expect((await reader.get('/members/me')).status).toBe(401)
  })

  it('withdraws the member: every token is invalid, and the e-mail can sign up again as a new member', async () => {
    const reader = await signUp()
    const phone = await reader.logInAgain()
    const { bookId } = await reader.createBook()
    await reader.createMemo(bookId)
    const memberId = remote || (await select('select memberId from members where email = ?', reader.email))[0]?.memberId

    expect(await reader.delete('/members/me')).toMatchObject({ status: 204, body: null })

    for (const device of [reader, phone]) {
      for (const path of ['/members/me', '/memos/random', `/books/${bookId}?memoAuthority=ALL`]) {
        expect((await device.get(path)).status, path).toBe(401)
      }
      expect((await device.post('/books', { title: 'x' })).status).toBe(401)
      expect((await device.delete('/members/me')).status).toBe(401)
    }
    expect((await login(reader.email)).status).toBe(401)
    for (const table of remote ? [] : ['members', 'books', 'memos']) {
      expect(await select(`select * from ${table} where memberId = ?`, memberId), table).toEqual([])
    }
    if (!canJoin) return

    expect((await join({ email: reader.email })).status).toBe(201)
    const again = await reader.logInAgain()
    expect(again.token).not.toBe(reader.token)
    expect((await again.get('/members/me')).body).toEqual({ email: reader.email, name: 'Reader' })
    for (const status of ['YET', 'ING', 'DONE']) {
      expect((await again.get(`/books/library?page=1&size=9&bookStatus=${status}`)).body.item).toEqual([])
    }
    expect((await again.get('/memos/random')).body).toEqual([])
    expect((await again.get(`/books/${bookId}?memoAuthority=ALL`)).status).toBe(404)
    for (const old of [reader, phone]) expect((await old.get('/members/me')).status).toBe(401)
  })
})
