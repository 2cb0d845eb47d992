import { MAX_SLOT } from '../slots/placement'
import { LINK_KINDS, type LinkKind } from '../values/contract'
import { computeCrc } from '../values/crc'

// An access token is `rl_`, 30 base62 characters and a checksum of 6, so that scanners find leaked tokens, and typos
// are refused without a database call. The first three of the thirty name the slot, the others are 160 random bits. The
// secret of a link has no prefix, and three more characters: one for its kind, two for its year or filters.

const PREFIX = 'rl_'
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SLOT_DIGITS = 3
const RANDOM_DIGITS = 27
const CHECKSUM_DIGITS = 6
const KIND_DIGITS = 1
const VARIANT_DIGITS = 2
const NAMED_DIGITS = SLOT_DIGITS + KIND_DIGITS + VARIANT_DIGITS
/** `named`: the digits before the random ones. */
const formOf = (named: number) =>
  new RegExp(`^([0-9A-Za-z]{${named + RANDOM_DIGITS}})([0-9A-Za-z]{${CHECKSUM_DIGITS}})$`)
const [TOKEN_FORM, LINK_FORM] = [formOf(SLOT_DIGITS), formOf(NAMED_DIGITS)]

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

const createSecret = (named: string) => {
  const body = named + randomDigits(RANDOM_DIGITS)
  return `${body}${checksum(body)}`
}

/** Creates an access token for a member of a slot. */
export const createAccessToken = (slot: number) => PREFIX + createSecret(toBase62(slot, SLOT_DIGITS))

export const hasTokenForm = (text: string) => text.startsWith(PREFIX)

/** SHA-256 in base64. A key would add nothing to 160 random bits, and rotating it would void the tokens. */
export const hashToken = async (token: string) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(token))).toBase64()

/** The slot that a secret names, and its other digits. Undefined if the form or checksum is wrong. */
const readSecret = (secret: string, form: RegExp) => {
  const [, body = '', sum] = form.exec(secret) ?? []
  if (sum === undefined || sum !== checksum(body)) return undefined
  const slot = fromBase62(body.slice(0, SLOT_DIGITS))
  return slot <= MAX_SLOT ? { slot, body } : undefined
}

/** The slot that an access token names, or undefined if the form or checksum is wrong. */
export const slotOfToken = (token: string) =>
  hasTokenForm(token) ? readSecret(token.slice(PREFIX.length), TOKEN_FORM)?.slot : undefined

/** What the secret of a link names. The hash covers all of it, so none of it can be changed. */
export type NamedByLink = { slot: number; kind: LinkKind; variant: number }

/** Creates the secret of a link. `variant`: from 0 to 3843. */
export const createLinkSecret = ({ slot, kind, variant }: NamedByLink) =>
  createSecret(
    toBase62(slot, SLOT_DIGITS) + toBase62(LINK_KINDS.indexOf(kind), KIND_DIGITS) + toBase62(variant, VARIANT_DIGITS),
  )

/** What the secret of a link names, or undefined if the form or checksum is wrong. */
export const readLinkSecret = (secret: string): NamedByLink | undefined => {
  const read = readSecret(secret, LINK_FORM)
  if (!read) return undefined
  const { slot, body } = read
  const kind = LINK_KINDS[fromBase62(body.slice(SLOT_DIGITS, SLOT_DIGITS + KIND_DIGITS))]
  return kind && { slot, kind, variant: fromBase62(body.slice(SLOT_DIGITS + KIND_DIGITS, NAMED_DIGITS)) }
}
