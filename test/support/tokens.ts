import { createHash } from 'node:crypto'
import { isIntake } from '../../src/accounts/tokens/schema'
import {
  createAccessToken,
  createLinkSecret,
  hashDeviceKey,
  hashToken,
  type NamedByLink,
} from '../../src/auth/access-token'
import { type Scope, toBits } from '../../src/values/contract'

export type Claims = Record<string, unknown>
export type Secret = string | Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
const toBase64url = (bytes: Uint8Array) => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
export const encode = (value: unknown) =>
  toBase64url(encoder.encode(typeof value === 'string' ? value : JSON.stringify(value)))

export const claimsOf = (token: string): Claims =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(token.split('.')[1] ?? '', { alphabet: 'base64url' })))

export const HEADER = { typ: 'JWT', alg: 'HS256' }

/** Signs any claims with HMAC. */
export const signClaims = async (claims: unknown, secret: Secret, header: object = HEADER, hash = 'SHA-256') => {
  const signed = `${encode(header)}.${encode(claims)}`
  const bytes = typeof secret === 'string' ? encoder.encode(secret) : secret
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign'])
  return `${signed}.${toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(signed))))}`
}

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
export const KEY_PAIRS = {
  RS256: { ...RSA, name: 'RSASSA-PKCS1-v1_5' },
  PS256: { ...RSA, name: 'RSA-PSS', saltLength: 32 },
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  EdDSA: { name: 'Ed25519' },
}

/** Signs with the attacker's key pair and puts the public key into the header. */
export const signWithKeyPair = async (claims: Claims, alg: keyof typeof KEY_PAIRS) => {
  const algorithm = KEY_PAIRS[alg]
  const pair = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const spki = (await crypto.subtle.exportKey('spki', pair.publicKey)) as ArrayBuffer
  const signed = `${encode({ typ: 'JWT', alg, jwk })}.${encode(claims)}`
  const signature = await crypto.subtle.sign(algorithm, pair.privateKey, encoder.encode(signed))
  const pem = `-----BEGIN PUBLIC KEY-----\n${new Uint8Array(spki).toBase64()}\n-----END PUBLIC KEY-----\n`
  return { token: `${signed}.${toBase64url(new Uint8Array(signature))}`, pem }
}

/** The session of each member that the tests insert. */
export const sessionIdOf = (memberId: number) => `00000000-0000-4000-8000-${memberId.toString(16).padStart(12, '0')}`

/** A token of the session that `insertMemberRow` adds. */
export const signToken = (memberId: number, secret: string, slot = 0) => {
  const iat = Math.floor(Date.now() / 1000)
  const identity = { iss: 'reading-library', sub: String(memberId), sid: sessionIdOf(memberId) }
  return signClaims({ ...identity, iat, exp: iat + 2_592_000, ...(slot > 0 && { slot }) }, secret)
}

/** Adds another session of a member, and returns its token. */
export const insertSession = async (database: D1Database, memberId: number, secret: string, slot = 0) => {
  const sid = crypto.randomUUID()
  const insert = database.prepare(`
    insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt) values (?1, ?2, ?3, ?3, ?3 + 2592000000)`)
  await insert.bind(memberId, sid, Date.now()).run()
  return {
    sessionId: sid,
    token: await signClaims({ ...claimsOf(await signToken(memberId, secret, slot)), sid }, secret),
  }
}

/** Of `correct-horse-1`, at the parameters of src/accounts/passwords/password.ts. Weaker than those, it would be upgraded at login. */
const PASSWORD_HASH =
  '$pbkdf2-sha512-chain$r=3,i=70000$cmVhZGluZy1saWJyYXJ5IQ==$limaDJprKnSewjH+8NQD/XCwh2WlY9XVqrVlbZLD8wyUdwn8lJXt+AGmYYjc3L2y4Tox+VS4ioG3+51kyGQVOg=='

/** Adds a member and a session, without hashing a password. */
export const insertMemberRow = async (
  database: D1Database,
  email: string,
  passwordHash = PASSWORD_HASH,
  memberId?: number,
) => {
  const insert = database.prepare(`
    insert into members (memberId, email, name, passwordHash, createdAt, updatedAt)
    values (?4, ?1, 'Reader', ?2, ?3, ?3) returning memberId`)
  const now = new Date().toISOString().slice(0, 19)
  const inserted = Number(await insert.bind(email, passwordHash, now, memberId ?? null).first('memberId'))
  const insertSession = database.prepare(`
    insert into sessions (memberId, sessionId, createdAt, renewedAt, expiresAt) values (?1, ?2, ?3, ?3, ?3 + 2592000000)`)
  await insertSession.bind(inserted, sessionIdOf(inserted), Date.now()).run()
  return inserted
}

/** Adds an access token of a member, without the limits of the API. */
export const insertAccessToken = async (database: D1Database, memberId: number, scopes: Scope[], slot = 0) => {
  const isForDevice = scopes.some(isIntake)
  const token = createAccessToken(slot, isForDevice)
  // Unlike workerd, Node has no MD5 in WebCrypto, with which `hashToken` begins.
  const hash = isForDevice ? hashDeviceKey(createHash('md5').update(token).digest('hex')) : hashToken(token)
  const insert = database.prepare(`
    insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt)
    values (?1, ?2, ?3, 'Script', ?4, 'rl_', ?5)`)
  await insert.bind(await hash, memberId, crypto.randomUUID(), toBits(scopes), Date.now()).run()
  return token
}

/** Adds a link of a member, without the limits of the API, and returns its secret. */
export const insertLink = async (database: D1Database, memberId: number, named: NamedByLink) => {
  const secret = createLinkSecret(named)
  const insert = database.prepare(`
    insert into accessTokens (tokenHash, memberId, tokenId, name, scopes, hint, createdAt, kind, year)
    values (?1, ?2, ?3, 'Shown', ?4, '', ?5, ?6, ?7)`)
  const year = named.kind === 'YEAR' ? named.variant : null
  const values = [memberId, crypto.randomUUID(), toBits(['show']), Date.now(), named.kind, year]
  await insert.bind(await hashToken(secret), ...values).run()
  return secret
}

/** Adds a member in slot 0, with a token. */
export const insertMember = async (
  database: D1Database,
  secret: string,
  email: string,
  passwordHash = PASSWORD_HASH,
) => {
  const memberId = await insertMemberRow(database, email, passwordHash)
  return { email, memberId, token: await signToken(memberId, secret) }
}
