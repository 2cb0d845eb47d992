// Forged tokens of an attacker who has a valid token and wants to act as another member. Some are signed with the
// service's real secret, to show that a valid signature is not enough.
import * as fc from 'fast-check'
import { type Claims, claimsOf, encode, HEADER, KEY_PAIRS, type Secret, signClaims, signWithKeyPair } from '../tokens'

/** `hasOwnClaims`: the token claims only what the attacker's own token does, so the service may accept it as that. */
type Forgery = { name: string; headers: [name: string, value: string][]; path?: string; hasOwnClaims?: boolean }

const bearer = (name: string, token: string): Forgery => ({ name, headers: [['Authorization', `Bearer ${token}`]] })

const NONE = ['none', 'None', 'NONE', 'nOnE', ' none', 'none\0', '', null, false, 0, [], ['HS256'], { alg: 'HS256' }]

const unsigned = (victim: Claims, own: string): Forgery[] => {
  const [header = '', , signature = ''] = own.split('.')
  const payload = encode(victim)
  const none = encode({ typ: 'JWT', alg: 'none' })
  return [
    ...NONE.map((alg) => bearer(`algorithm ${JSON.stringify(alg)}`, `${encode({ typ: 'JWT', alg })}.${payload}.`)),
    bearer('no algorithm', `${encode({ typ: 'JWT' })}.${payload}.`),
    bearer('two algorithms, the first one none', `${encode('{"typ":"JWT","alg":"none","alg":"HS256"}')}.${payload}.`),
    bearer('algorithm none, with a signature', `${none}.${payload}.${signature}`),
    bearer('algorithm none, two parts', `${none}.${payload}`),
    bearer('no signature', `${header}.${payload}.`),
    bearer('a signature of zeros', `${header}.${payload}.${'A'.repeat(43)}`),
    bearer('the signature of the attacker’s own token', `${header}.${payload}.${signature}`),
    bearer('a header that is not an object', `${encode('null')}.${payload}.${signature}`),
    bearer('a header that is not JSON', `${encode('HS256')}.${payload}.${signature}`),
    bearer('a payload that is not an object', `${header}.${encode('[]')}.${signature}`),
    bearer('an empty payload', `${header}..${signature}`),
    bearer('only dots', '..'),
  ]
}

const withWrongKey = async (victim: Claims, secret: string): Promise<Forgery[]> => {
  const algorithms = Object.keys(KEY_PAIRS) as (keyof typeof KEY_PAIRS)[]
  const signed = await Promise.all(algorithms.map((alg) => signWithKeyPair(victim, alg)))
  // WebCrypto rejects an empty key; HMAC pads keys with zeros, so one zero byte is equivalent.
  const empty = new Uint8Array(1)
  const secrets: [name: string, secret: Secret, header?: object, hash?: string][] = [
    ['a public key as the HMAC secret', signed[0]?.pem ?? ''],
    ['an empty secret', empty],
    ['an empty secret named by kid', empty, { ...HEADER, kid: '../../../dev/null' }],
    ['the secret “undefined”', 'undefined'],
    ['a guessed secret', 'secret'],
    ['the secret without its last character', secret.slice(0, -1)],
    ['SHA-384 declared as SHA-256', secret, HEADER, 'SHA-384'],
    ['SHA-1 declared as SHA-256', secret, HEADER, 'SHA-1'],
  ]
  return [
    ...signed.map(({ token }, at) => bearer(`an ${algorithms[at]} signature by a key in the header`, token)),
    ...(await Promise.all(secrets.map(async ([name, ...rest]) => bearer(name, await signClaims(victim, ...rest))))),
  ]
}

const withUnsupportedHeader = (victim: Claims, secret: string) => {
  const headers: [header: object, hash?: string][] = [
    [{ ...HEADER, alg: 'HS384' }, 'SHA-384'],
    [{ ...HEADER, alg: 'HS512' }, 'SHA-512'],
    [{ ...HEADER, alg: 'hs256' }],
    [{ alg: 'HS256' }],
    [{ ...HEADER, typ: 'JWE' }],
    [{ ...HEADER, cty: 'JWT' }],
    [{ ...HEADER, crit: ['exp'], exp: 0 }],
    [{ ...HEADER, crit: ['b64'], b64: false }],
    [{ ...HEADER, kid: '../../../../../etc/passwd' }],
    [{ ...HEADER, kid: `' union select 'secret` }],
    [{ ...HEADER, jku: 'https://evil.example/keys.json' }],
    [{ ...HEADER, jwk: { kty: 'oct', k: encode('secret') } }],
    [{ ...HEADER, x5u: 'https://evil.example/cert.pem' }],
    [{ ...HEADER, x5c: ['MIIB'] }],
    [{ ...HEADER, zip: 'DEF' }],
  ]
  return headers.map(async ([header, hash]) =>
    bearer(`the header ${JSON.stringify(header)}`, await signClaims(victim, secret, header, hash)),
  )
}

