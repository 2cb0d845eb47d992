// People who use the service: each signs up, logs in, and leaves what must never be logged among the secrets.
import { randomUUID } from 'node:crypto'
import { signClaims } from '../support/forgeries'
import type { Asked, Reply } from './client'
import { JWT_SECRET, type Service } from './service'

export const PASSWORD = 'torture-horse-7'
let signedUp = 0
export const newEmail = () => `reader-${++signedUp}@torture.example`

/** A request with a JSON body. */
export const withJson = (method: string, path: string, body: unknown, more: Partial<Asked> = {}): Asked => ({
  method,
  path,
  body: JSON.stringify(body),
  ...more,
})

const done = ({ status, body, headers }: Reply, wanted: number) => {
  if (status !== wanted) throw new Error(`Expected ${wanted}, got ${status}: ${JSON.stringify(body)}`)
  return { body: body as Record<string, unknown>, headers }
}

export type Member = { email: string; token: string; memberId: number }

export const join = (service: Service, email: string, more: Record<string, unknown> = {}) =>
  service.ask(
    withJson('POST', '/join', { email, name: 'Reader', password: PASSWORD, authenticationCode: '1', ...more }),
  )

export const logIn = async (service: Service, email: string, password = PASSWORD): Promise<Member> => {
  const { headers } = done(await service.ask(withJson('POST', '/login', { email, password })), 200)
  const token = headers.get('Authorization')?.replace('Bearer ', '') ?? ''
  for (const secret of [email, password, token]) service.secrets.add(secret)
  const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return { email, token, memberId: Number(sub) }
}

/** Somebody who is in the database without having signed up, which costs a hash: for those who are gone at once. */
export const insertMember = async (service: Service): Promise<Member> => {
  const email = newEmail()
  const now = new Date().toISOString().slice(0, 19)
  const row = await service.database
    .prepare(
      `insert into members (email, name, passwordHash, createdAt, updatedAt) values (?1, 'Reader', '-', ?2, ?2) returning memberId`,
    )
    .bind(email, now)
    .first<{ memberId: number }>()
  const memberId = row?.memberId ?? 0
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: 'reading-library', sub: String(memberId), iat, exp: iat + 3600, jti: randomUUID(), ver: 0 }
  const token = await signClaims(claims, JWT_SECRET)
  for (const secret of [email, token]) service.secrets.add(secret)
  return { email, token, memberId }
}

/** Somebody who has just signed up and logged in. */
export const signUp = async (service: Service, email = newEmail()) => {
  done(await join(service, email), 201)
  return logIn(service, email)
}

export const registerBook = async (service: Service, { token }: Member, book: Record<string, unknown> = {}) =>
  Number(done(await service.ask(withJson('POST', '/books', { title: 'Demian', ...book }, { token })), 201).body.bookId)

export const writeMemo = async (
  service: Service,
  { token }: Member,
  bookId: number,
  memo: Record<string, unknown> = {},
) =>
  Number(
    done(
      await service.ask(
        withJson('POST', `/memos?bookId=${bookId}`, { memoBookPage: 1, memoContent: 'A thought', ...memo }, { token }),
      ),
      201,
    ).body.memoId,
  )

const BOUNDARY = 'torture-boundary'
/** The upload of a file as a browser's form would send it. */
export const upload = ({ token }: Member, bytes: Uint8Array, more: Partial<Asked> = {}): Asked => ({
  method: 'POST',
  path: '/memos/image-memo',
  token,
  type: `multipart/form-data; boundary=${BOUNDARY}`,
  body: Buffer.concat([
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n`,
    ),
    bytes,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]),
  ...more,
})
