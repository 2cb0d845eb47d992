export const isAscii = (text: string) => /^\p{ASCII}*$/u.test(text)

/**
 * Cuts runs of over 30 combining marks, as in no language: normalizing sorts them, in time quadratic in the length of
 * the run. The lookbehind follows a mark, so that it is only evaluated at marks; a greedy run could exceed the stack.
 */
export const cutMarks = (text: string) => text.replace(/\p{M}(?<=\p{M}{31})/gu, '')

/** Letters that Unicode relates to no others, neither by case nor by decomposition. */
// biome-ignore format: one line
const PLAIN: Record<string, string> = { ł: 'l', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', þ: 'th', æ: 'ae', œ: 'oe', ß: 'ss', ς: 'σ', ё: 'е' }

/**
 * Folds a text for search, sorting and comparison: regardless of case (`ß` equals `ss`), of the marks of Latin and Greek
 * letters, of the kind of apostrophe, quotation mark or hyphen, and of the Unicode normalization form. In NFC. Marks of
 * other scripts stay, because they tell words apart.
 */
export const fold = (text: string) => {
  // Faster, with the same result.
  if (isAscii(text)) return text.toLowerCase()
  return cutMarks(text)
    .normalize('NFD')
    .replace(/(?<=[\p{sc=Latin}\p{sc=Greek}])[\u0300-\u036f]+/gu, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replace(/[łøđðħþæœßςё]/g, (letter) => PLAIN[letter] ?? letter)
    .replace(/[‘’‚‛′‹›´ʹʻʼʾʿ]/g, "'")
    .replace(/[“”„‟″«»]/g, '"')
    .replace(/[\u2010-\u2015−]/g, '-')
}

/** The form by which titles and names are sorted: folded, without the punctuation that they begin with. */
export const toSortKey = (text: string) => fold(text).replace(/^[\p{P}\s]+(?=[^\p{P}\s])/u, '')

/** Like `lower()` in SQLite. */
const lowerAscii = (text: string) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/**
 * A folded text for a `…Folded` column, or null if SQLite's `lower`, which folds only ASCII, returns the same. So few
 * texts are stored twice.
 */
export const unlessLower = (folded: string, text: string) => (folded === lowerAscii(text) ? null : folded)
