import { signClaims } from './forgeries'

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
  const claims = {
    iss: 'reading-library',
    sub: String(memberId),
    iat,
    exp: iat + 3600,
    jti: crypto.randomUUID(),
    ver: 0,
  }
  return { email, memberId: Number(memberId), token: await signClaims(claims, secret) }
}
