import * as fc from 'fast-check'

// Tokens that somebody made who has one of their own, and wants another's. Some are signed by the service's own secret: so it is seen
// that a good signature alone is not enough.

export type Claims = Record<string, unknown>
/** The `Authorization` headers to send, and elsewhere to look for a token. `isSame`: nothing is claimed but what is true. */
export type Forgery = { name: string; headers: [name: string, value: string][]; path?: string; isSame?: boolean }

const encoder = new TextEncoder()
const toBase64url = (bytes: Uint8Array) => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
const encode = (value: unknown) =>
  toBase64url(encoder.encode(typeof value === 'string' ? value : JSON.stringify(value)))
export const claimsOf = (token: string): Claims =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(token.split('.')[1] ?? '', { alphabet: 'base64url' })))

const HEADER = { typ: 'JWT', alg: 'HS256' }

const hmac = async (secret: string | Uint8Array<ArrayBuffer>, text: string, hash = 'SHA-256') => {
  const key = typeof secret === 'string' ? encoder.encode(secret) : secret
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash }, false, ['sign'])
  return toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(text))))
}

/** A token by HMAC, whatever it claims. */
export const signClaims = async (
  claims: unknown,
  secret: string | Uint8Array<ArrayBuffer>,
  header: unknown = HEADER,
  hash?: string,
) => {
  const signed = `${encode(header)}.${encode(claims)}`
  return `${signed}.${await hmac(secret, signed, hash)}`
}

const PAIRS = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
  PS256: {
    name: 'RSA-PSS',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
    saltLength: 32,
  },
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  EdDSA: { name: 'Ed25519' },
}

/** Signed by a key pair of the forger's own, which the header offers. */
const signByPair = async (claims: Claims, alg: keyof typeof PAIRS) => {
  const algorithm = PAIRS[alg]
  const pair = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const spki = (await crypto.subtle.exportKey('spki', pair.publicKey)) as ArrayBuffer
  const signed = `${encode({ typ: 'JWT', alg, jwk })}.${encode(claims)}`
  const signature = await crypto.subtle.sign(algorithm, pair.privateKey, encoder.encode(signed))
  const pem = `-----BEGIN PUBLIC KEY-----\n${new Uint8Array(spki).toBase64()}\n-----END PUBLIC KEY-----\n`
  return { token: `${signed}.${toBase64url(new Uint8Array(signature))}`, pem }
}

const bearer = (name: string, token: string): Forgery => ({ name, headers: [['Authorization', `Bearer ${token}`]] })

const unsigned = (victim: Claims, own: string): Forgery[] => {
  const [header = '', , signature = ''] = own.split('.')
  const payload = encode(victim)
  const spelled = [
    'none',
    'None',
    'NONE',
    'nOnE',
    ' none',
    'none\0',
    '',
    null,
    false,
    0,
    [],
    ['HS256'],
    { alg: 'HS256' },
  ]
  return [
    ...spelled.map((alg) =>
      bearer(`the algorithm ${JSON.stringify(alg)}`, `${encode({ typ: 'JWT', alg })}.${payload}.`),
    ),
    bearer('no algorithm at all', `${encode({ typ: 'JWT' })}.${payload}.`),
    bearer(
      'two algorithms, the first of them none',
      `${encode('{"typ":"JWT","alg":"none","alg":"HS256"}')}.${payload}.`,
    ),
    bearer('the algorithm none, with a signature', `${encode({ typ: 'JWT', alg: 'none' })}.${payload}.${signature}`),
    bearer('the algorithm none, without a last part', `${encode({ typ: 'JWT', alg: 'none' })}.${payload}`),
    bearer('no signature', `${header}.${payload}.`),
    bearer('a signature of zeros', `${header}.${payload}.${'A'.repeat(43)}`),
    bearer('the signature of a token of one’s own', `${header}.${payload}.${signature}`),
    bearer('a header that is no object', `${encode('null')}.${payload}.${signature}`),
    bearer('a header that is no JSON', `${encode('HS256')}.${payload}.${signature}`),
    bearer('a payload that is no object', `${header}.${encode('[]')}.${signature}`),
    bearer('an empty payload', `${header}..${signature}`),
    bearer('nothing but dots', '..'),
  ]
}

const wronglySigned = async (victim: Claims, secret: string): Promise<Forgery[]> => {
  const [rs, ps, es, ed] = await Promise.all([
    signByPair(victim, 'RS256'),
    signByPair(victim, 'PS256'),
    signByPair(victim, 'ES256'),
    signByPair(victim, 'EdDSA'),
  ])
  // HMAC pads its key with zeros: one zero is the empty key.
  const nothing = new Uint8Array(1)
  return [
    bearer('an RSA signature by a key in the header', rs.token),
    bearer('an RSA-PSS signature by a key in the header', ps.token),
    bearer('an ECDSA signature by a key in the header', es.token),
    bearer('an Ed25519 signature by a key in the header', ed.token),
    bearer('a public key taken for the secret', await signClaims(victim, rs.pem)),
    bearer('an empty secret', await signClaims(victim, nothing)),
    bearer(
      'an empty secret that a kid names',
      await signClaims(victim, nothing, { ...HEADER, kid: '../../../dev/null' }),
    ),
    bearer('the secret “undefined”', await signClaims(victim, 'undefined')),
    bearer('a guessed secret', await signClaims(victim, 'secret')),
    bearer('the secret without its last letter', await signClaims(victim, secret.slice(0, -1))),
    bearer('SHA-384 under the name of SHA-256', await signClaims(victim, secret, HEADER, 'SHA-384')),
    bearer('SHA-1 under the name of SHA-256', await signClaims(victim, secret, HEADER, 'SHA-1')),
  ]
}

