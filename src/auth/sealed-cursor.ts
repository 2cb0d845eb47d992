import { hmac } from './keyed-hash'

const IV_BYTES = 12
const AES = 'AES-GCM'
const encoder = new TextEncoder()

const aesKey = async (secret: string) =>
  crypto.subtle.importKey('raw', await hmac(secret, 'link cursor'), AES, false, ['encrypt', 'decrypt'])

/**
 * Encrypts the cursor of a link, which can name rows that the link does not show. Deterministic, so that the ETag stays
 * the same: the initialization vector is an HMAC of the link's hash and the cursor. A new JWT_SECRET voids cursors.
 * @param hash of the link; the cursor is valid only for it
 */
export const sealCursor = async (secret: string, hash: string, cursor: string) => {
  const iv = (await hmac(secret, JSON.stringify(['cursor', hash, cursor]))).subarray(0, IV_BYTES)
  const options = { name: AES, iv, additionalData: encoder.encode(hash) }
  const sealed = await crypto.subtle.encrypt(options, await aesKey(secret), encoder.encode(cursor))
  return new Uint8Array([...iv, ...new Uint8Array(sealed)]).toBase64({ alphabet: 'base64url', omitPadding: true })
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
