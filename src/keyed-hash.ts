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

/** HMAC-SHA-256 of a list of texts, in base64: without the secret, the texts cannot be guessed from the hash. */
export const keyedHash = async (secret: string, ...texts: string[]) => {
  // JSON keeps ['ab', 'c'] and ['a', 'bc'] apart, and never looks like the signed part of a JWT.
  const bytes = new TextEncoder().encode(JSON.stringify(texts))
  return new Uint8Array(await crypto.subtle.sign(HMAC, await hmacKey(secret), bytes)).toBase64()
}
