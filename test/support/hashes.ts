const toHex = (data: ArrayBuffer | ArrayBufferView) =>
  (ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
  ).toHex()

let isRemembering = false

/**
 * Hashes each password once for each fixed salt and once for all random ones, which made most of the CPU time of tests
 * that log in. Hashes with fixed salts, and the attacks, test that the salt is used.
 */
export const rememberHashes = () => {
  if (isRemembering) return
  isRemembering = true
  const { subtle } = crypto
  const [importKey, deriveBits] = [subtle.importKey.bind(subtle), subtle.deriveBits.bind(subtle)]
  const getRandomValues = crypto.getRandomValues.bind(crypto)
  const randomSalts = new Set<string>()
  const passwords = new WeakMap<CryptoKey, string>()
  const hashes = new Map<string, Promise<ArrayBuffer>>()
  crypto.getRandomValues = (array) => {
    const values = getRandomValues(array)
    randomSalts.add(toHex(values))
    return values
  }
  subtle.importKey = async (...values: Parameters<typeof importKey>) => {
    const [, data, algorithm] = values
    const key = await importKey(...values)
    if (algorithm === 'PBKDF2') passwords.set(key, toHex(data as ArrayBuffer))
    return key
  }
  subtle.deriveBits = async (...values: Parameters<typeof deriveBits>) => {
    const [algorithm, key, length] = values
    const { salt, ...others } = algorithm as SubtleCryptoDeriveKeyAlgorithm
    const usedSalt = salt && toHex(salt)
    const id = JSON.stringify([passwords.get(key), usedSalt && !randomSalts.has(usedSalt) && usedSalt, others, length])
    const known = hashes.get(id) ?? deriveBits(...values)
    hashes.set(id, known)
    return (await known).slice(0)
  }
}