const oddHeaders = async (victim: Claims, secret: string): Promise<Forgery[]> => {
  const odd: [string, unknown, string?][] = [
    ['HS384', { typ: 'JWT', alg: 'HS384' }, 'SHA-384'],
    ['HS512', { typ: 'JWT', alg: 'HS512' }, 'SHA-512'],
    ['hs256 in lower case', { typ: 'JWT', alg: 'hs256' }],
    ['no type', { alg: 'HS256' }],
    ['the type of an encrypted token', { typ: 'JWE', alg: 'HS256' }],
    ['a token for its content', { ...HEADER, cty: 'JWT' }],
    ['something critical', { ...HEADER, crit: ['exp'], exp: 0 }],
    ['a payload said not to be base64', { ...HEADER, crit: ['b64'], b64: false }],
    ['a kid that is a path', { ...HEADER, kid: '../../../../etc/passwd' }],
    ['a kid that is SQL', { ...HEADER, kid: `' union select 'secret` }],
    ['a jku', { ...HEADER, jku: 'https://evil.example/keys.json' }],
    ['a jwk', { ...HEADER, jwk: { kty: 'oct', k: encode('secret') } }],
    ['an x5u', { ...HEADER, x5u: 'https://evil.example/cert.pem' }],
    ['an x5c', { ...HEADER, x5c: ['MIIB'] }],
    ['a zip', { ...HEADER, zip: 'DEF' }],
  ]
  return Promise.all(
    odd.map(async ([name, header, hash]) =>
      bearer(`a header with ${name}`, await signClaims(victim, secret, header, hash)),
    ),
  )
}

const oddClaims = async (victim: Claims, secret: string): Promise<Forgery[]> => {
  const now = Math.floor(Date.now() / 1000)
  const odd: [string, Claims][] = [
    ...['iss', 'sub', 'iat', 'exp', 'jti', 'ver'].map((claim): [string, Claims] => [
      `no ${claim}`,
      { [claim]: undefined },
    ]),
    ['another issuer', { iss: 'https://evil.example' }],
    ['a list of issuers', { iss: ['reading-library'] }],
    ['a member that is a number', { sub: Number(victim.sub) }],
    ['a member that is a list', { sub: [victim.sub] }],
    ['a member with a blank', { sub: ` ${victim.sub}` }],
    ['a member with zeros before', { sub: `0${victim.sub}` }],
    ['a member with an exponent', { sub: `${victim.sub}e0` }],
    ['a member that is SQL', { sub: `${victim.sub} or 1=1` }],
    ['member 0', { sub: '0' }],
    ['a member below 0', { sub: '-1' }],
    ['a member beyond all numbers', { sub: '9'.repeat(17) }],
    ['an end that is over', { exp: now - 1 }],
    ['an end that is a word', { exp: 'never' }],
    ['an end that is a text of digits', { exp: String(now + 9999) }],
    ['an end that is a fraction', { exp: now + 9999.5 }],
    ['an end beyond all numbers', { exp: 1e300 }],
    ['an end that is null', { exp: null }],
    ['a beginning before there was a service', { iat: 0 }],
    ['an identifier that is none', { jti: `' or ''='` }],
    ['a version to come', { ver: 7 }],
    ['a version below 0', { ver: -1 }],
    ['a version that is a text', { ver: '0' }],
    ['a claim that is not ours', { admin: true }],
    ['a prototype', JSON.parse('{"__proto__":{"sub":"1"}}')],
  ]
  return Promise.all(
    odd.map(async ([name, changed]) => {
      const claims = Object.assign(Object.create(null), victim)
      for (const [claim, value] of Object.entries(changed))
        Object.defineProperty(claims, claim, { value, enumerable: true })
      return bearer(`claims with ${name}`, await signClaims(claims, secret))
    }),
  )
}

