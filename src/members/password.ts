// PBKDF2-HMAC-SHA-512 at the 210,000 iterations that OWASP's Password Storage Cheat Sheet asks for. Deployed Workers
// refuse more than 100,000 iterations a call, so it is a chain: the output of each round is the password of the next.
// A chain is not standard PBKDF2, hence an identifier of its own.
const SCHEME = 'pbkdf2-sha512-chain'
const ROUNDS = 3
const ITERATIONS = 70_000
const MAX_ITERATIONS = 100_000
const MAX_ROUNDS = 20
const SALT_BYTES = 16
const HASH_BYTES = 64

type Stored = { rounds: number; iterations: number; salt: Uint8Array; hash: Uint8Array }

const STORED_FORM = new RegExp(`^\\$${SCHEME}\\$r=(\\d{1,2}),i=(\\d{1,6})\\$([^$]+)\\$([^$]+)$`)

const parse = (stored: string): Stored => {
  const [, rounds, iterations, salt, hash] = STORED_FORM.exec(stored) ?? []
  if (!salt || !hash) throw new Error('A stored password hash has an unknown form')
  return {
    // Clamped, so that no stored text can make a login dear or, beyond the platform's cap, impossible.
    rounds: Math.min(Number(rounds), MAX_ROUNDS),
    iterations: Math.min(Number(iterations), MAX_ITERATIONS),
    salt: Uint8Array.fromBase64(salt),
    hash: Uint8Array.fromBase64(hash),
  }
}

/** Called after each round: hashing keeps an isolate from everything else, but for what is done here. */
type Pause = () => Promise<void>
const goOn: Pause = async () => {}

const derive = async (password: string, salt: Uint8Array, rounds: number, iterations: number, pause: Pause) => {
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

/** Hashes a password under a fresh salt, parameters included, for storing. */
export const hashPassword = async (password: string, pause = goOn) => {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const hash = await derive(password, salt, ROUNDS, ITERATIONS, pause)
  return format({ rounds: ROUNDS, iterations: ITERATIONS, salt, hash })
}

/** A hash that no password has: checked for e-mails that nobody has, so that they take the same time. */
export const DUMMY_HASH = format({
  rounds: ROUNDS,
  iterations: ITERATIONS,
  salt: new Uint8Array(SALT_BYTES),
  hash: new Uint8Array(HASH_BYTES),
})

/**
 * Whether the password is the stored one, compared in constant time.
 * @throws Error when the stored text is none that this service wrote
 */
export const verifyPassword = async (password: string, stored: string, pause = goOn) => {
  const { salt, hash, rounds, iterations } = parse(stored)
  const candidate = await derive(password, salt, rounds, iterations, pause)
  let difference = candidate.length ^ hash.length
  for (const [at, byte] of candidate.entries()) difference |= byte ^ (hash[at] ?? 0)
  return difference === 0
}

/** Whether the stored hash was made at a lower cost than is asked for today. */
export const isWeak = (stored: string) => {
  const { rounds, iterations } = parse(stored)
  return rounds * iterations < ROUNDS * ITERATIONS
}
