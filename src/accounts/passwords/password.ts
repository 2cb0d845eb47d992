// PBKDF2-HMAC-SHA-512 with the 210,000 iterations that OWASP's Password Storage Cheat Sheet recommends. Deployed
// Workers refuse more than 100,000 iterations per call, so rounds are chained: the output of each is the password of
// the next. A chain is not standard PBKDF2, hence its own identifier. See docs/decisions/0005-chained-pbkdf2.md.
const SCHEME = 'pbkdf2-sha512-chain'
const NEW = { rounds: 3, iterations: 70_000 }
const MAX_ITERATIONS = 100_000
const MAX_ROUNDS = 20
const SALT_BYTES = 16
const HASH_BYTES = 64

type Parameters = { rounds: number; iterations: number; salt: Uint8Array }
type Stored = Parameters & { hash: Uint8Array }

const STORED_FORM = new RegExp(`^\\$${SCHEME}\\$r=(\\d{1,2}),i=(\\d{1,6})\\$([^$]+)\\$([^$]+)$`)

const parse = (stored: string): Stored => {
  const [, rounds, iterations, salt, hash] = STORED_FORM.exec(stored) ?? []
  if (!salt || !hash) throw new Error('A stored password hash has an unknown format')
  return {
    // Clamped, so that no stored value makes a login expensive or exceeds the platform's limit.
    rounds: Math.min(Number(rounds), MAX_ROUNDS),
    iterations: Math.min(Number(iterations), MAX_ITERATIONS),
    salt: Uint8Array.fromBase64(salt),
    hash: Uint8Array.fromBase64(hash),
  }
}

/** Awaited after each round, so that the isolate can answer other requests in between. */
export type Pause = () => Promise<void>
const noPause: Pause = async () => {}

const derive = async (password: string, { rounds, iterations, salt }: Parameters, pause: Pause) => {
  let bytes: Uint8Array = new TextEncoder().encode(password)
  for (let round = 0; round < rounds; round++) {
    const key = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits'])
    const algorithm = { name: 'PBKDF2', hash: 'SHA-512', salt, iterations }
    bytes = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, HASH_BYTES * 8))
    await pause()
  }
  return bytes
}

const format = ({ rounds, iterations, salt, hash }: Stored) =>
  `$${SCHEME}$r=${rounds},i=${iterations}$${salt.toBase64()}$${hash.toBase64()}`

/** Hashes a password with a new salt. The result includes the parameters. */
export const hashPassword = async (password: string, pause = noPause) => {
  const parameters = { ...NEW, salt: crypto.getRandomValues(new Uint8Array(SALT_BYTES)) }
  return format({ ...parameters, hash: await derive(password, parameters, pause) })
}

/** Verified for unknown e-mails, so that they take as long as known ones. No password matches it. */
export const DUMMY_HASH = format({ ...NEW, salt: new Uint8Array(SALT_BYTES), hash: new Uint8Array(HASH_BYTES) })

/**
 * Compares a password with a stored hash in constant time.
 * @throws Error when the stored hash has an unknown format
 */
export const verifyPassword = async (password: string, stored: string, pause: Pause) => {
  const { hash, ...parameters } = parse(stored)
  const candidate = await derive(password, parameters, pause)
  return candidate.length === hash.length && crypto.subtle.timingSafeEqual(candidate, hash)
}

/** Whether a stored hash has fewer iterations than new ones. */
export const isOutdated = (stored: string) => {
  const { rounds, iterations } = parse(stored)
  return rounds * iterations < NEW.rounds * NEW.iterations
}
