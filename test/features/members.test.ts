import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { join, login, newEmail, PASSWORD, send, signUp, tokenOf } from '../support/api'

describe('POST /join', () => {
  it('creates a member and shows neither the password nor the code', async () => {
    const answer = await join({ email: 'Mina.Kim@Library.test', name: '김민아' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ email: 'Mina.Kim@Library.test', name: '김민아' })
  })

  it('refuses an e-mail that another member has, whatever its case', async () => {
    const email = newEmail()
    await join({ email })
    const answer = await join({ email: email.toUpperCase() })
    expect(answer.status).toBe(409)
    expect(answer.body).toEqual({
      status: 409,
      message: 'Member already exists',
      fieldErrors: null,
      violationErrors: null,
    })
  })

  it('makes one member of fifty sign-ups at once with one e-mail in different cases', async () => {
    const email = newEmail()
    const spelled = (n: number) =>
      [...email].map((char, at) => ((n >> (at % 6)) & 1 ? char.toUpperCase() : char)).join('')
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => join({ email: spelled(n) })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(49).fill(409)])
    const count = env.DB.prepare('select count(*) as n from members where lower(email) = ?').bind(email)
    expect(await count.first('n')).toBe(1)
  })

  it('names every field that breaks a rule, with what was sent', async () => {
    const answer = await send('POST', '/join', { body: { email: 'nobody', name: ' ', password: 'short' } })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ status: 0, message: null, violationErrors: null })
    expect(answer.body.fieldErrors).toEqual([
      { field: 'email', rejectedValue: 'nobody', reason: 'must be an e-mail address' },
      { field: 'name', rejectedValue: ' ', reason: 'must not be blank' },
      { field: 'password', rejectedValue: 'short', reason: 'must be at least 6 characters' },
      { field: 'authenticationCode', rejectedValue: null, reason: 'is required' },
    ])
  })

  it.each([
    ['an e-mail of 255 characters', { email: `${'a'.repeat(242)}@library.test` }],
    ['an e-mail that is a number', { email: 1 }],
    ['an e-mail with a NUL', { email: 'a\0@library.test' }],
    ['an e-mail with two dots', { email: 'a..b@library.test' }],
    ['an e-mail without a domain name', { email: 'a@localhost' }],
    ['a name of 101 characters', { name: 'n'.repeat(101) }],
    ['a name that is null', { name: null }],
    ['a name with half a surrogate pair', { name: 'a\ud800' }],
    ['a password of 129 characters', { password: 'p'.repeat(129) }],
    ['a password with a space', { password: 'pass word' }],
    ['a password beyond ASCII', { password: 'passwörd' }],
    ['a password that is an array', { password: ['password'] }],
    ['a blank code', { authenticationCode: ' ' }],
    ['a code that is a number', { authenticationCode: 123456 }],
  ])('refuses %s', async (_, wrong) => {
    const answer = await join(wrong)
    expect(answer.status).toBe(400)
    expect(answer.body.fieldErrors.map(({ field }: { field: string }) => field)).toEqual(Object.keys(wrong))
  })

  it.each([
    ['an e-mail of 254 characters', { email: `${'a'.repeat(241)}@library.test` }],
    ['an e-mail at a Korean domain', { email: 'mina@example.xn--3e0b707e' }],
    ['an e-mail with odd letters', { email: "o'neil+a&b/c@example.com" }],
    ['a name of 100 characters beyond the basic plane', { name: '📚'.repeat(50) }],
    ['a password of 128 characters', { password: '~'.repeat(128) }],
  ])('takes %s', async (_, right) => {
    expect((await join(right)).status).toBe(201)
  })

  it('must be sent without a token, and so must a login', async () => {
    const headers = { Authorization: 'Bearer x' }
    const body = { email: newEmail(), name: 'R', password: PASSWORD, authenticationCode: '1' }
    for (const path of ['/join', '/login']) {
      const answer = await send('POST', path, { headers, body })
      expect(answer).toMatchObject({ status: 400, body: { status: 400, fieldErrors: null } })
      expect(answer.body.message).toContain('Authorization')
    }
  })
})