const withInvalidClaims = (victim: Claims, own: Claims, secret: string) => {
  const now = Math.floor(Date.now() / 1000)
  const { sub } = victim
  const invalid: [claim: string, ...values: unknown[]][] = [
    ['iss', undefined, 'https://evil.example', ['reading-library']],
    ['sub', undefined, Number(sub), [sub], ` ${sub}`, `0${sub}`, `${sub}e0`, `${sub} or 1=1`],
    ['sub', '0', '-1', '9'.repeat(17)],
    ['iat', undefined, 0],
    ['exp', undefined, now - 1, 'never', String(now + 9999), now + 9999.5, 1e300, null],
    ['sid', undefined, null, `' or ''='`, own.sid, crypto.randomUUID(), [victim.sid], `${victim.sid}`.slice(0, -1)],
    // Claims of the releases before sessions.
    ['jti', victim.sid],
    ['ver', 0],
    ['admin', true],
    ['__proto__', { sub: '1' }],
  ]
  return invalid.flatMap(([claim, ...values]) =>
    values.map(async (value) =>
      bearer(`the claim ${claim}: ${JSON.stringify(value)}`, await signClaims({ ...victim, [claim]: value }, secret)),
    ),
  )
}

const withUnusualSyntax = (own: string): Forgery[] => {
  const [header = '', payload = '', signature = ''] = own.split('.')
  const standard = (part: string) => part.replaceAll('-', '+').replaceAll('_', '/')
  const variants: [string, string][] = [
    ['a fourth part', `${own}.${signature}`],
    ['the five parts of an encrypted token', `${own}.${payload}.${signature}`],
    ['padding', `${own}=`],
    ['standard base64', `${standard(header)}==.${standard(payload)}==.${standard(signature)}=`],
    ['a leading dot', `.${own}`],
    ['a space inside', `${header}. ${payload}.${signature}`],
    ['percent-encoded dots', own.replaceAll('.', '%2E')],
    ['an upper-case signature', `${header}.${payload}.${signature.toUpperCase()}`],
    ['half a signature', own.slice(0, -21)],
    ['a signature twice as long', `${own}${signature}`],
    ['the JSON serialization', JSON.stringify({ protected: header, payload, signature })],
  ]
  return [
    ...variants.map(([name, token]) => ({ ...bearer(name, token), hasOwnClaims: true })),
    bearer('a signature of 8,000 characters', `${header}.${payload}.${'A'.repeat(8_000)}`),
    bearer('claims of 30,000 characters', `${header}.${encode({ sub: '1', pad: 'x'.repeat(30_000) })}.${signature}`),
    bearer('10,000 dots', '.'.repeat(10_000)),
  ]
}

const inOtherPlaces = (own: string, forged: string): Forgery[] => {
  const authorization: [string, ...string[]][] = [
    ['no scheme', forged],
    ['another scheme', `Token ${forged}`],
    ['basic authentication', `Basic ${btoa(`x:${forged}`)}`],
    ['the scheme twice', `Bearer Bearer ${forged}`],
    ['the scheme alone', 'Bearer'],
    ['an empty header', ''],
    ['the attacker’s own header, then a forged one', `Bearer ${own}`, `Bearer ${forged}`],
    ['a forged header, then the attacker’s own', `Bearer ${forged}`, `Bearer ${own}`],
    ['two tokens in one header', `Bearer ${own}, Bearer ${forged}`],
  ]
  const otherHeaders = ['Proxy-Authorization', 'X-Authorization']
  return [
    ...authorization.map(([name, ...values]): Forgery => {
      return { name, headers: values.map((value) => ['Authorization', value]) }
    }),
    { name: 'a token in the query', headers: [], path: `/members/me?access_token=${own}&token=${own}` },
    { name: 'a token in a cookie', headers: [['Cookie', `Authorization=Bearer ${own}; token=${own}`]] },
    { name: 'a token in other headers', headers: otherHeaders.map((name) => [name, `Bearer ${own}`]) },
  ]
}

