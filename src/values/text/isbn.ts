import * as z from 'zod/mini'
import { orRequired } from '../fields'

// Spaces and hyphens of any kind may separate the digits.
const ISBN =
  /^[\s\u2010-\u2015-]*(?:\d[\s\u2010-\u2015-]*){9}(?:[\dXx]|(?:\d[\s\u2010-\u2015-]*){3}\d)[\s\u2010-\u2015-]*$/

const sum = (digits: string, weight: (at: number) => number) =>
  [...digits].reduce((total, digit, at) => total + (digit === 'X' ? 10 : Number(digit)) * weight(at), 0)
const sumOf13 = (digits: string) => sum(digits, (at) => (at % 2 === 0 ? 1 : 3))
const isIsbn10 = (code: string) => sum(code, (at) => 10 - at) % 11 === 0
const isIsbn13 = (code: string) => sumOf13(code) % 10 === 0

const toIsbn13 = (isbn10: string) => {
  const digits = `978${isbn10.slice(0, 9)}`
  return `${digits}${(10 - (sumOf13(digits) % 10)) % 10}`
}

/** Undefined if the ISBN-13 has no ISBN-10. */
export const toIsbn10 = (isbn13: string) => {
  if (!isbn13.startsWith('978')) return undefined
  const digits = isbn13.slice(3, 12)
  const check = (11 - (sum(digits, (at) => 10 - at) % 11)) % 11
  return `${digits}${check === 10 ? 'X' : check}`
}

const FORM = 'must be an ISBN of 10 or 13 digits'

/** The ISBN-13 of an ISBN-10 or ISBN-13, without hyphens, or what is wrong with it. */
export const toIsbn = (text: string): { isbn: string } | { reason: string } => {
  if (!ISBN.test(text)) return { reason: FORM }
  const code = text.replace(/[^\dXx]/g, '').toUpperCase()
  if (code.length === 13 && !/^97[89]/.test(code)) {
    return { reason: 'must start with 978 or 979 if it has 13 digits' }
  }
  if (!(code.length === 13 ? isIsbn13 : isIsbn10)(code)) {
    return { reason: 'must have a valid check digit: at least one digit is wrong' }
  }
  return { isbn: code.length === 13 ? code : toIsbn13(code) }
}

const error = orRequired(FORM)
const typeError = orRequired(`${FORM}, as a string`)

/** An ISBN-10 or ISBN-13, in a request. The output is the ISBN-13, without hyphens. */
export const Isbn = z.lazy(() =>
  z.pipe(
    z.string({ error: typeError }).check(z.regex(ISBN, { error })),
    z.transform((text, { issues }) => {
      const found = toIsbn(text)
      if ('isbn' in found) return found.isbn
      issues.push({ code: 'custom', message: found.reason, input: text })
      return z.NEVER
    }),
  ),
)
