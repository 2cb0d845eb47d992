import { MAX_SLOT } from '../slots/placement'
import { LINK_KINDS, type LinkKind } from '../values/contract'
import { computeCrc } from '../values/crc'

// An access token is a prefix, by which scanners find leaked tokens, three digits that name the slot, random digits, and a
// checksum, so that typos are refused without a database call. The secret of a link has no prefix, and three more digits:
// one for its kind, two for its year or filters.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Without capital letters and characters that look alike: the token of a device is typed on it. */
const BASE31 = '23456789abcdefghjkmnpqrstuvwxyz'
const SLOT_DIGITS = 3
const KIND_DIGITS = 1
const VARIANT_DIGITS = 2

type Form = { prefix: string; alphabet: string; named: number; random: number; checksum: number }
/** 160 random bits. */
const TOKEN: Form = { prefix: 'rl_', alphabet: BASE62, named: SLOT_DIGITS, random: 27, checksum: 6 }
/** 99 random bits. */
const DEVICE: Form = { prefix: 'rld', alphabet: BASE31, named: SLOT_DIGITS, random: 20, checksum: 4 }
const LINK: Form = { ...TOKEN, prefix: '', named: SLOT_DIGITS + KIND_DIGITS + VARIANT_DIGITS }

/** The characters of a token that are shown in lists. */
export const HINT_LENGTH = TOKEN.prefix.length + SLOT_DIGITS + 4

const toDigits = (alphabet: string, number: number, count: number) => {
  const base = alphabet.length
  let text = ''
  for (let rest = number; text.length < count; rest = Math.floor(rest / base)) text = `${alphabet[rest % base]}${text}`
  return text
}
const fromDigits = (alphabet: string, text: string) =>
  [...text].reduce((number, digit) => number * alphabet.length + alphabet.indexOf(digit), 0)

const encoder = new TextEncoder()
const checksumOf = (body: string, { alphabet, checksum }: Form) =>
  toDigits(alphabet, computeCrc(encoder.encode(body)), checksum)

/** Uniformly random digits. Bytes from 248 up, a multiple of 62 and 31, are dropped: they would make some digits more frequent. */
const randomDigits = ({ alphabet, random }: Form) => {
  let digits = ''
  while (digits.length < random) {
    for (const byte of crypto.getRandomValues(new Uint8Array(2 * random))) {
      if (byte < 248 && digits.length < random) digits += alphabet[byte % alphabet.length]
    }
  }
  return digits
}

const createSecret = (form: Form, named: string) => {
  const body = named + randomDigits(form)
  return `${form.prefix}${body}${checksumOf(body, form)}`
}

/** Creates an access token for a member of a slot. */
export const createAccessToken = (slot: number, isForDevice = false) => {
  const form = isForDevice ? DEVICE : TOKEN
  return createSecret(form, toDigits(form.alphabet, slot, SLOT_DIGITS))
}

const isOfDevice = (token: string) => token.startsWith(DEVICE.prefix)
export const hasTokenForm = (text: string) => text.startsWith(TOKEN.prefix) || isOfDevice(text)

const digest = async (algorithm: string, text: string) =>
  new Uint8Array(await crypto.subtle.digest(algorithm, encoder.encode(text)))
const sha256 = async (text: string) => (await digest('SHA-256', text)).toBase64()

/**
 * What is stored of the token of a device, by the MD5 of the token in hex, which is all that KOReader sends.
 * docs/decisions/0037-devices.md
 */
export const hashDeviceKey = (md5: string) => sha256(`device ${md5}`)

/** What is stored of a token. A key would add nothing to the random bits, and rotating it would void the tokens. */
export const hashToken = async (token: string) =>
  isOfDevice(token) ? hashDeviceKey((await digest('MD5', token)).toHex()) : sha256(token)

/** The slot that a secret names, and its digits. Undefined if the form or checksum is wrong. */
const readSecret = (secret: string, form: Form) => {
  const { prefix, alphabet, named, random, checksum } = form
  const body = secret.slice(prefix.length, prefix.length + named + random)
  const isWhole = secret.length === prefix.length + named + random + checksum
  if (!isWhole || secret !== `${prefix}${body}${checksumOf(body, form)}`) return undefined
  // The checksum also matches text with other characters.
  if ([...body].some((digit) => !alphabet.includes(digit))) return undefined
  const slot = fromDigits(alphabet, body.slice(0, SLOT_DIGITS))
  return slot <= MAX_SLOT ? { slot, body } : undefined
}

/** The slot that an access token names, or undefined if the form or checksum is wrong. */
export const slotOfToken = (token: string) => readSecret(token, isOfDevice(token) ? DEVICE : TOKEN)?.slot

// KOReader sends the MD5 of the token, which names no slot, beside the user name.
const USER = 'reader'
/** The user name to type on a device. */
export const userOfSlot = (slot: number) => (slot === 0 ? USER : `${USER}${slot}`)
/** The slot of a user name; 0 for an unknown name. */
export const slotOfUser = (user: string) => (user.startsWith(USER) ? Number(user.slice(USER.length)) || 0 : 0)

/** What the secret of a link names. The hash covers all of it, so none of it can be changed. */
export type NamedByLink = { slot: number; kind: LinkKind; variant: number }

/** Creates the secret of a link. `variant`: from 0 to 3843. */
export const createLinkSecret = ({ slot, kind, variant }: NamedByLink) =>
  createSecret(
    LINK,
    toDigits(BASE62, slot, SLOT_DIGITS) +
      toDigits(BASE62, LINK_KINDS.indexOf(kind), KIND_DIGITS) +
      toDigits(BASE62, variant, VARIANT_DIGITS),
  )

/** What the secret of a link names, or undefined if the form or checksum is wrong. */
export const readLinkSecret = (secret: string): NamedByLink | undefined => {
  const read = readSecret(secret, LINK)
  if (!read) return undefined
  const { slot, body } = read
  const kind = LINK_KINDS[fromDigits(BASE62, body.slice(SLOT_DIGITS, SLOT_DIGITS + KIND_DIGITS))]
  return kind && { slot, kind, variant: fromDigits(BASE62, body.slice(SLOT_DIGITS + KIND_DIGITS, LINK.named)) }
}
