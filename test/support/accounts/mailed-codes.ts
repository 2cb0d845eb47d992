import { env } from 'cloudflare:workers'
import { PASSWORD, send } from '../api'
import { unlimited } from '../rate-limits'

export type Mail = { to: string; from: { name: string; email: string }; subject: string; text: string; html: string }

/** The mails sent through the real binding. */
export const mails: Mail[] = []
export const EMAIL = {
  send: (mail: Mail) => {
    mails.push(mail)
    return env.EMAIL.send(mail)
  },
} as unknown as SendEmail
// Unlimited, because only the exact limits are tested here.
const changed = { EMAIL_VERIFICATION: undefined, MAIL_FROM: 'library@library.test', EMAIL, NETWORK_LIMIT: unlimited }

let networks = 0
export const newNetwork = () => `10.0.${networks >> 8}.${networks++ & 255}`

/** The network of a request, and variables and bindings to replace. */
export type From = { from: string; [variable: string]: unknown }

export const post = (path: string, body: object, { from, ...more }: From) =>
  send('POST', path, { body, changed: { ...changed, ...more }, headers: { 'CF-Connecting-IP': from } })
export const requestCode = (email: string, from: From) => post('/email/join', { joinAuthCodeEmail: email }, from)
export const joinWith = (email: string, authenticationCode: string, from: From) =>
  post('/join', { email, name: 'Reader', password: PASSWORD, authenticationCode }, from)
export const codeIn = (mail: Mail | undefined) => mail?.text.match(/\d{6}/)?.[0] ?? ''
/** Another code, a different one for each `n` from 1. */
export const otherCode = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0')

export const requestReset = (email: string, from: From) => post('/email/password-reset', { email }, from)
export const resetWith = (email: string, authenticationCode: string, password: string, from: From) =>
  post('/password-reset', { email, authenticationCode, password }, from)
export const resetCodeIn = (mail: Mail | undefined) => mail?.text.match(/[0-9A-Z]{5}-[0-9A-Z]{5}/)?.[0] ?? ''
