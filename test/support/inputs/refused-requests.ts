// Requests that the service must refuse at little cost, and without charging a member: every operation, with credentials
// that are made up, ended or lack the scope, and with bodies of many sizes.
import { createAccessToken, hashToken } from '../../../src/auth/access-token'
import { SCOPES, type Scope } from '../../../src/values/contract'
import { join } from '../bytes'
import { bodyOf, type Operation, operations } from '../document/operations'
import type { Home } from '../home'
import { insertAccessToken, insertSession, sessionIdOf, signClaims } from '../tokens'
import { toFileForm, validForm } from './file-form'

const ALL = Object.keys(SCOPES) as Scope[]
const MADE_UP_SECRET = 'a secret that no deployment has, to sign a token with'

export const memberOperations = operations.filter(({ needsToken }) => needsToken)

export type Credential = {
  name: string
  /** The token to send with an operation. Undefined: none. */
  token: (operation: Operation) => Promise<string | undefined>
}

/** Credentials of an owner that are not valid for an operation. Inserts the rows that they need. */
export const refusedCredentials = async (
  { database, slot }: Home,
  owner: { memberId: number },
  secret: string,
): Promise<Credential[]> => {
  const ended = await insertSession(database, owner.memberId, secret, slot)
  await database.prepare('delete from sessions where sessionId = ?').bind(ended.sessionId).run()
  const deleted = await insertAccessToken(database, owner.memberId, ALL, slot)
  await database
    .prepare('delete from accessTokens where tokenHash = ?')
    .bind(await hashToken(deleted))
    .run()
  /** A token whose use today is recorded already, so that the request writes nothing. */
  const insertUsed = async (scopes: Scope[]) => {
    const token = await insertAccessToken(database, owner.memberId, scopes, slot)
    const use = database.prepare('update accessTokens set lastUsedDay = ?1 where tokenHash = ?2')
    await use.bind(Math.floor(Date.now() / 86_400_000), await hashToken(token)).run()
    return token
  }
  const scopeless = new Map<string, Promise<string>>()
  const withoutScopes = (required: Scope[]) => {
    const key = required.join()
    const others = required.length > 0 ? ALL.filter((scope) => !required.includes(scope)) : ALL
    const token = scopeless.get(key) ?? insertUsed(others)
    scopeless.set(key, token)
    return token
  }
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: 'reading-library', sub: String(owner.memberId), sid: sessionIdOf(owner.memberId) }
  const forged = { ...claims, iat, exp: iat + 3600, ...(slot > 0 && { slot }) }
  return [
    { name: 'no token', token: async () => undefined },
    { name: 'a made-up session token', token: () => signClaims(forged, MADE_UP_SECRET) },
    { name: 'a made-up access token', token: async () => createAccessToken(slot) },
    { name: 'the token of an ended session', token: async () => ended.token },
    { name: 'a deleted access token', token: async () => deleted },
    { name: 'an access token without the scope', token: ({ scopes }) => withoutScopes(scopes) },
  ]
}

export const SIZES = { small: 0, '17 KB': 17_000, '2 MB': 2_000_000, '10 MB': 10_000_000 }
type Size = keyof typeof SIZES

type Body = { type: string; body: Uint8Array }

const encoder = new TextEncoder()
const isForm = ({ types }: Operation) => types.includes('multipart/form-data')

const validBody = (operation: Operation, bytes: number): Body => {
  if (isForm(operation)) {
    const { type, body } = validForm(operation)
    return bytes === 0 ? { type, body } : toFileForm(join(new Uint8Array(bytes)))
  }
  const json = bodyOf(operation)
  return {
    type: 'application/json',
    body: encoder.encode((json === undefined ? '' : JSON.stringify(json)).padEnd(bytes)),
  }
}

/** Many invalid entries: in a field of the body, or in the part of an import that maps shelves. */
const invalidBody = (operation: Operation, bytes: number): Body => {
  const entries = Math.max(10, Math.floor(bytes / 12))
  if (isForm(operation)) {
    const map = JSON.stringify(
      Object.fromEntries(Array.from({ length: entries }, (_, n) => [`${n}`.padStart(7, 'x'), 1])),
    )
    const part = `--x\r\nContent-Disposition: form-data; name="shelfMap"\r\n\r\n${map}\r\n`
    const file = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nTitle\r\n\r\n--x--\r\n'
    return { type: 'multipart/form-data; boundary=x', body: join(part, file) }
  }
  const [field = 'title'] = operation.fields
  return { type: 'application/json', body: encoder.encode(`{"${field}":[${'1,'.repeat(6 * entries)}1]}`) }
}

/** The bodies to send with an operation. */
export const bodiesOf = (operation: Operation, sizes = Object.keys(SIZES) as Size[]) =>
  sizes.flatMap((size) => [
    { name: `${size}, valid`, ...validBody(operation, SIZES[size]) },
    { name: `${size}, invalid`, ...invalidBody(operation, SIZES[size]) },
  ])
