// Crockford's base32 has no letters that look like a digit or another letter: https://www.crockford.com/base32.html
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 10

/** A code of 50 random bits, to be read and typed, such as `K7QM2-9FXTR`. */
export const randomCode = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH))
  const code = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
}

/** Enough for any code, however it is spaced. Normalising a megabyte would take as long as hashing a password. */
const MAX_TYPED = 200

/** Normalises a typed code: upper case, without spaces and hyphens, `O` read as 0, `I` and `L` as 1. */
export const normaliseCode = (text: string) =>
  text
    .slice(0, MAX_TYPED)
    .replace(/[\s\p{Dash_Punctuation}]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
