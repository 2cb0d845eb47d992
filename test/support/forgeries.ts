// Forged tokens of an attacker who has a valid token and wants to act as another member. Some are signed with the
// service's real secret, to show that a valid signature is not enough.
import * as fc from 'fast-check'

export type Claims = Record<string, unknown>
/** `hasOwnClaims`: the token claims only what the attacker's own token does, so the service may accept it as that. */
export type Forgery = { name: string; headers: [name: string, value: string][]; path?: string; hasOwnClaims?: boolean }

const BASE64URL = { alphabet: 'base64url', omitPadding: true } as const
const encoder = new TextEncoder()
const toBase64url = (bytes: Uint8Array) => bytes.toBase64(BASE64URL)
const encode = (value: unknown) =>
  toBase64url(encoder.encode(typeof value === 'string' ? value : JSON.stringify(value)))
export const claimsOf = (token: string): Claims =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(token.split('.')[1] ?? '', { alphabet: 'base64url' })))

type Secret = string | Uint8Array<ArrayBuffer>
const HEADER = { typ: 'JWT', alg: 'HS256' }

const hmac = async (secret: Secret, text: string, hash = 'SHA-256') => {
  const key = typeof secret === 'string' ? encoder.encode(secret) : secret
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign'])
  return toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text))))
}

