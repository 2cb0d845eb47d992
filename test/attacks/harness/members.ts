// Members of an attacked service. What must never be logged about them is added to the service's secrets.
import { setTimeout } from 'node:timers/promises'
import { insertMemberAt } from '../../support/home'
import { PIXEL, toFileForm } from '../../support/inputs/file-form'
import { claimsOf } from '../../support/tokens'
import type { Request } from './client'
import { JWT_SECRET, type Service } from './service'

export type Member = { email: string; token: string; memberId: number }

export const PASSWORD = 'attack-horse-7'
let emails = 0
export const newEmail = () => `reader-${++emails}@attack.example`

export const jsonRequest = (method: string, path: string, body: unknown, more: Partial<Request> = {}): Request => {
  return { method, path, body: JSON.stringify(body), ...more }
}

/** Sends a request that must succeed. */
const succeed = async (service: Service, request: Request, expected: number) => {
  const { status, body, headers } = await service.request(request)
  if (status !== expected) throw new Error(`${request.path}: ${status}, not ${expected}: ${JSON.stringify(body)}`)
  return { body: body as Record<string, unknown>, headers }
}

export const joinRequest = (email: string, more: object = {}) =>
  jsonRequest('POST', '/join', { email, name: 'Reader', password: PASSWORD, authenticationCode: '1', ...more })

export const logIn = async (service: Service, email: string, password = PASSWORD): Promise<Member> => {
  const { headers } = await succeed(service, jsonRequest('POST', '/login', { email, password }), 200)
  const token = headers.get('Authorization')?.replace('Bearer ', '') ?? ''
  for (const secret of [email, password, token]) service.secrets.add(secret)
  return { email, token, memberId: Number(claimsOf(token).sub) }
}

export const signUp = async (service: Service, email = newEmail()) => {
  await succeed(service, joinRequest(email), 201)
  return logIn(service, email)
}

export const signUpMany = (service: Service, length: number) => Array.fromAsync({ length }, () => signUp(service))

/** A member without a password, which saves the hash. */
export const insertMember = async (service: Service): Promise<Member> => {
  const member = await insertMemberAt(service, JWT_SECRET, newEmail())
  service.secrets.add(member.email).add(member.token)
  return member
}

export const registerBook = async (service: Service, { token }: Member, book: object = {}) => {
  const request = jsonRequest('POST', '/books', { title: 'Demian', ...book }, { token })
  return Number((await succeed(service, request, 201)).body.bookId)
}

export const writeMemo = async (service: Service, { token }: Member, bookId: number, memo: object = {}) => {
  const body = { memoBookPage: 1, memoContent: 'A thought', ...memo }
  const request = jsonRequest('POST', `/memos?bookId=${bookId}`, body, { token })
  return Number((await succeed(service, request, 201)).body.memoId)
}

/** An image upload as a browser's form sends it. */
export const uploadRequest = ({ token }: Pick<Member, 'token'>, file: Uint8Array = PIXEL): Request => {
  return { method: 'POST', path: '/memos/image-memo', token, ...toFileForm(file) }
}

/** A sign-up with a code, from a network. */
export const joinWith = (service: Service, email: string, authenticationCode: string, network?: string) =>
  service.request({ ...joinRequest(email, { authenticationCode }), network })

/** Another code, a different one for each `n` from 0. */
export const wrongCode = (code: string, n = 0) =>
  String((Number(code) + 1 + n) % 10 ** code.length).padStart(code.length, '0')

const sent = new WeakMap<Service, number>()

export const requestCode = async (service: Service, email: string, network?: string) => {
  const response = await service.request(jsonRequest('POST', '/email/join', { joinAuthCodeEmail: email }, { network }))
  if (response.status === 201) sent.set(service, (sent.get(service) ?? 0) + 1)
  return response
}

/** Waits until every sent mail has its text: a mail's file exists before its content. */
const readAllMails = async (service: Service) => {
  for (let attempt = 0; attempt < 500; attempt++) {
    const mails = service.mails().filter((mail) => mail !== '')
    if (mails.length === (sent.get(service) ?? 0)) return mails
    await setTimeout(20)
  }
  throw new Error('Not every sent mail arrived')
}

/** Requests a verification code and reads it from the mail. */
export const receiveCode = async (service: Service, email: string, network?: string) => {
  const before = new Set(await readAllMails(service))
  const { status } = await requestCode(service, email, network)
  if (status !== 201) throw new Error(`No code was sent: ${status}`)
  const code = (await readAllMails(service)).find((mail) => !before.has(mail))?.match(/\b\d{6}\b/)?.[0]
  if (!code) throw new Error('The mail contains no code')
  service.secrets.add(email)
  service.codes.add(code)
  return code
}