const inOddPlaces = (own: string, forged: string): Forgery[] => {
  const [header = '', payload = '', signature = ''] = own.split('.')
  const standard = (part: string) => part.replaceAll('-', '+').replaceAll('_', '/')
  const auth = (name: string, ...values: string[]): Forgery => ({
    name,
    headers: values.map((value): [string, string] => ['Authorization', value]),
  })
  const same = (forgery: Forgery): Forgery => ({ ...forgery, isSame: true })
  return [
    same(bearer('a fourth part', `${own}.${signature}`)),
    same(bearer('the five parts of an encrypted token', `${own}.${payload}.${signature}`)),
    same(bearer('padding', `${own}=`)),
    same(bearer('the letters of plain base64', `${standard(header)}==.${standard(payload)}==.${standard(signature)}=`)),
    same(bearer('a dot before', `.${own}`)),
    same(bearer('a blank inside', `${header}. ${payload}.${signature}`)),
    same(bearer('dots spelled as an address would', own.replaceAll('.', '%2E'))),
    same(bearer('the letters of the signature in upper case', `${header}.${payload}.${signature.toUpperCase()}`)),
    same(bearer('half a signature', own.slice(0, -21))),
    same(bearer('a signature twice as long', `${own}${signature}`)),
    same(bearer('JSON instead of dots', JSON.stringify({ protected: header, payload, signature }))),
    bearer('a signature of 8,000 letters', `${header}.${payload}.${'A'.repeat(8_000)}`),
    bearer('claims of 30,000 letters', `${header}.${encode({ sub: '1', pad: 'x'.repeat(30_000) })}.${signature}`),
    bearer('10,000 dots', '.'.repeat(10_000)),
    auth('no scheme', forged),
    auth('another scheme', `Token ${forged}`),
    auth('the scheme of passwords', `Basic ${btoa(`x:${forged}`)}`),
    auth('the scheme twice', `Bearer Bearer ${forged}`),
    auth('the scheme alone', 'Bearer'),
    auth('an empty header', ''),
    auth('a header of one’s own, and a forged one', `Bearer ${own}`, `Bearer ${forged}`),
    auth('a forged header, and one of one’s own', `Bearer ${forged}`, `Bearer ${own}`),
    auth('two tokens in one header', `Bearer ${own}, Bearer ${forged}`),
    { name: 'a token in the address', headers: [], path: `/members/me?access_token=${own}&token=${own}` },
    { name: 'a token in a cookie', headers: [['Cookie', `Authorization=Bearer ${own}; token=${own}`]] },
    {
      name: 'a token in the header of a proxy',
      headers: [
        ['Proxy-Authorization', `Bearer ${own}`],
        ['X-Authorization', `Bearer ${own}`],
      ],
    },
  ]
}

/** Attacks by name, of somebody who has a token and wants to be the victim. All must fail, each with 401. */
export const namedForgeries = async (own: string, victimToken: string, secret: string): Promise<Forgery[]> => {
  const victim = claimsOf(victimToken)
  const forged = await signClaims(victim, 'a secret that somebody else made up, long enough')
  return [
    ...unsigned(victim, own),
    ...(await wronglySigned(victim, secret)),
    ...(await oddHeaders(victim, secret)),
    ...(await oddClaims(victim, secret)),
    ...inOddPlaces(own, forged),
  ]
}

const LETTER = fc.mapToConstant({ num: 94, build: (n) => String.fromCharCode(33 + n) })
const BASE64URL = fc.mapToConstant(
  { num: 26, build: (n) => String.fromCharCode(65 + n) },
  { num: 26, build: (n) => String.fromCharCode(97 + n) },
  { num: 10, build: (n) => String(n) },
  { num: 2, build: (n) => '-_'[n] ?? '' },
)

/** One change of a token: of its letters, of its parts, or of what it claims under the signature that it has. */
const changeOf = (own: string) => {
  const claims = claimsOf(own)
  const [header = '', payload = '', signature = ''] = own.split('.')
  const place = fc.nat(own.length - 1)
  const claimed = fc
    .tuple(
      fc.constantFrom(...Object.keys(claims)),
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.nat().map(String), fc.nat()),
    )
    .map(([claim, value]) => `${header}.${encode({ ...claims, [claim]: value })}.${signature}`)
  const spliced = (put: fc.Arbitrary<string>, drop: number) =>
    fc.tuple(place, put).map(([at, letter]) => own.slice(0, at) + letter + own.slice(at + drop))
  return fc.oneof(
    { weight: 5, arbitrary: spliced(BASE64URL, 1) },
    spliced(LETTER, 1),
    spliced(LETTER, 0),
    spliced(fc.constant(''), 1),
    spliced(fc.string({ minLength: 1, maxLength: 20, unit: LETTER }), 5),
    fc.tuple(place, place).map(([from, to]) => own.slice(Math.min(from, to), Math.max(from, to))),
    fc.shuffledSubarray([header, payload, signature, '', 'e30'], { minLength: 1 }).map((parts) => parts.join('.')),
    { weight: 3, arbitrary: claimed },
    fc
      .tuple(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }))
      .map(([head, body]) => `${encode(head)}.${encode(body)}.${signature}`),
    fc.constantFrom(own.toUpperCase(), own.toLowerCase(), [...own].reverse().join(''), `${own}\t`, `"${own}"`),
  )
}

/** Tokens that began as one's own, and were changed once or more. */
export const mutatedTokens = (own: string, count: number, seed: number) =>
  fc.sample(
    changeOf(own).filter((token) => token !== own && token.trim() !== own),
    { numRuns: count, seed },
  )

/** Whether a token still claims all that the other does, and nothing else: it is the same, spelled otherwise. */
export const claimsTheSame = (token: string, own: string) => {
  try {
    return JSON.stringify(claimsOf(token)) === JSON.stringify(claimsOf(own))
  } catch {
    return false
  }
}
