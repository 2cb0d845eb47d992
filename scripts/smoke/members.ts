import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { answers, error, fieldErrors, now, words } from './answer.ts'
import { check, each } from './check.ts'
import { type Member, newEmail, PASSWORD, type Service } from './client.ts'
import { ABSENT, BLANK, checkRefusals, checkTexts, longerThan, NOT_TEXT, NULL } from './fields.ts'
import { checkNothingStored, fieldOf, listed, register, write } from './shelf.ts'

const EXISTS = error(409, 'Member already exists')

const NOT_EMAIL = {
  ...NOT_TEXT,
  ...NULL,
  'an empty text': '""',
  'a word': '"nobody"',
  'no name': '"@smoke.example"',
  'two addresses': '"a@smoke.example,b@smoke.example"',
  'white space': '"a b@smoke.example"',
  'a NUL': '"a\\u0000@smoke.example"',
  'half a pair': '"a\\ud800@smoke.example"',
  'a line end': '"a@smoke.example\\r\\nBcc: b@smoke.example"',
}
const LONG_EMAIL = { '255 characters': JSON.stringify(`${newEmail()}`.padStart(255, 'x')) }
const NOT_PASSWORD = {
  ...NOT_TEXT,
  ...NULL,
  '5 characters': '"12345"',
  '129 characters': JSON.stringify('p'.repeat(129)),
  'white space': '"pass word"',
  'what is beyond ASCII': '"passw\u00f6rd"',
  'a NUL': '"pass\\u0000word"',
  'half a pair': '"pass\\ud800word"',
}
const NOT_NAME = { ...NOT_TEXT, ...NULL, ...BLANK, ...longerThan(100) }

const checkJoin = async ({ send, join, logIn }: Service) => {
  await check('POST /join: 201 with e-mail and name as given, and no word of password or code', async () => {
    const email = newEmail().replace('@smoke', '@Smoke')
    answers(await join({ email, name: '김민아', role: 'admin', memberId: 1 }), 201, { email, name: '김민아' })
    answers(await send('POST', '/login', { email: email.toUpperCase(), password: PASSWORD }), 200, {
      email,
      name: '김민아',
    })
  })
  await check(
    'POST /join: takes 100 characters of name, 6 and 128 of password, and every special character',
    async () => {
      const special = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
      for (const password of ['Abc12!', '~'.repeat(128), special]) {
        const email = newEmail()
        answers(await join({ email, name: 'n'.repeat(100), password }), 201, { email, name: 'n'.repeat(100) })
        await logIn(email, password)
      }
    },
  )
  await check('POST /join: takes an e-mail of 254 characters', async () => {
    const [label, end] = ['d'.repeat(58), 'd'.repeat(57)]
    const email = newEmail().replace('@', `@${label}.${label}.${end}.`).padStart(254, 'x')
    answers(await join({ email }), 201, { email, name: 'Smoke' })
    await logIn(email)
  })
  const email = newEmail()
  const right = { email, name: 'Smoke', password: PASSWORD, authenticationCode: '123456' }
  await checkRefusals('POST /join', join, right, {
    email: { ...NOT_EMAIL, ...LONG_EMAIL, ...ABSENT },
    name: { ...NOT_NAME, ...ABSENT },
    password: { ...NOT_PASSWORD, ...ABSENT },
    authenticationCode: { ...NOT_TEXT, ...NULL, ...BLANK, ...ABSENT },
  })
  await check('POST /join: one entry for each failing field', async () => {
    const answer = await join('{"email":"nobody","name":" ","password":"short"}')
    const broken = fieldErrors(['authenticationCode', null], ['email', 'nobody'], ['name', ' '], ['password', 'short'])
    const entries = (fieldOf(answer, 'fieldErrors') ?? []) as { field: string }[]
    const byName = entries.toSorted((one, other) => (one.field < other.field ? -1 : 1))
    answers({ ...answer, body: { ...(answer.body as object), fieldErrors: byName } }, 400, broken)
  })
  await check('POST /join: nothing that was refused is stored', async () => {
    answers(await send('POST', '/login', { email, password: PASSWORD }), 401)
    answers(await join(right), 201)
  })
  await check('POST /join: an existing member is 409, in any case of the e-mail and with any code', () =>
    each([{ email }, { email: email.toUpperCase() }, { email, authenticationCode: 'wrong' }], async (again) =>
      answers(await join(again), 409, EXISTS),
    ),
  )
  await checkTexts('POST /join', 'name', join, (answer) => fieldOf(answer, 'name'))
  await check(
    'POST /join: fifty at once with one e-mail in different cases are one 201 and forty-nine 409',
    async () => {
      const wanted = newEmail()
      const spelled = (n: number) =>
        [...wanted].map((letter, at) => ((n >> (at % 6)) & 1 ? letter.toUpperCase() : letter)).join('')
      const all = await Promise.all(Array.from({ length: 50 }, (_, n) => join({ email: spelled(n) })))
      const statuses = all.map(({ status }) => status).sort()
      deepEqual(statuses, [201, ...Array(49).fill(409)])
      for (const answer of all) if (answer.status === 409) answers(answer, 409, EXISTS)
      await logIn(wanted)
    },
  )
  await check('POST /join and POST /login: an Authorization header is 400, and the message says so', () =>
    each(['/join', '/login'], async (path) => {
      const sent = { ...right, email: newEmail() }
      const answer = await send('POST', path, sent, { Authorization: 'Bearer x' })
      answers(answer, 400, error(400, /Authorization/i))
    }),
  )
}

