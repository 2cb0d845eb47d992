const toHex = (data: ArrayBuffer | ArrayBufferView) =>
  (ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
  ).toHex()

/**
 * Caches password hashes by password and salt. Most tests log in with the password and the salt of an earlier one, and
 * hashing took half of the CPU time of all tests.
 */
export const rememberHashes = () => {
  const { subtle } = crypto
  const [importKey, deriveBits] = [subtle.importKey.bind(subtle), subtle.deriveBits.bind(subtle)]
  const passwords = new WeakMap<CryptoKey, string>()
  const hashes = new Map<string, ArrayBuffer>()
  subtle.importKey = async (...values: Parameters<typeof importKey>) => {
    const [, data, algorithm] = values
    const key = await importKey(...values)
    if (algorithm === 'PBKDF2') passwords.set(key, toHex(data as ArrayBuffer))
    return key
  }
  subtle.deriveBits = async (...values: Parameters<typeof deriveBits>) => {
    const [algorithm, key, length] = values
    const { salt, ...others } = algorithm as SubtleCryptoDeriveKeyAlgorithm
    const id = JSON.stringify([passwords.get(key), salt && toHex(salt), others, length])
    const known = hashes.get(id) ?? (await deriveBits(...values))
    hashes.set(id, known)
    return known.slice(0)
  }
}
