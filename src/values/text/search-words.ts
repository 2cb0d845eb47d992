import { fold } from './fold'
import { toIsbn } from './isbn'

/** The most words of a search term: those of a long title. */
export const MAX_WORDS = 16

/**
 * The folded words of a search term, separated by space or hyphens. The longest comes first: it is usually the rarest, so
 * that most texts fail the first test. Punctuation alone counts only if there is nothing else.
 */
export const toWords = (term: string) => {
  const whole = fold(term)
  const words = new Set(whole.split(/[\s\p{Pd}]+/u).filter((word) => /\P{P}/u.test(word)))
  return words.size > 0 ? [...words].sort((one, other) => other.length - one.length) : [whole]
}

/** The same for a search of books, where an ISBN-10 or ISBN-13 is one word. */
export const toBookWords = (term: string) => {
  const code = toIsbn(term)
  return 'isbn' in code ? [code.isbn] : toWords(term)
}
