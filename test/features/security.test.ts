import { env } from 'cloudflare:workers'
import { sign } from '@tsndr/cloudflare-worker-jwt'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, join, login, newEmail, type Reader, send, signUp, tokenOf } from '../support/api'
import { document } from '../support/document'

let owner: Reader
let stranger: Reader
let bookId: number
let memoId: number
beforeAll(async () => {
  owner = await signUp()
  stranger = await signUp()
  bookId = (await owner.registers()).bookId
  memoId = (await owner.writes(bookId)).memoId
})

type Request = [method: string, path: string, body?: unknown]

const memo = { memoBookPage: 1, memoContent: 'x' }
/** Every route that names a thing, for the things of these identifiers. */
const idRoutes = (book: number, memoOf: number): Request[] => [
  ['GET', `/books/${book}?memoAuthority=ALL`],
  ['GET', `/books/${book}/memos?memoType=ALL&page=1&size=10`],
  ['PATCH', `/books/${book}`, { star: 1 }],
  ['PATCH', `/books/${book}`, {}],
  ['DELETE', `/books/${book}`],
  ['PATCH', `/books/created-date/${book}`, '2020-01-01T00:00:00'],
  ['POST', `/memos?bookId=${book}`, memo],
  ['PATCH', `/memos/${memoOf}`, { memoContent: 'theirs' }],
  ['PATCH', `/memos/${memoOf}`, {}],
  ['DELETE', `/memos/${memoOf}`],
]

/** Every route that needs a token, from the document itself. */
const memberRoutes: Request[] = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { security?: object[] }>)
    .filter(([, operation]) => operation.security?.length)
    .map(([method]): Request => [method.toUpperCase(), path.replace(/\{[^}]+\}/, '1')]),
)

const everything = async () => {
  const tables = await env.DB.batch(['books', 'memos'].map((table) => env.DB.prepare(`select * from ${table}`)))
  return tables.map(({ results }) => results)
}

describe('another member’s things', () => {
  const headersOf = ({ headers }: Answer) => [...headers].filter(([name]) => name !== 'x-request-id')

  it('are, to the byte, as if they were not there, and stay as they are', async () => {
    const before = await everything()
    const theirs = idRoutes(bookId, memoId)
    const nobodys = idRoutes(999_999, 999_999)
    for (const [at, [method, path, body]] of theirs.entries()) {
      const answer = await stranger.send(method, path, { body })
      const [, absentPath, absentBody] = nobodys[at] ?? ['', '']
      const absent = await stranger.send(method, absentPath, { body: absentBody })
      expect(answer.status, `${method} ${path}`).toBe(404)
      expect(answer.body, `${method} ${path}`).toEqual(absent.body)
      expect(headersOf(answer), `${method} ${path}`).toEqual(headersOf(absent))
    }
    expect(await everything()).toEqual(before)
  })

  it('show in no view of anybody else', async () => {
    for (const view of ['library?bookStatus=YET&', 'calender?', 'abandon?', 'memo-books?']) {
      expect((await stranger.get(`/books/${view}page=1&size=10`)).body.item).toEqual([])
    }
    expect((await stranger.get('/memos/random')).body).toEqual([])
  })
})

describe('without a token that is good', () => {
  it('knows the routes to try', () => {
    expect(memberRoutes.length).toBeGreaterThanOrEqual(17)
  })

  it.each(memberRoutes)('%s %s answers 401', async (method, path) => {
    const before = await everything()
    for (const value of [undefined, 'Bearer', `Basic ${owner.token}`]) {
      const answer = await send(method, path, value === undefined ? {} : { headers: { Authorization: value } })
      expect(answer).toMatchObject({ status: 401, body: { status: 401, fieldErrors: null } })
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer')
    }
    expect(await everything()).toEqual(before)
  })

  it('nothing can be done by the token of somebody who withdrew, or whose password changed', async () => {
    const gone = await signUp()
    await gone.delete('/members/me')
    const leaver = await signUp()
    const phone = await leaver.logsInAgain()
    const things = idRoutes((await leaver.registers()).bookId, memoId)
    await leaver.patch('/members/me', { password: 'changed-password' })
    const before = await everything()
    for (const reader of [gone, phone]) {
      for (const [method, path, body] of [
        ...things,
        ['POST', '/books', { title: 'x' }] as Request,
        ['GET', '/books/library?page=1&size=1&bookStatus=YET'] as Request,
        ['GET', '/books/calender?page=1&size=1'] as Request,
        ['GET', '/books/abandon?page=1&size=1'] as Request,
        ['GET', '/books/memo-books?page=1&size=1'] as Request,
        ['GET', '/memos/random'] as Request,
        ['GET', '/members/me'] as Request,
        ['PATCH', '/members/me', { name: 'x' }] as Request,
        ['DELETE', '/members/me'] as Request,
      ]) {
        expect((await reader.send(method, path, { body })).status, `${method} ${path}`).toBe(401)
      }
    }
    expect(await everything()).toEqual(before)
  })
})