/** Signs any claims with HMAC. */
export const signClaims = async (claims: unknown, secret: Secret, header: unknown = HEADER, hash?: string) => {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${await hmac(secret, signed, hash)}`
}

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
const KEY_PAIRS = {
  RS256: { ...RSA, name: 'RSASSA-PKCS1-v1_5' },
  PS256: { ...RSA, name: 'RSA-PSS', saltLength: 32 },
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  EdDSA: { name: 'Ed25519' },
}

/** Signs with the attacker's key pair and puts the public key into the header. */
const signWithKeyPair = async (claims: Claims, alg: keyof typeof KEY_PAIRS) => {
  const algorithm = KEY_PAIRS[alg]
  const pair = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const spki = (await crypto.subtle.exportKey('spki', pair.publicKey)) as ArrayBuffer
  const signed = `${encode({ typ: 'JWT', alg, jwk })}.${encode(claims)}`
  const signature = await crypto.subtle.sign(algorithm, pair.privateKey, encoder.encode(signed))
  const pem = `-----BEGIN PUBLIC KEY-----\n${new Uint8Array(spki).toBase64()}\n-----END PUBLIC KEY-----\n`
  return { token: `${signed}.${toBase64url(new Uint8Array(signature))}`, pem }
}

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
  const signAs = (alg: keyof typeof KEY_PAIRS) => signWithKeyPair(victim, alg)
  const [rs, ps, es, ed] = await Promise.all([signAs('RS256'), signAs('PS256'), signAs('ES256'), signAs('EdDSA')])
  // WebCrypto rejects an empty key; HMAC pads keys with zeros, so one zero byte is equivalent.
  const empty = new Uint8Array(1)
  const devNull = { ...HEADER, kid: '../../../dev/null' }
  return [
    bearer('an RSA signature by a key in the header', rs.token),
    bearer('an RSA-PSS signature by a key in the header', ps.token),
    bearer('an ECDSA signature by a key in the header', es.token),
    bearer('an Ed25519 signature by a key in the header', ed.token),
    bearer('a public key as the HMAC secret', await signClaims(victim, rs.pem)),
    bearer('an empty secret', await signClaims(victim, empty)),
    bearer('an empty secret named by kid', await signClaims(victim, empty, devNull)),
    bearer('the secret “undefined”', await signClaims(victim, 'undefined')),
    bearer('a guessed secret', await signClaims(victim, 'secret')),
    bearer('the secret without its last character', await signClaims(victim, secret.slice(0, -1))),
    bearer('SHA-384 declared as SHA-256', await signClaims(victim, secret, HEADER, 'SHA-384')),
    bearer('SHA-1 declared as SHA-256', await signClaims(victim, secret, HEADER, 'SHA-1')),
  ]
}

const withUnsupportedHeader = (victim: Claims, secret: string) => {
  const headers: [string, unknown, string?][] = [
    ['HS384', { typ: 'JWT', alg: 'HS384' }, 'SHA-384'],
    ['HS512', { typ: 'JWT', alg: 'HS512' }, 'SHA-512'],
    ['hs256 in lower case', { typ: 'JWT', alg: 'hs256' }],
    ['no type', { alg: 'HS256' }],
    ['the type of an encrypted token', { typ: 'JWE', alg: 'HS256' }],
    ['a nested token', { ...HEADER, cty: 'JWT' }],
    ['a critical extension', { ...HEADER, crit: ['exp'], exp: 0 }],
    ['an unencoded payload', { ...HEADER, crit: ['b64'], b64: false }],
    ['a kid that is a path', { ...HEADER, kid: '../../../../etc/passwd' }],
    ['a kid that is SQL', { ...HEADER, kid: `' union select 'secret` }],
    ['a jku', { ...HEADER, jku: 'https://evil.example/keys.json' }],
    ['a jwk', { ...HEADER, jwk: { kty: 'oct', k: encode('secret') } }],
    ['an x5u', { ...HEADER, x5u: 'https://evil.example/cert.pem' }],
    ['an x5c', { ...HEADER, x5c: ['MIIB'] }],
    ['a zip', { ...HEADER, zip: 'DEF' }],
  ]
  return headers.map(async ([name, header, hash]) =>
    bearer(`a header with ${name}`, await signClaims(victim, secret, header, hash)),
  )
}

const withInvalidClaims = (victim: Claims, secret: string) => {
  const now = Math.floor(Date.now() / 1000)
  const changes: [string, Claims][] = [
    ...['iss', 'sub', 'iat', 'exp', 'jti', 'ver'].map((claim): [string, Claims] => [
      `no ${claim}`,
      { [claim]: undefined },
    ]),
    ['another issuer', { iss: 'https://evil.example' }],
    ['a list of issuers', { iss: ['reading-library'] }],
    ['a numeric subject', { sub: Number(victim.sub) }],
    ['a subject in a list', { sub: [victim.sub] }],
    ['a subject with a leading space', { sub: ` ${victim.sub}` }],
    ['a subject with a leading zero', { sub: `0${victim.sub}` }],
    ['a subject with an exponent', { sub: `${victim.sub}e0` }],
    ['a subject that is SQL', { sub: `${victim.sub} or 1=1` }],
    ['subject 0', { sub: '0' }],
    ['a negative subject', { sub: '-1' }],
    ['a subject beyond safe integers', { sub: '9'.repeat(17) }],
    ['an expiry in the past', { exp: now - 1 }],
    ['an expiry that is a word', { exp: 'never' }],
    ['an expiry that is a string of digits', { exp: String(now + 9999) }],
    ['a fractional expiry', { exp: now + 9999.5 }],
    ['an expiry beyond safe integers', { exp: 1e300 }],
    ['an expiry of null', { exp: null }],
    ['an issue date of 1970', { iat: 0 }],
    ['an invalid identifier', { jti: `' or ''='` }],
    ['a future version', { ver: 7 }],
    ['a negative version', { ver: -1 }],
    ['a version that is a string', { ver: '0' }],
    ['an unknown claim', { admin: true }],
    ['a prototype', JSON.parse('{"__proto__":{"sub":"1"}}')],
  ]
  return changes.map(async ([name, changed]) => {
    const claims = Object.assign(Object.create(null), victim)
    // Assignment would set the prototype instead of a claim named __proto__.
    for (const [claim, value] of Object.entries(changed)) {
      Object.defineProperty(claims, claim, { value, enumerable: true })
    }
    return bearer(`claims with ${name}`, await signClaims(claims, secret))
  })
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
  const otherHeaders: Forgery['headers'] = [
    ['Proxy-Authorization', `Bearer ${own}`],
    ['X-Authorization', `Bearer ${own}`],
  ]
  return [
    ...authorization.map(
      ([name, ...values]): Forgery => ({
        name,
        headers: values.map((value) => ['Authorization', value]),
      }),
    ),
    { name: 'a token in the query', headers: [], path: `/members/me?access_token=${own}&token=${own}` },
    { name: 'a token in a cookie', headers: [['Cookie', `Authorization=Bearer ${own}; token=${own}`]] },
    { name: 'a token in other headers', headers: otherHeaders },
  ]
}

/** Known attacks on tokens. Each must be answered with 401. */
export const namedForgeries = async (own: string, victimToken: string, secret: string): Promise<Forgery[]> => {
  const victim = claimsOf(victimToken)
  const forged = await signClaims(victim, 'a secret that the service does not have, long enough')
  return [
    ...unsigned(victim, own),
    ...(await withWrongKey(victim, secret)),
    ...(await Promise.all(withUnsupportedHeader(victim, secret))),
    ...(await Promise.all(withInvalidClaims(victim, secret))),
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

/** Random mutations of a token; the same ones for the same seed. */
export const mutateToken = (own: string, count: number, seed: number) =>
  fc.sample(
    mutation(own).filter((token) => token.trim() !== own),
    { numRuns: count, seed },
  )

/** Whether a mutated token still has exactly the same claims, so that the service may accept it. */
export const hasSameClaims = (token: string, own: string) => {
  try {
    return JSON.stringify(claimsOf(token)) === JSON.stringify(claimsOf(own))
  } catch {
    return false
  }
}