const median = (numbers: number[]) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0

const checkLogin = async ({ send, signUp }: Service) => {
  const { email, token } = await signUp({ name: 'Ana' })
  await check('POST /login: 200 with Authorization: Bearer <JWT>, e-mail and name', async () => {
    const answer = await send('POST', '/login', { email: email.toUpperCase(), password: PASSWORD })
    answers(answer, 200, { email, name: 'Ana' })
    match(answer.headers.get('Authorization') ?? '', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/)
  })
  const part = (at: number) => JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString())
  await check('POST /login: the JWT is HS256 with iss, sub, iat, exp, jti, and nothing personal', () => {
    equal(part(0).alg, 'HS256')
    const { iss, sub, iat, exp, jti } = part(1)
    for (const claim of [iss, sub, jti]) ok(words(claim), `${claim} is no claim`)
    ok(Number.isInteger(iat) && Number.isInteger(exp) && exp > iat, `iat ${iat}, exp ${exp}`)
    for (const personal of [email, 'Ana']) equal(JSON.stringify(part(1)).includes(personal), false)
  })
  await check('GET /members/me: the scheme may be in any case; a token with one character changed is 401', async () => {
    const status = async (Authorization: string) =>
      (await send('GET', '/members/me', undefined, { Authorization })).status
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) equal(await status(`${scheme} ${token}`), 200)
    const changed = (at: number) => token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    const [header = '', payload = ''] = token.split('.')
    for (const at of [3, header.length + 3, header.length + payload.length + 4]) {
      equal(await status(`Bearer ${changed(at)}`), 401, `changed at ${at}`)
    }
  })
  await checkRefusals(
    'POST /login',
    (json) => send('POST', '/login', json),
    { email, password: PASSWORD },
    {
      email: { ...NOT_EMAIL, ...ABSENT },
      password: { ...NOT_TEXT, ...NULL, ...ABSENT, 'an empty text': '""' },
    },
  )
  await check('POST /login: only the presence of the password is checked', () =>
    each(['x', ' ', 'ö', 'a\0', '\ud800', 'x'.repeat(1000)], async (password) =>
      answers(await send('POST', '/login', { email: newEmail(), password }), 401, error(401)),
    ),
  )
  await check('POST /login: a wrong password and an unknown e-mail answer alike, after the same time', async () => {
    const attempt = async (address: string) => {
      const start = performance.now()
      const { status, text } = await send('POST', '/login', { email: address, password: 'wrong-password' })
      return { status, text, ms: performance.now() - start }
    }
    const wrong: number[] = []
    const unknown: number[] = []
    for (let n = 0; n < 5; n++) {
      const [one, other] = [await attempt(email), await attempt(newEmail())]
      deepEqual([one.status, one.text], [401, other.text])
      wrong.push(one.ms)
      unknown.push(other.ms)
    }
    const ratio = median(unknown) / median(wrong)
    ok(ratio > 0.5 && ratio < 2, `an unknown e-mail took ${ratio.toFixed(2)} times as long`)
  })
}

