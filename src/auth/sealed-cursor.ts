import { hmacKey } from './keyed-hash'

const IV_BYTES = 12
const AES = 'AES-GCM'
const encoder = new TextEncoder()

const keys = new Map<string, Promise<CryptoKey>>()
/** The key of a secret, imported once per isolate. */
const aesKey = (secret: string) => {
  const derive = async () => {
    const bytes = await crypto.subtle.sign('HMAC', await hmacKey(secret), encoder.encode('link cursor'))
    return crypto.subtle.importKey('raw', bytes, AES, false, ['encrypt', 'decrypt'])
  }
  const key = keys.get(secret) ?? derive()
  keys.set(secret, key)
  return key
}

/**
 * Encrypts the cursor of a link, which can name rows that the link does not show. Deterministic, so that the ETag stays the same: the
 * initialization vector is an HMAC of the link's hash and the cursor. A new JWT_SECRET voids cursors.
 * @param hash of the link; the cursor is valid only for it
 */
export const sealCursor = async (secret: string, hash: string, cursor: string) => {
  const text = encoder.encode(cursor)
  const signed = encoder.encode(JSON.stringify(['cursor', hash, cursor]))
  const iv = new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(secret), signed)).subarray(0, IV_BYTES)
  const options = { name: AES, iv, additionalData: encoder.encode(hash) }
  const sealed = new Uint8Array(await crypto.subtle.encrypt(options, await aesKey(secret), text))
  const all = new Uint8Array(IV_BYTES + sealed.length)
  all.set(iv)
  all.set(sealed, IV_BYTES)
  return all.toBase64({ alphabet: 'base64url', omitPadding: true })
}

/** Returns undefined unless the text is a cursor of the link, sealed with the secret. */
export const openCursor = async (secret: string, hash: string, sealed: string) => {
  try {
    const bytes = Uint8Array.fromBase64(sealed, { alphabet: 'base64url' })
    const options = { name: AES, iv: bytes.subarray(0, IV_BYTES), additionalData: encoder.encode(hash) }
    const opened = await crypto.subtle.decrypt(options, await aesKey(secret), bytes.subarray(IV_BYTES))
    return new TextDecoder().decode(opened)
  } catch {
    return undefined
  }
}
