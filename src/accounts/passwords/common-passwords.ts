import type { Bindings, Config } from '../../env'
import { fieldError, unavailable } from '../../errors'
import { withTimeout } from '../../runtime/retry'

// The filter is a sorted list of 32-bit hashes: 40 KB outside the Worker's bundle. One in 430,000 other passwords has the
// hash of a common one (10,000 / 2^32) and is refused too.

/** An asset that only the Worker can read; scripts/assets.ts writes it. */
export const FILTER_FILE = 'common-passwords.bin'
export const COMMON_PASSWORDS = 10_000
const HASH_BYTES = 4
const TIMEOUT_MS = 10_000

/** The first 32 bits of the SHA-256 of a password, regardless of case. */
const hashBits = async (password: string) => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(password.toLowerCase()))
  return new DataView(digest).getUint32(0)
}

/** The content of the filter file. */
export const toFilter = async (passwords: string[]) => {
  const hashes = Uint32Array.from(await Promise.all(passwords.map(hashBits))).sort()
  const file = new DataView(new ArrayBuffer(hashes.length * HASH_BYTES))
  for (const [index, hash] of hashes.entries()) file.setUint32(index * HASH_BYTES, hash)
  return new Uint8Array(file.buffer)
}

const includes = (filter: DataView, hash: number) => {
  let [low, high] = [0, filter.byteLength / HASH_BYTES]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (filter.getUint32(middle * HASH_BYTES) < hash) low = middle + 1
    else high = middle
  }
  return low * HASH_BYTES < filter.byteLength && filter.getUint32(low * HASH_BYTES) === hash
}

// Not the promise: a request cannot wait for the I/O of another one.
const filters = new WeakMap<Fetcher, DataView>()

const readFilter = async (assets: Fetcher) => {
  const known = filters.get(assets)
  if (known) return known
  const response = await assets.fetch(`https://assets.invalid/${FILTER_FILE}`)
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  const filter = new DataView(await response.arrayBuffer())
  if (filter.byteLength !== COMMON_PASSWORDS * HASH_BYTES) throw new Error(`${filter.byteLength} bytes`)
  filters.set(assets, filter)
  return filter
}

/**
 * Refuses one of the 10,000 most common passwords, if REFUSE_COMMON_PASSWORDS is on.
 * @throws INVALID_FIELDS; UNAVAILABLE when the list cannot be read
 */
export const requireUncommon = async (env: Bindings, config: Config, password: string) => {
  if (config.REFUSE_COMMON_PASSWORDS === 'off') return
  const filter = await withTimeout(TIMEOUT_MS, () => readFilter(env.ASSETS)).catch((error) => {
    throw unavailable(`common passwords: ${error}`)
  })
  if (!includes(filter, await hashBits(password))) return
  throw fieldError('password', password, 'is one of the most common passwords')
}
