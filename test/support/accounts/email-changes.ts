import { env } from 'cloudflare:workers'
import { hashCode } from '../../../src/accounts/email-change/change-codes'
import { slotOfId } from '../../../src/db/next-id'
import type { Bindings, Config } from '../../../src/env'
import { PASSWORD, send } from '../api'
import { unlimited } from '../rate-limits'
import { findDirectoryProblems } from './directory'
import { EMAIL, type Mail, mails } from './mailed-codes'

/** The network of a request, and variables and bindings to replace. */
type Sent = { from?: string; changed?: Partial<Bindings> }

const sendAs = (token: string | undefined, method: string, path: string, body: object, sent: Sent = {}) => {
  const { from = '10.9.0.1', changed } = sent
  const headers = { 'CF-Connecting-IP': from, ...(token && { Authorization: `Bearer ${token}` }) }
  const bindings = { EMAIL, NETWORK_LIMIT: unlimited, WRITE_LIMIT: unlimited, ...changed }
  return send(method, path, { body, headers, changed: bindings })
}

/** Inserts the code of a valid call in operations.ts, as if it had been mailed to a new address of the member. */
export const insertEmailCode = async (memberId: number, email: string, code = '000000', credentialsVersion = 0) => {
  const codeHash = await hashCode({ JWT_SECRET: env.JWT_SECRET } as Config, memberId, email, code)
  const insert = env.DB.prepare(`
    insert into accountCodes (codeHash, subject, memberId, slot, credentialsVersion, expiresAt)
    values (?1, 'subject', ?2, ?3, ?4, ?5)`)
  await insert.bind(codeHash, memberId, slotOfId(memberId), credentialsVersion, Date.now() + 500_000).run()
}

type Member = { token: string }
export const requestChange = ({ token }: Member, email: string, sent?: Sent, password = PASSWORD) =>
  sendAs(token, 'POST', '/email/change', { email, password }, sent)
export const confirmChange = ({ token }: Member, email: string, authenticationCode: string, sent?: Sent) =>
  sendAs(token, 'PATCH', '/members/me/email', { email, authenticationCode }, sent)
export const undo = (authenticationCode: string, sent?: Sent) =>
  sendAs(undefined, 'POST', '/email/change/undo', { authenticationCode }, sent)

export const mailsTo = (email: string) => mails.filter(({ to }) => to === email)
/** The code that is a line of its own in a mail. */
export const codeIn = (mail: Mail | undefined) => mail?.text.match(/^[0-9A-Z]+(?:-[0-9A-Z]{5})+$/m)?.[0] ?? ''
/** The code in the last mail to an address. */
export const lastCodeTo = (email: string) => codeIn(mailsTo(email).at(-1))

/** Requests and confirms a change. Returns the undo code in the mail to the former address. */
export const change = async (member: Member, from: string, to: string, sent?: Sent) => {
  // Most tests do not test the limits on mails.
  await env.DB.prepare('delete from attempts').run()
  const requested = await requestChange(member, to, sent)
  if (requested.status !== 202) throw new Error(`${requested.status}: ${JSON.stringify(requested.body)}`)
  const changed = await confirmChange(member, to, lastCodeTo(to), sent)
  if (changed.status !== 200) throw new Error(`${changed.status}: ${JSON.stringify(changed.body)}`)
  return lastCodeTo(from)
}

/** The response to an invalid field. */
export const fieldError = (field: string, reason: string) => ({
  status: 400,
  body: { status: 0, fieldErrors: [{ field, reason }] },
})

/** The differences between the directory and the rows of the members. */
export const findProblems = () =>
  findDirectoryProblems([env.DB, ...(env.DB_1 ? [env.DB_1] : [])], env.ADDRESS_KEY ?? '')