const namedForgeries = async (own: string, victimToken: string, secret: string): Promise<Forgery[]> => {
  const victim = claimsOf(victimToken)
  const forged = await signClaims(victim, 'a secret that the service does not have, long enough')
  return [
    ...unsigned(victim, own),
    ...(await withWrongKey(victim, secret)),
    ...(await Promise.all([
      ...withUnsupportedHeader(victim, secret),
      ...withInvalidClaims(victim, claimsOf(own), secret),
    ])),
    ...withUnusualSyntax(own),
    ...inOtherPlaces(own, forged),
  ]
}

const VISIBLE = fc.mapToConstant({ num: 94, build: (n) => String.fromCharCode(33 + n) })
const DIGITS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']

/** One change to a token: to its characters, to its parts, or to its claims under the same signature. */
const mutation = (own: string) => {
  const claims = claimsOf(own)
  const [header = '', payload = '', signature = ''] = own.split('.')
  const index = fc.nat(own.length - 1)
  const json = fc.jsonValue({ maxDepth: 2 })
  const claim = fc
    .tuple(fc.constantFrom(...Object.keys(claims)), fc.oneof(json, fc.nat().map(String), fc.nat()))
    .map(([name, value]) => `${header}.${encode({ ...claims, [name]: value })}.${signature}`)
  const splice = (inserted: fc.Arbitrary<string>, deleted: number) =>
    fc.tuple(index, inserted).map(([at, text]) => own.slice(0, at) + text + own.slice(at + deleted))
  return fc.oneof(
    { weight: 5, arbitrary: splice(fc.constantFrom(...DIGITS), 1) },
    splice(VISIBLE, 1),
    splice(VISIBLE, 0),
    splice(fc.constant(''), 1),
    splice(fc.string({ minLength: 1, maxLength: 20, unit: VISIBLE }), 5),
    fc.tuple(index, index).map(([from, to]) => own.slice(Math.min(from, to), Math.max(from, to))),
    fc.shuffledSubarray([header, payload, signature, '', 'e30'], { minLength: 1 }).map((parts) => parts.join('.')),
    { weight: 3, arbitrary: claim },
    fc.tuple(json, json).map(([head, body]) => `${encode(head)}.${encode(body)}.${signature}`),
    fc.constantFrom(own.toUpperCase(), own.toLowerCase(), [...own].reverse().join(''), `${own}\t`, `"${own}"`),
  )
}

const hasSameClaims = (token: string, own: string) => {
  try {
    return JSON.stringify(claimsOf(token)) === JSON.stringify(claimsOf(own))
  } catch {
    return false
  }
}

type Response = { status: number; body: unknown }
type Send = (headers: Forgery['headers'], path?: string) => Promise<Response>
type Attacker = { email: string; token: string }

const isAttacker = ({ email }: Attacker, { status, body }: Response) =>
  status === 200 && (body as { email?: string }).email === email

/** Sends every known forgery to the profile of the caller. Each must be refused. */
export const tryForgeries = async (send: Send, attacker: Attacker, victimToken: string, secret: string) => {
  const forgeries = await namedForgeries(attacker.token, victimToken, secret)
  const failures: string[] = []
  for (const { name, headers, path, hasOwnClaims } of forgeries) {
    const response = await send(headers, path)
    if (response.status === 401 || (hasOwnClaims && isAttacker(attacker, response))) continue
    failures.push(`${name}: ${response.status} ${JSON.stringify(response.body)}`)
  }
  return { count: forgeries.length, failures }
}

/** Sends random mutations of the attacker's token; the same ones for the same seed. */
export const tryMutations = async (send: Send, attacker: Attacker, numRuns: number, seed: number) => {
  const changed = mutation(attacker.token).filter((token) => token.trim() !== attacker.token)
  let sameClaims = 0
  const failures: string[] = []
  for (const token of fc.sample(changed, { numRuns, seed })) {
    const response = await send([['Authorization', `Bearer ${token}`]])
    if (response.status === 401) continue
    if (isAttacker(attacker, response) && hasSameClaims(token, attacker.token)) sameClaims += 1
    else failures.push(`mutated token: ${response.status} for ${token}`)
  }
  return { sameClaims, failures }
}