describe('a token', () => {
  const claimsOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? ''))
  const status = async (token: string) =>
    (await send('GET', '/members/me', { headers: { Authorization: `Bearer ${token}` } })).status
  const base64url = (value: unknown) =>
    btoa(JSON.stringify(value)).replace(/=/g, '').replace(/\+/g, '-').replace(/\//g, '_')

  it('tells who and until when, and nothing personal', async () => {
    const claims = claimsOf(owner.token)
    expect(Object.keys(claims).sort()).toEqual(['exp', 'iat', 'iss', 'jti', 'sub', 'ver'])
    expect(claims.exp - claims.iat).toBe(604_800)
  })

  it('is taken under any spelling of the scheme', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      const answer = await send('GET', '/members/me', { headers: { Authorization: `${scheme} ${owner.token}` } })
      expect(answer.status).toBe(200)
    }
  })

  it.each([
    ['of another issuer', { iss: 'somebody' }],
    ['that never ends', { exp: undefined }],
    ['that is over', { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['whose end is a word', { exp: 'never' }],
    ['whose end is a fraction', { exp: 4e9 + 0.5 }],
    ['of a member that is a number', { sub: 1 }],
    ['of a member that is SQL', { sub: '1 or 1=1' }],
    ['without an identifier', { jti: undefined }],
    ['without a version', { ver: undefined }],
    ['of a version to come', { ver: 7 }],
    ['with a claim that is not ours', { admin: true }],
  ])('%s is refused, though well signed', async (_, changed) => {
    const token = await sign({ ...claimsOf(owner.token), ...changed }, env.JWT_SECRET ?? '', { algorithm: 'HS256' })
    expect(await status(token)).toBe(401)
  })

  it('is refused when forged', async () => {
    const [header = '', payload = '', signature = ''] = owner.token.split('.')
    const claims = claimsOf(owner.token)
    const signed = (algorithm: 'HS384' | 'HS512' | 'HS256', extra = {}, secret = env.JWT_SECRET ?? '') =>
      sign(claims, secret, { algorithm, header: extra })
    const none = ['none', 'None', 'NONE', 'nOnE', ''].flatMap((alg) => {
      const unsigned = `${base64url({ typ: 'JWT', alg })}.${payload}`
      return [unsigned, `${unsigned}.`, `${unsigned}.${signature}`]
    })
    const forged = [
      ...none,
      await signed('HS384'),
      await signed('HS512'),
      await signed('HS256', { crit: ['exp'] }),
      await signed('HS256', { kid: '../../dev/null' }),
      await signed('HS256', { jku: 'https://evil.example/keys' }),
      await signed('HS256', {}, 'a secret that somebody else made up, long enough'),
      `${header}.${base64url({ ...claims, sub: '999' })}.${signature}`,
      `${owner.token}.${signature}`,
      `${owner.token}=`,
      `${header}.${payload}`,
      `${header}..${signature}`,
      '..',
      `${header}.${payload}.${'A'.repeat(43)}`,
      'x'.repeat(8000),
    ]
    for (const token of forged) expect(await status(token), token.slice(0, 200)).toBe(401)
    expect(await status(owner.token)).toBe(200)
  })

  it('outlives a rotation of the secret while the previous one is kept', async () => {
    const rotated = { JWT_SECRET: 'the next secret, after the rotation of the old' }
    const { app } = await import('../../src/app')
    const ask = async (variables: object) => {
      const headers = { Authorization: `Bearer ${owner.token}` }
      return (await app.request('/members/me', { headers }, { ...env, ...variables })).status
    }
    expect(await ask({ ...rotated, JWT_SECRET_PREVIOUS: env.JWT_SECRET })).toBe(200)
    expect(await ask({ ...rotated, JWT_SECRET_PREVIOUS: '' })).toBe(401)
  })

  it('of somebody who left is dead for whoever joins by that e-mail later', async () => {
    const email = newEmail()
    await join({ email })
    const old = tokenOf(await login(email))
    await send('DELETE', '/members/me', { headers: { Authorization: `Bearer ${old}` } })
    await join({ email })
    expect(await status(old)).toBe(401)
  })
})
