// Without imports, and without toHex(), so that scripts can load it.

const HMAC = { name: 'HMAC', hash: 'SHA-256' }
const keys = new Map<string, Promise<CryptoKey>>()

/** The HMAC-SHA-256 key of a secret, imported once per isolate. */
export const hmacKey = (secret: string) => {
  const key =
    keys.get(secret) ??
    crypto.subtle.importKey('raw', new TextEncoder().encode(secret), HMAC, false, ['sign', 'verify'])
  keys.set(secret, key)
  return key
}

/** HMAC-SHA-256. */
export const hmac = async (secret: string, text: string) =>
  new Uint8Array(await crypto.subtle.sign(HMAC, await hmacKey(secret), new TextEncoder().encode(text)))

/** HMAC-SHA-256 of a list of texts, in base64: without the secret, the texts cannot be guessed from the hash. */
export const keyedHash = async (secret: string, ...texts: string[]) =>
  // JSON keeps ['ab', 'c'] and ['a', 'bc'] apart, and never looks like the signed part of a JWT.
  (await hmac(secret, JSON.stringify(texts))).toBase64()

const ADDRESS_BYTES = 16

/** The key of an address in the directory, as hex() in SQLite returns it: the same regardless of case. */
export const hashAddress = async (secret: string, email: string) => {
  // Only ASCII, as lower() in SQLite.
  const lower = email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const bytes = (await hmac(secret, lower)).subarray(0, ADDRESS_BYTES)
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
}

/** A keyed hash of a constant, which identifies ADDRESS_KEY without revealing it. */
export const checkOfKey = (addressKey: string) => hashAddress(addressKey, 'ADDRESS_KEY')

/** Begins the subjects of what is counted for an e-mail address or a member, so that `npm run members` finds them. */
export const accountPrefix = async (secret: string, account: string) =>
  `${(await hashAddress(secret, `account ${account}`)).slice(0, 16)} `

/** The account under which things are counted for a member, whatever the address. */
export const memberAccount = (memberId: number) => `member ${memberId}`

/**
 * The subject of what is counted for an e-mail address or a member: a hash of the account, the name of the action, and a
 * hash of what is counted apart, such as the network.
 */
export const accountSubject = async (secret: string, account: string, action: string, ...apart: string[]) => {
  const hash = apart.length > 0 ? await keyedHash(secret, action, account.toLowerCase(), ...apart) : ''
  return `${await accountPrefix(secret, account)}${action} ${hash}`
}
