import { describe, expect, it } from 'vitest'
import { join, login, newEmail, PASSWORD, send, sharedReader, signUp } from '../support/api'
import { select } from '../support/database'
import {
  ABSENT,
  BLANK,
  EMPTY,
  fieldError,
  invalidCases,
  NOT_EMAIL,
  NOT_PASSWORD,
  NOT_STRING,
  NULL,
  notText,
  UNUSUAL_TEXTS,
  withField,
} from '../support/invalid-values'
import { TIMESTAMP } from '../support/library'
import { remote } from '../support/target'

const NAME = { ...notText(100), ...NULL, ...BLANK }
const emailAt = (domain: string) => newEmail().replace('library.test', domain)
const EXISTS = {
  status: 409,
  body: { status: 409, message: 'Member already exists', fieldErrors: null, violationErrors: null },
}
// With mailed codes nobody can sign up here; with --public nobody should.
const canJoin = !remote?.members

describe('POST /join', () => {
  it.runIf(canJoin)('creates a member and returns neither the password nor the code', async () => {
    const email = newEmail().replace('@library', '@Library')
    const answer = await join({ email, name: '김민아', role: 'admin', memberId: 1 })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ email, name: '김민아' })
  })

  it
    .runIf(canJoin)
    .each([
      [
        'an e-mail of 254 characters',
        { email: emailAt(`${'d'.repeat(58)}.${'d'.repeat(57)}.test`).padStart(254, 'x') },
      ],
      ['an e-mail at a Korean domain', { email: emailAt('example.xn--3e0b707e') }],
      ['an e-mail with unusual characters', { email: `o'neil+a&b/c${newEmail()}` }],
      ['a name of 100 characters', { name: 'n'.repeat(100) }],
      ['a name of 50 characters beyond the basic plane', { name: '📚'.repeat(50) }],
      ['a password of 6 characters', { password: 'Abc12!' }],
      ['a password of 128 characters', { password: '~'.repeat(128) }],
      ['a password of special characters', { password: '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~' }],
      ...Object.entries(UNUSUAL_TEXTS).map(([what, name]): [string, object] => [`a name of ${what}`, { name }]),
    ])('accepts %s', async (_, fields: { email?: string; name?: string; password?: string }) => {
    const email = fields.email ?? newEmail()
    const answer = await join({ ...fields, email })
    expect(answer).toMatchObject({ status: 201, body: { email, name: fields.name ?? 'Reader' } })
    if (fields.email || fields.password) expect((await login(email, fields.password)).status).toBe(200)
  })

  it('rejects an e-mail in use, in any case and with any code', async () => {
    const { email } = await sharedReader()
    for (const again of [{ email }, { email: email.toUpperCase() }, { email, authenticationCode: 'wrong' }]) {
      expect(await join(again)).toMatchObject(EXISTS)
    }
  })

  it.runIf(canJoin)(
    'creates one member from fifty concurrent sign-ups with one e-mail in different cases',
    async () => {
      const email = newEmail()
      const spelled = (n: number) =>
        [...email].map((char, index) => ((n >> (index % 6)) & 1 ? char.toUpperCase() : char)).join('')
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => join({ email: spelled(n) })))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)])
      for (const answer of answers.filter(({ status }) => status === 409)) expect(answer).toMatchObject(EXISTS)
      expect((await login(email)).status).toBe(200)
      if (!remote) expect(await select('select 1 from members where lower(email) = ?', email)).toHaveLength(1)
    },
  )

  it('reports every invalid field with what was sent', async () => {
    const answer = await send('POST', '/join', { body: { email: 'nobody', name: ' ', password: 'short' } })
    expect(answer).toMatchObject({ status: 400, body: { status: 0, message: null, violationErrors: null } })
    expect(answer.body.fieldErrors).toEqual([
      { field: 'email', rejectedValue: 'nobody', reason: 'must be an e-mail address' },
      { field: 'name', rejectedValue: ' ', reason: 'must not be blank' },
      { field: 'password', rejectedValue: 'short', reason: 'must be at least 6 characters' },
      { field: 'authenticationCode', rejectedValue: null, reason: 'is required' },
    ])
  })

  const member = { email: newEmail(), name: 'Reader', password: PASSWORD, authenticationCode: '123456' }
  it.each(
    invalidCases({
      email: { ...NOT_EMAIL, ...ABSENT, '255 characters': JSON.stringify(newEmail().padStart(255, 'x')) },
      name: { ...NAME, ...ABSENT },
      password: { ...NOT_PASSWORD, ...ABSENT },
      authenticationCode: { ...NOT_STRING, ...NULL, ...BLANK, ...ABSENT },
    }),
  )('rejects $what as $field', async ({ field, json }) => {
    expect(await send('POST', '/join', withField(member, field, json))).toMatchObject(fieldError(field, json))
  })

  it('stores nothing of what it rejects', async () => {
    expect((await login(member.email)).status).toBe(401)
  })

  it('rejects an Authorization header, and so does POST /login', async () => {
    for (const path of ['/join', '/login']) {
      const body = { ...member, email: newEmail() }
      const answer = await send('POST', path, { headers: { Authorization: 'Bearer x' }, body })
      expect(answer).toMatchObject({ status: 400, body: { status: 400, fieldErrors: null } })
      expect(answer.body.message).toContain('Authorization')
    }
  })
})

