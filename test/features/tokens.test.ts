import { env } from 'cloudflare:workers'
import { sign } from '@tsndr/cloudflare-worker-jwt'
import { beforeAll, expect, it } from 'vitest'
import { join, login, newEmail, type Reader, send, signUp, tokenOf } from '../support/api'

let owner: Reader
beforeAll(async () => {
  owner = await signUp()
})

const claimsOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? ''))
const statusOf = async (token: string) =>
  (await send('GET', '/members/me', { headers: { Authorization: `Bearer ${token}` } })).status
const base64url = (value: unknown) =>
  btoa(JSON.stringify(value)).replace(/=/g, '').replace(/\+/g, '-').replace(/\//g, '_')

it('names the member and its expiry, and nothing personal', async () => {
  const claims = claimsOf(owner.token)
  expect(Object.keys(claims).sort()).toEqual(['exp', 'iat', 'iss', 'jti', 'sub', 'ver'])
  expect(claims.exp - claims.iat).toBe(604_800)
})

it('accepts any spelling of the scheme', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
    const answer = await send('GET', '/members/me', { headers: { Authorization: `${scheme} ${owner.token}` } })
    expect(answer.status).toBe(200)
  }
})

it.each([
  ['from another issuer', { iss: 'another-service' }],
  ['without an expiry', { exp: undefined }],
  ['that has expired', { exp: Math.floor(Date.now() / 1000) - 1 }],
  ['whose expiry is a word', { exp: 'never' }],
  ['whose expiry is a fraction', { exp: 4e9 + 0.5 }],
  ['whose subject is a number', { sub: 1 }],
  ['whose subject is SQL', { sub: '1 or 1=1' }],
  ['without an identifier', { jti: undefined }],
  ['without a version', { ver: undefined }],
  ['of a future version', { ver: 7 }],
  ['with an unknown claim', { admin: true }],
])('rejects a correctly signed token %s', async (_, changed) => {
  const token = await sign({ ...claimsOf(owner.token), ...changed }, env.JWT_SECRET ?? '', { algorithm: 'HS256' })
  expect(await statusOf(token)).toBe(401)
})

it('rejects forged tokens', async () => {
  const [header = '', payload = '', signature = ''] = owner.token.split('.')
  const claims = claimsOf(owner.token)
  const signed = (algorithm: 'HS384' | 'HS512' | 'HS256', extra = {}, secret = env.JWT_SECRET ?? '') =>
    sign(claims, secret, { algorithm, header: extra })
  const unsigned = ['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => {
    const signedPart = `${base64url({ typ: 'JWT', alg })}.${payload}`
    return [signedPart, `${signedPart}.`, `${signedPart}.${signature}`]
  })
  const forged = [
    ...unsigned,
    await signed('HS384'),
    await signed('HS512'),
    await signed('HS256', { crit: ['exp'] }),
    await signed('HS256', { kid: '../../dev/null' }),
    await signed('HS256', { jku: 'https://evil.example/keys' }),
    await signed('HS256', {}, 'a secret that the service does not have, long enough'),
    `${header}.${base64url({ ...claims, sub: '999' })}.${signature}`,
    `${owner.token}.${signature}`,
    `${owner.token}=`,
    `${header}.${payload}`,
    `${header}..${signature}`,
    '..',
    `${header}.${payload}.${'A'.repeat(43)}`,
    'x'.repeat(8000),
  ]
  for (const token of forged) expect(await statusOf(token), token.slice(0, 200)).toBe(401)
  expect(await statusOf(owner.token)).toBe(200)
})

it('accepts a token after a rotation of the secret only while the previous secret is kept', async () => {
  const rotated = { JWT_SECRET: 'the next secret, after the rotation of the old' }
  const { app } = await import('../../src/app')
  const statusWith = async (variables: object) => {
    const headers = { Authorization: `Bearer ${owner.token}` }
    return (await app.request('/members/me', { headers }, { ...env, ...variables })).status
  }
  expect(await statusWith({ ...rotated, JWT_SECRET_PREVIOUS: env.JWT_SECRET })).toBe(200)
  expect(await statusWith({ ...rotated, JWT_SECRET_PREVIOUS: '' })).toBe(401)
})

it('rejects a withdrawn member’s token after the e-mail signs up again', async () => {
  const email = newEmail()
  await join({ email })
  const old = tokenOf(await login(email))
  await send('DELETE', '/members/me', { headers: { Authorization: `Bearer ${old}` } })
  await join({ email })
  expect(await statusOf(old)).toBe(401)
})
