import { describe, expect, it } from 'vitest'
import { join, login, newEmail, PASSWORD, send, sharedReader } from '../../support/api'
import { select } from '../../support/database'
import * as invalid from '../../support/inputs/invalid-values'
import { fieldError, itRejects, UNUSUAL_TEXTS } from '../../support/inputs/invalid-values'
import { remote } from '../../support/target'

const emailAt = (domain: string) => newEmail().replace('library.test', domain)
const LABEL = 'd'.repeat(57)
const EXISTS = {
  status: 409,
  body: { status: 409, message: 'Member already exists', fieldErrors: null, violationErrors: null },
}
// The tests cannot read mailed codes, and --public creates no members.
const itJoins = it.runIf(!remote?.members)

describe('POST /join', () => {
  itJoins('creates a member and returns neither the password nor the code', async () => {
    const email = newEmail().replace('@library', '@Library')
    const answer = await join({ email, name: '김민아', role: 'admin', memberId: 1 })
    expect(answer).toEqual({ status: 201, headers: expect.anything(), body: { email, name: '김민아' } })
  })

  itJoins.each([
    ['an e-mail of 254 characters', { email: emailAt(`${LABEL}.${LABEL}.test`).padStart(254, 'x') }],
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

  itJoins('creates one member from fifty concurrent sign-ups in different cases', { tags: ['slow'] }, async () => {
    const email = newEmail()
    const spelled = (n: number) =>
      [...email].map((char, index) => ((n >> (index % 6)) & 1 ? char.toUpperCase() : char)).join('')
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => join({ email: spelled(n) })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)])
    for (const answer of answers.filter(({ status }) => status === 409)) expect(answer).toMatchObject(EXISTS)
    expect((await login(email)).status).toBe(200)
    if (!remote) expect(await select('select 1 from members where lower(email) = ?', email)).toHaveLength(1)
  })

  it('reports every invalid field with what was sent', async () => {
    const answer = await send('POST', '/join', { body: { email: 'word', name: ' ', password: 'short' } })
    expect(answer).toMatchObject({ status: 400, body: { status: 0, message: null, violationErrors: null } })
    expect(answer.body.fieldErrors).toEqual([
      { field: 'email', rejectedValue: 'word', reason: 'must be a valid e-mail address' },
      { field: 'name', rejectedValue: ' ', reason: 'must not be blank' },
      { field: 'password', rejectedValue: 'short', reason: 'must be at least 6 characters' },
      { field: 'authenticationCode', rejectedValue: null, reason: 'is required' },
    ])
  })

  const member = { email: newEmail(), name: 'Reader', password: PASSWORD, authenticationCode: '123456' }
  itRejects(
    {
      email: {
        ...invalid.NOT_EMAIL,
        ...invalid.ABSENT,
        '255 characters': JSON.stringify(newEmail().padStart(255, 'x')),
      },
      name: { ...invalid.notText(100), ...invalid.NULL, ...invalid.BLANK, ...invalid.ABSENT },
      password: { ...invalid.NOT_PASSWORD, ...invalid.ABSENT },
      authenticationCode: { ...invalid.NOT_STRING, ...invalid.NULL, ...invalid.BLANK, ...invalid.ABSENT },
    },
    member,
    (body) => send('POST', '/join', body),
  )

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

describe('POST /email/join', () => {
  const changed = remote ? undefined : { MAIL_FROM: 'library@library.test' }
  const requestCode = (joinAuthCodeEmail: unknown) =>
    send('POST', '/email/join', { body: { joinAuthCodeEmail }, changed })

  it('answers 201 without a body, and 429 after five mails to an address within an hour', async () => {
    const email = newEmail()
    for (let n = 0; n < 5; n++) expect(await requestCode(email)).toMatchObject({ status: 201, body: null })
    const sixth = await requestCode(email)
    expect(sixth).toMatchObject({ status: 429, body: { status: 429, fieldErrors: null } })
    expect(Number(sixth.headers.get('Retry-After'))).toBeGreaterThan(3000)
  })

  it.each(['word', '', null, 5])('rejects %j as an address', async (email) => {
    expect(await requestCode(email)).toMatchObject(fieldError('joinAuthCodeEmail', JSON.stringify(email)))
  })

  it('rejects the address of a member, in any case', async () => {
    const { email } = await sharedReader()
    expect(await requestCode(email.toUpperCase())).toMatchObject(EXISTS)
  })
})