describe('POST /login', () => {
  it('answers a token in the Authorization header, and the profile', async () => {
    const { email } = await sharedReader()
    const answer = await login(email.toUpperCase())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ email, name: 'Reader' })
    expect(answer.headers.get('Authorization')).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]{43}$/)
  })

  it('issues an HS256 token without personal data', async () => {
    const { email } = await sharedReader()
    const token = (await login(email)).headers.get('Authorization')?.split(' ')[1] ?? ''
    const [header, claims] = token
      .split('.')
      .slice(0, 2)
      .map((part) => atob(part.replaceAll('-', '+').replaceAll('_', '/')))
    expect(JSON.parse(header ?? '').alg).toBe('HS256')
    const text = { asymmetricMatch: (value: unknown) => typeof value === 'string' && value !== '' }
    const { iat, exp, ...others } = JSON.parse(claims ?? '')
    expect(others).toMatchObject({ iss: text, sub: text, jti: text })
    expect([Number.isInteger(iat), Number.isInteger(exp), exp > iat]).toEqual([true, true, true])
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

  it('takes as long for an unknown e-mail as for a wrong password', async () => {
    const { email } = await sharedReader()
    const times: { wrong: number[]; unknown: number[] } = { wrong: [], unknown: [] }
    for (let n = 0; n < 5; n++) {
      for (const [kind, address] of [
        ['wrong', email],
        ['unknown', newEmail()],
      ] as const) {
        const start = performance.now()
        await login(address, 'wrong-password')
        times[kind].push(performance.now() - start)
      }
    }
    const median = (numbers: number[]) => numbers.sort((one, other) => one - other)[2] ?? 0
    const ratio = median(times.unknown) / median(times.wrong)
    expect(ratio).toBeGreaterThan(0.5)
    expect(ratio).toBeLessThan(2)
    // A right password forgets the failures.
    expect((await login(email)).status).toBe(200)
  })

  it.each(
    invalidCases({
      email: { ...NOT_EMAIL, ...ABSENT },
      password: { ...NOT_STRING, ...NULL, ...EMPTY, ...ABSENT },
    }),
  )('rejects $what as $field', async ({ field, json }) => {
    const request = withField({ email: newEmail(), password: PASSWORD }, field, json)
    expect(await send('POST', '/login', request)).toMatchObject(fieldError(field, json))
  })

  it.each(['x', ' ', 'ö', 'a\0', '\ud800', 'x'.repeat(1000)])('takes any password as it is: %j', async (password) => {
    expect((await login(newEmail(), password)).status).toBe(401)
  })
})

describe('/members/me', () => {
  it('shows e-mail and name only', async () => {
    const reader = await sharedReader()
    expect((await reader.get('/members/me')).body).toEqual({ email: reader.email, name: 'Reader' })
  })

  it('takes the scheme in any case, and no token of which a character was changed', async () => {
    const { token } = await sharedReader()
    const status = async (Authorization: string) =>
      (await send('GET', '/members/me', { headers: { Authorization } })).status
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) expect(await status(`${scheme} ${token}`)).toBe(200)
    const [header = '', claims = ''] = token.split('.')
    for (const index of [3, header.length + 3, header.length + claims.length + 4]) {
      const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1)
      expect(await status(`Bearer ${changed}`), `character ${index}`).toBe(401)
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
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ email, name: 'Reader', updatedAt: TIMESTAMP })
  })

  it('stores unusual names unchanged', async () => {
    const reader = await signUp()
    for (const [what, name] of Object.entries(UNUSUAL_TEXTS)) {
      expect((await reader.patch('/members/me', { name })).status, what).toBe(200)
      expect((await reader.get('/members/me')).body.name, what).toBe(name)
    }
  })

  it.each(invalidCases({ name: NAME, password: NOT_PASSWORD }))('rejects $what as $field', async ({ field, json }) => {
    const { send } = await sharedReader()
    expect(await send('PATCH', '/members/me', withField({}, field, json))).toMatchObject(fieldError(field, json))
  })

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

  it('withdraws the member: every token is dead, and the e-mail joins again as a new member', async () => {
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
