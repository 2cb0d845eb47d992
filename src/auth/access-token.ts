import { MAX_SLOT } from '../slots/placement'
import { computeCrc } from '../values/crc'

// An access token is `rl_`, 30 base62 characters and a checksum of 6, so that scanners find leaked tokens, and typos are
// refused without a database call. The first three of the thirty name the slot, the others are 160 random bits.

const PREFIX = 'rl_'
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SLOT_DIGITS = 3
const RANDOM_DIGITS = 27
const CHECKSUM_DIGITS = 6
const FORM = new RegExp(`^${PREFIX}([0-9A-Za-z]{${SLOT_DIGITS + RANDOM_DIGITS}})([0-9A-Za-z]{${CHECKSUM_DIGITS}})$`)

/** The characters of a token that are shown in lists. */
export const HINT_LENGTH = PREFIX.length + SLOT_DIGITS + 4

const toBase62 = (number: number, digits: number) => {
  let text = ''
  for (let rest = number; text.length < digits; rest = Math.floor(rest / 62)) text = `${DIGITS[rest % 62]}${text}`
  return text
}
const fromBase62 = (text: string) => [...text].reduce((number, digit) => number * 62 + DIGITS.indexOf(digit), 0)

const encoder = new TextEncoder()
const checksum = (body: string) => toBase62(computeCrc(encoder.encode(body)), CHECKSUM_DIGITS)

/** Uniformly random digits. Bytes from 248 up are dropped: they would make some digits more frequent. */
const randomDigits = (count: number) => {
  let digits = ''
  while (digits.length < count) {
    for (const byte of crypto.getRandomValues(new Uint8Array(2 * count))) {
      if (byte < 248 && digits.length < count) digits += DIGITS[byte % 62]
    }
  }
  return digits
}

/** Creates an access token for a member of a slot. */
export const createAccessToken = (slot: number) => {
  const body = toBase62(slot, SLOT_DIGITS) + randomDigits(RANDOM_DIGITS)
  return `${PREFIX}${body}${checksum(body)}`
}

export const hasTokenForm = (text: string) => text.startsWith(PREFIX)

/** SHA-256 in base64. A key would add nothing to 160 random bits, and rotating it would void the tokens. */
export const hashToken = async (token: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(token))).toBase64()

/** The slot that an access token names, or undefined if the form or checksum is wrong. */
export const slotOfToken = (token: string) => {
  const [, body = '', sum] = FORM.exec(token) ?? []
  if (sum === undefined || sum !== checksum(body)) return undefined
  const slot = fromBase62(body.slice(0, SLOT_DIGITS))
  return slot <= MAX_SLOT ? slot : undefined
}
