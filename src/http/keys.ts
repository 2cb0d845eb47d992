const HMAC = { name: 'HMAC', hash: 'SHA-256' }
const keys = new Map<string, Promise<CryptoKey>>()

/** The HMAC-SHA-256 key of a secret, imported once for each isolate. */
export const hmacKey = (secret: string) => {
  const key =
    keys.get(secret) ??
    crypto.subtle.importKey('raw', new TextEncoder().encode(secret), HMAC, false, ['sign', 'verify'])
  keys.set(secret, key)
  return key
}

/** A keyed hash of texts, in base64: it tells nobody without the secret what they were. */
export const keyedHash = async (secret: string, ...texts: string[]) => {
  // JSON keeps apart what is joined, and no token's signed part begins with a bracket.
  const bytes = new TextEncoder().encode(JSON.stringify(texts))
  return new Uint8Array(await crypto.subtle.sign(HMAC, await hmacKey(secret), bytes)).toBase64()
}
