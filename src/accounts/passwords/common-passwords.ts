import type { Bindings, Config } from '../../env'
import { fieldError, unavailable } from '../../errors'
import { readAsset } from '../../storage/assets'

// The filter is a list of 32-bit hashes: 40 KB outside the Worker's bundle. One in 430,000 other passwords has the
// hash of a common one (10,000 / 2^32) and is refused too.

/** An asset that only the Worker can read; scripts/assets.ts writes it. */
export const FILTER_FILE = 'common-passwords.bin'
export const COMMON_PASSWORDS = 10_000
const WHAT = 'common passwords'

/** The first 32 bits of the SHA-256 of a password, regardless of case. */
const hashBits = async (password: string) => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(password.toLowerCase()))
  return new DataView(digest).getUint32(0)
}

/** The content of the filter file. Machines that build and run Workers are little-endian. */
export const toFilter = async (passwords: string[]) =>
  new Uint8Array(Uint32Array.from(await Promise.all(passwords.map(hashBits))).buffer)

// Not the promise: a request cannot wait for the I/O of another one.
const filters = new WeakMap<Fetcher, Uint32Array>()

const readFilter = async (assets: Fetcher) => {
  const known = filters.get(assets)
  if (known) return known
  const bytes = await readAsset(assets, FILTER_FILE, WHAT)
  const filter = new Uint32Array(bytes.buffer)
  if (filter.length !== COMMON_PASSWORDS) throw unavailable(`${WHAT}: ${bytes.length} bytes`)
  filters.set(assets, filter)
  return filter
}

/**
 * Refuses one of the 10,000 most common passwords, if REFUSE_COMMON_PASSWORDS is on.
 * @throws INVALID_FIELDS; UNAVAILABLE when the list cannot be read
 */
export const requireUncommon = async (env: Bindings, config: Config, password: string) => {
  if (config.REFUSE_COMMON_PASSWORDS === 'off') return
  const filter = await readFilter(env.ASSETS)
  if (!filter.includes(await hashBits(password))) return
  throw fieldError('password', password, 'is one of the most common passwords')
}
