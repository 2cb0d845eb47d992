import { fold } from '../fold'
import { decodeEntities } from '../html'

/** Characters of an excerpt: as many before the match, and in all. */
const BEFORE = 60
const LENGTH = 160

const segmenter = new Intl.Segmenter()
const toGraphemes = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment)

const INLINE = /^<\/?(?:a|b|code|del|em|font|i|ins|mark|s|small|span|strike|strong|sub|sup|u|wbr)\b/i
const toSpace = (tag: string) => (INLINE.test(tag) ? '' : ' ')

/** HTML or plain text without tags, in NFC. Of a text that is cut, the rest of a cut tag or entity is removed, too. */
const toPlain = (text: string, isCutBefore: boolean, isCutAfter: boolean) => {
  const start = isCutBefore ? text.replace(/^[^<>]*["'/]>|^[\w-]*>|^#?\w{1,8};/, '') : text
  const whole = isCutAfter ? start.replace(/<(?:[/!]?[a-z][^>]*|[/!]?)$|&#?\w{0,8}$/i, '') : start
  const withoutTags = whole.replace(/<(?:[/!]?[a-z])[^>]*>/gi, toSpace)
  return decodeEntities(withoutTags).normalize('NFC').replace(/\s+/g, ' ').trim()
}

/** A part of a text around a match. */
type Part = {
  part: string
  isCutBefore: boolean
  isCutAfter: boolean
  /** The same part of the folded text, if that is stored. Its position is exact, and that of `part` estimated. */
  foldedPart: string | null
}

/**
 * Plain text around a match. If the match is in the markup of HTML, the text next to it.
 * @param q the folded search term
 */
export const toExcerpt = ({ part, isCutBefore, isCutAfter, foldedPart }: Part, q: string) => {
  const texts = [part, foldedPart ?? part].map((text) => toPlain(text, isCutBefore, isCutAfter))
  const text = texts.find((each) => fold(each).includes(q)) ?? texts[0] ?? ''
  const at = fold(text).indexOf(q)
  const graphemes = toGraphemes(text)
  // Folding may change the length.
  let length = 0
  const match = graphemes.findIndex((grapheme) => {
    length += fold(grapheme).length
    return length > at
  })
  // Where the part is cut, its first or last grapheme may be incomplete.
  const first = isCutBefore ? Math.min(1, match) : 0
  const last = graphemes.length - Number(isCutAfter)
  const from = Math.max(first, Math.min(match - BEFORE, last - LENGTH))
  const to = Math.min(last, from + LENGTH)
  const start = isCutBefore || from > 0 ? '…' : ''
  const end = to < graphemes.length ? '…' : ''
  return start + graphemes.slice(from, to).join('') + end
}