describe('POST /login', () => {
  it('answers a token in the Authorization header, and the profile', async () => {
    const email = newEmail()
    await join({ email, name: 'Ana' })
    const answer = await login(email.toUpperCase())
    expect(answer).toMatchObject({ status: 200, body: { email, name: 'Ana' } })
    expect(answer.headers.get('Authorization')).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]{43}$/)
  })

  it('answers a wrong password and an unknown e-mail alike', async () => {
    const { email } = await signUp()
    const wrong = await login(email, 'wrong-password')
    const unknown = await login(newEmail(), 'wrong-password')
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('WWW-Authenticate')).toBe('Bearer')
    expect(wrong.body).toEqual(unknown.body)
  })

  it.each(['', null, undefined, 5])('refuses the password %o as a field error', async (password) => {
    const answer = await send('POST', '/login', { body: { email: newEmail(), password } })
    expect(answer).toMatchObject({ status: 400, body: { status: 0, fieldErrors: [{ field: 'password' }] } })
  })

  it('makes a weak stored hash stronger', async () => {
    const { email } = await signUp()
    const weak = `$pbkdf2-sha512-chain$r=1,i=1000$AAAAAAAAAAAAAAAAAAAAAA==$${await weakHash(PASSWORD)}`
    await env.DB.prepare('update members set passwordHash = ? where email = ?').bind(weak, email).run()
    expect((await login(email)).status).toBe(200)
    const stored = await env.DB.prepare('select passwordHash from members where email = ?')
      .bind(email)
      .first('passwordHash')
    expect(stored).toMatch(/^\$pbkdf2-sha512-chain\$r=3,i=70000\$/)
    expect((await login(email)).status).toBe(200)
  })
})

const weakHash = async (password: string) => {
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(password), 'PBKDF2', false, ['deriveBits'])
  const algorithm = { name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(16), iterations: 1000 }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 512)).toBase64()
}

describe('/members/me', () => {
  it('shows e-mail and name only', async () => {
    const reader = await signUp()
    expect((await reader.get('/members/me')).body).toEqual({ email: reader.email, name: 'Reader' })
  })

  it('changes the name and keeps the password', async () => {
    const reader = await signUp()
    const answer = await reader.patch('/members/me', { name: 'José', email: 'other@library.test', tokenVersion: 9 })
    expect(answer).toMatchObject({ status: 200, body: { email: reader.email, name: 'José' } })
    expect(answer.body.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
    await reader.logsInAgain()
  })

  it('changes nothing by an empty object', async () => {
    const reader = await signUp()
    expect(await reader.patch('/members/me', {})).toMatchObject({ status: 200, body: { name: 'Reader' } })
  })

  it.each([{ name: null }, { name: '' }, { password: null }, { password: '한글비밀번호' }])(
    'refuses %o',
    async (patch) => {
      const reader = await signUp()
      const answer = await reader.patch('/members/me', patch)
      expect(answer).toMatchObject({ status: 400, body: { fieldErrors: [{ field: Object.keys(patch)[0] }] } })
    },
  )

  it('signs every other device out when the password changes, and keeps the one that changed it', async () => {
    const reader = await signUp()
    const phone = await reader.logsInAgain()
    await reader.patch('/members/me', { password: 'new-password-1' })
    expect((await reader.get('/members/me')).status).toBe(200)
    expect((await phone.get('/members/me')).status).toBe(401)
    expect((await phone.patch('/members/me', { password: 'stolen-password' })).status).toBe(401)
    expect((await login(reader.email)).status).toBe(401)

    const tablet = await reader.logsInAgain('new-password-1')
    await tablet.patch('/members/me', { password: 'new-password-2' })
    expect((await tablet.get('/members/me')).status).toBe(200)
    expect((await reader.get('/members/me')).status).toBe(401)
  })

  it('withdraws: no row is left, all tokens are dead, and the e-mail joins again as somebody new', async () => {
    const reader = await signUp()
    const phone = await reader.logsInAgain()
    const book = await reader.registers()
    await reader.writes(book.bookId)
    const { memberId } = (await env.DB.prepare('select memberId from members where email = ?')
      .bind(reader.email)
      .first()) as {
      memberId: number
    }

    expect(await reader.delete('/members/me')).toMatchObject({ status: 204, body: null })

    for (const table of ['members', 'books', 'memos']) {
      const rows = env.DB.prepare(`select count(*) as n from ${table} where memberId = ?`).bind(memberId)
      expect(await rows.first('n'), table).toBe(0)
    }
    expect((await reader.get('/members/me')).status).toBe(401)
    expect((await phone.get(`/books/${book.bookId}?memoAuthority=ALL`)).status).toBe(401)
    expect((await reader.delete('/members/me')).status).toBe(401)

    const again = await signUp(reader.email)
    expect((await again.get('/books/library?page=1&size=10&bookStatus=YET')).body.pageInfo.totalElements).toBe(0)
    expect((await reader.get('/members/me')).status).toBe(401)
    expect(tokenOf(await login(reader.email))).not.toBe(reader.token)
  })
})
