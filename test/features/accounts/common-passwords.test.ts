// @module-tag one-slot
import { env } from 'cloudflare:workers'
import { dictionary } from '@zxcvbn-ts/language-common'
import { expect, it, vi } from 'vitest'
import { requireUncommon } from '../../../src/accounts/passwords/common-passwords'
import { type Bindings, type Config, configure } from '../../../src/env'
import type { ApiError } from '../../../src/errors'
import { type Answer, newEmail, send, signUp } from '../../support/api'
import { measure } from '../../support/database'

const ON = { REFUSE_COMMON_PASSWORDS: 'on' }
const REFUSED = {
  status: 400,
  body: { fieldErrors: [{ field: 'password', reason: 'is one of the most common passwords' }] },
}

const signUpWith = (password: string, changed: Partial<Bindings>) =>
  send('POST', '/join', {
    body: { email: newEmail(), name: 'Reader', password, authenticationCode: '123456' },
    changed,
  })

/** The answer to a request that must not call the database. */
const withoutDatabase = async (request: () => Promise<Answer>) => {
  let answer: Answer | undefined
  const { calls } = await measure(async () => {
    answer = await request()
  })
  expect(calls).toBe(0)
  return answer
}

it.each(['password', 'PassWord', 'qwerty123', 'ILOVEYOU'])(
  'refuses to sign up with %s if the setting is on',
  async (password) => {
    const answer = await withoutDatabase(() => signUpWith(password, ON))
    expect(answer).toMatchObject(REFUSED)
    expect((await signUpWith(`${password}-of-mine`, ON)).status).toBe(201)
  },
)

it('allows common passwords by default', async () => {
  expect(configure(env).REFUSE_COMMON_PASSWORDS).toBe('off')
  expect((await signUpWith('password', {})).status).toBe(201)
})

it('refuses a change to a common password before any database call', async () => {
  const reader = await signUp()
  const patch = (body: object) => reader.send('PATCH', '/members/me', { body, changed: ON })
  const answer = await withoutDatabase(() => patch({ name: 'Mina', password: '123456' }))
  expect(answer).toMatchObject(REFUSED)
  expect((await reader.get('/members/me')).body.name).not.toBe('Mina')
  expect((await patch({ name: 'Mina' })).status).toBe(200)
  expect((await patch({ password: 'not-so-common-1' })).status).toBe(200)
})

it.each([
  ['is missing', async () => new Response(null, { status: 404 })],
  ['is cut off', async () => new Response(new Uint8Array(39_996))],
  ['cannot be read', () => Promise.reject(new Error('network'))],
])('answers 503 while the list %s, and recovers', async (_, fail) => {
  using error = vi.spyOn(console, 'error').mockImplementation(() => {})
  let isBroken = true
  const fetch = (input: string) => (isBroken ? fail() : env.ASSETS.fetch(input))
  const changed = { ...ON, ASSETS: { fetch } as unknown as Fetcher }
  const answer = await withoutDatabase(() => signUpWith('not-so-common-1', changed))
  expect(answer?.status).toBe(503)
  expect(error.mock.calls.join()).toContain('UNAVAILABLE: common passwords: ')
  isBroken = false
  expect(await signUpWith('password', changed)).toMatchObject(REFUSED)
})

it('reads the list once per isolate', async () => {
  const fetch = vi.fn((input: string) => env.ASSETS.fetch(input))
  const changed = { ...ON, ASSETS: { fetch } as unknown as Fetcher }
  for (const password of ['password', '123456', 'dragon']) await signUpWith(password, changed)
  expect(fetch).toHaveBeenCalledTimes(1)
})

const isRefused = async (password: string) => {
  const config = { ...configure(env), REFUSE_COMMON_PASSWORDS: 'on' } satisfies Config
  try {
    await requireUncommon(env, config, password)
    return false
  } catch (error) {
    if ((error as ApiError).code === 'INVALID_FIELDS') return true
    throw error
  }
}
const countRefused = async (passwords: string[]) => {
  let refused = 0
  for (const password of passwords) if (await isRefused(password)) refused++
  return refused
}

it('refuses each of the 10,000 most common passwords, and hardly any other', { tags: ['slow'] }, async () => {
  const list = dictionary['passwords-common'].filter(({ length }) => length >= 6)
  const common = list.slice(0, 10_000)
  expect(common.slice(0, 4)).toEqual(['123456', 'password', '12345678', 'qwerty'])
  expect(await countRefused(common)).toBe(10_000)
  // One in 430,000 is expected.
  const random = Array.from({ length: 100_000 }, () => crypto.randomUUID().slice(0, 13))
  expect(await countRefused([...random, ...list.slice(10_000)])).toBeLessThanOrEqual(5)
})
