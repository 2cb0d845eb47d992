// Members of an attacked service. What must never be logged about them is added to the service's secrets.
import { PIXEL, toFileForm } from '../support/file-form'
import { claimsOf, insertMember as insertRow } from '../support/tokens'
import type { Request } from './client'
import { JWT_SECRET, type Service } from './service'

export type Member = { email: string; token: string; memberId: number }

export const PASSWORD = 'attack-horse-7'
let emails = 0
export const newEmail = () => `reader-${++emails}@attack.example`

export const jsonRequest = (method: string, path: string, body: unknown, more: Partial<Request> = {}): Request => ({
  method,
  path,
  body: JSON.stringify(body),
  ...more,
})

/** Sends a request that must succeed. */
const succeed = async (service: Service, request: Request, expected: number) => {
  const { status, body, headers } = await service.request(request)
  if (status !== expected) throw new Error(`${request.path}: ${status}, not ${expected}: ${JSON.stringify(body)}`)
  return { body: body as Record<string, unknown>, headers }
}

const keepSecret = (service: Service, ...texts: string[]) => {
  for (const text of texts) service.secrets.add(text)
}

export const joinRequest = (email: string, more: Record<string, unknown> = {}) =>
  jsonRequest('POST', '/join', { email, name: 'Reader', password: PASSWORD, authenticationCode: '1', ...more })

export const logIn = async (service: Service, email: string, password = PASSWORD): Promise<Member> => {
  const { headers } = await succeed(service, jsonRequest('POST', '/login', { email, password }), 200)
  const token = headers.get('Authorization')?.replace('Bearer ', '') ?? ''
  keepSecret(service, email, password, token)
  return { email, token, memberId: Number(claimsOf(token).sub) }
}

export const signUp = async (service: Service, email = newEmail()) => {
  await succeed(service, joinRequest(email), 201)
  return logIn(service, email)
}

export const signUpMany = async (service: Service, count: number) => {
  const members: Member[] = []
  for (let n = 0; n < count; n++) members.push(await signUp(service))
  return members
}

/** A member without a password, which saves the hash. */
export const insertMember = async (service: Service): Promise<Member> => {
  const member = await insertRow(service.database, JWT_SECRET, newEmail())
  keepSecret(service, member.email, member.token)
  return member
}

export const registerBook = async (service: Service, { token }: Member, book: Record<string, unknown> = {}) => {
  const request = jsonRequest('POST', '/books', { title: 'Demian', ...book }, { token })
  return Number((await succeed(service, request, 201)).body.bookId)
}

export const writeMemo = async (
  service: Service,
  { token }: Member,
  bookId: number,
  memo: Record<string, unknown> = {},
) => {
  const body = { memoBookPage: 1, memoContent: 'A thought', ...memo }
  const request = jsonRequest('POST', `/memos?bookId=${bookId}`, body, { token })
  return Number((await succeed(service, request, 201)).body.memoId)
}

/** An image upload as a browser's form sends it. */
export const uploadRequest = ({ token }: Pick<Member, 'token'>, file: Uint8Array = PIXEL): Request => ({
  method: 'POST',
  path: '/memos/image-memo',
  token,
  ...toFileForm(file),
})
