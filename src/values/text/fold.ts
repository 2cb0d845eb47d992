// The lookbehind finds where a run begins. It follows the first mark, so that it is only evaluated at marks.
const LONG_RUN = /\p{M}(?<!\p{M}{2})\p{M}{30}/u

/** In NFC, unless over 30 combining marks follow each other, as in no language: sorting them takes quadratic time. */
const toNfc = (text: string) => (LONG_RUN.test(text) ? text : text.normalize('NFC'))

export const isAscii = (text: string) => /^\p{ASCII}*$/u.test(text)

/**
 * Folds a text for comparison regardless of case, beyond ASCII and in all Unicode normalization forms. Unicode's full
 * case folding, approximated by upper- and then lower-casing (`ß` equals `ss`), with one form of the Greek sigma and
 * one of the Turkish i, in NFC.
 */
export const fold = (text: string) => {
  // Faster, with the same result.
  if (isAscii(text)) return text.toLowerCase()
  return toNfc(text.toUpperCase().toLowerCase()).replaceAll('ς', 'σ').replaceAll('i\u0307', 'i')
}

/** Like `lower()` in SQLite. */
export const lowerAscii = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/**
 * The folded text for a `…Folded` column, or null if SQLite's `lower`, which folds only ASCII, returns the same. So few
 * texts are stored twice: mainly those with capitals beyond ASCII, and those that are not in NFC.
 */
export const toFoldedColumn = (text: string | null | undefined) => {
  if (text == null || isAscii(text)) return null
  const folded = fold(text)
  return folded === lowerAscii(text) ? null : folded
}