const checkProfile = async ({ signUp, send, changePassword, logIn }: Service) => {
  const reader = await signUp({ name: 'Ana' })
  const { email } = reader
  await check('GET /members/me: e-mail and name, and nothing else', async () =>
    answers(await reader.send('GET', '/members/me'), 200, { email, name: 'Ana' }),
  )
  await check('PATCH /members/me: changes the name alone, and answers e-mail, name, updatedAt', async () => {
    const sent = { name: 'José', email: newEmail(), updatedAt: '2000-01-01T00:00:00', memberId: 1 }
    answers(await reader.send('PATCH', '/members/me', sent), 200, { email, name: 'José', updatedAt: now })
    answers(await reader.send('GET', '/members/me'), 200, { email, name: 'José' })
    await logIn(email)
  })
  await check('PATCH /members/me: {} changes nothing and is 200', async () => {
    answers(await reader.send('PATCH', '/members/me', {}), 200, { email, name: 'José', updatedAt: now })
  })
  const patch = (body: unknown) => reader.send('PATCH', '/members/me', body)
  await checkNothingStored('PATCH /members/me', reader, () =>
    checkRefusals('PATCH /members/me', patch, {}, { name: NOT_NAME, password: NOT_PASSWORD }),
  )
  await check('PATCH /members/me: of a right name and a wrong password neither is stored', async () => {
    answers(await patch({ name: 'Other', password: 'short' }), 400, fieldErrors(['password', 'short']))
    answers(await reader.send('GET', '/members/me'), 200, { email, name: 'José' })
    await logIn(email)
  })
  await checkTexts('PATCH /members/me', 'name', patch, async () =>
    fieldOf(await reader.send('GET', '/members/me'), 'name'),
  )
  await check('PATCH /members/me: a new password signs every other device out at once, but not this one', async () => {
    const phone = await logIn(email)
    const password = 'another-horse-2'
    const answer = await changePassword(phone, password)
    answers(answer, 200)
    equal(answer.text.includes(password), false, 'the new password is in the answer')
    answers(await phone.send('GET', '/members/me'), 200)
    answers(await reader.send('GET', '/members/me'), 401, error(401))
    answers(await reader.send('PATCH', '/members/me', { password: 'stolen-horse-3' }), 401, error(401))
    answers(await send('POST', '/login', { email, password: PASSWORD }), 401, error(401))
    answers(await (await logIn(email, password)).send('GET', '/members/me'), 200)
  })
}

const checkWithdrawal = async ({ signUp, logIn, withdraw, send }: Service) => {
  const reader = await signUp()
  const { email } = reader
  const phone = await logIn(email)
  const bookId = await register(reader)
  await write(reader, bookId)
  await check('DELETE /members/me: 204, and all tokens are dead', async () => {
    answers(await withdraw(reader), 204, null)
    const paths = ['/members/me', '/memos/random', `/books/${bookId}?memoAuthority=ALL`]
    for (const { send } of [reader, phone]) {
      await each(paths, async (path) => answers(await send('GET', path), 401, error(401)))
      answers(await send('POST', '/books', { title: 'x' }), 401, error(401))
      answers(await send('DELETE', '/members/me'), 401, error(401))
    }
    answers(await send('POST', '/login', { email, password: PASSWORD }), 401, error(401))
  })
  await check('POST /join: whoever joins by that e-mail again is somebody new, with an empty library', async () => {
    const again: Member = await signUp({ email, name: 'Somebody new' })
    notEqual(again.token, reader.token)
    answers(await again.send('GET', '/members/me'), 200, { email, name: 'Somebody new' })
    for (const status of ['YET', 'ING', 'DONE']) {
      deepEqual(listed(await again.send('GET', `/books/library?page=1&size=9&bookStatus=${status}`), 'bookId'), [])
    }
    answers(await again.send('GET', '/memos/random'), 200, [])
    answers(await again.send('GET', `/books/${bookId}?memoAuthority=ALL`), 404, error(404))
    for (const old of [reader, phone]) answers(await old.send('GET', '/members/me'), 401, error(401))
  })
}

// POST /email/join goes here.
export const checkMembers = async (service: Service) => {
  await checkJoin(service)
  await checkLogin(service)
  await checkProfile(service)
  await checkWithdrawal(service)
}
