export type Claims = Record<string, unknown>
export type Secret = string | Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
export const toBase64url = (bytes: Uint8Array) => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
export const encode = (value: unknown) =>
  toBase64url(encoder.encode(typeof value === 'string' ? value : JSON.stringify(value)))

export const claimsOf = (token: string): Claims =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(token.split('.')[1] ?? '', { alphabet: 'base64url' })))

const HEADER = { typ: 'JWT', alg: 'HS256' }

/** Signs any claims with HMAC. */
export const signClaims = async (claims: unknown, secret: Secret, header: object = HEADER, hash = 'SHA-256') => {
  const signed = `${encode(header)}.${encode(claims)}`
  const bytes = typeof secret === 'string' ? encoder.encode(secret) : secret
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash }, false, ['sign'])
  return `${signed}.${toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, encoder.encode(signed))))}`
}

/** Adds a member without hashing a password. Without a hash, the member cannot log in. */
export const insertMember = async (database: D1Database, secret: string, email: string, passwordHash = '-') => {
  const now = new Date()
  const memberId = await database
    .prepare(
      `insert into members (email, name, passwordHash, createdAt, updatedAt)
       values (?1, 'Reader', ?2, ?3, ?3) returning memberId`,
    )
    .bind(email, passwordHash, now.toISOString().slice(0, 19))
    .first<number>('memberId')
  const iat = Math.floor(now.getTime() / 1000)
  const identity = { iss: 'reading-library', sub: String(memberId), jti: crypto.randomUUID(), ver: 0 }
  return { email, memberId: Number(memberId), token: await signClaims({ ...identity, iat, exp: iat + 3600 }, secret) }
}
