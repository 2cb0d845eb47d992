import { fold } from '../../values/text/fold'
import { decodeEntities } from '../../values/text/html'

/** Characters of an excerpt before the match, and in total. */
const BEFORE = 60
const LENGTH = 160

const INLINE = /^<\/?(?:a|b|code|del|em|font|i|ins|mark|s|small|span|strike|strong|sub|sup|u|wbr)\b/i
const toSpace = (tag: string) => (INLINE.test(tag) ? '' : ' ')

/** Removes tags, and decodes entities. Where the text was cut, an incomplete tag or entity is removed, too. In NFC. */
const stripMarkup = (text: string, isCutBefore: number, isCutAfter: number) => {
  const start = isCutBefore ? text.replace(/^[^<>]*["'/]>|^[\w-]*>|^#?\w{1,8};/, '') : text
  const whole = isCutAfter ? start.replace(/<(?:[/!]?[a-z][^>]*|[/!]?)$|&#?\w{0,8}$/i, '') : start
  const withoutTags = whole.replace(/<(?:[/!]?[a-z])[^>]*>/gi, toSpace)
  return decodeEntities(withoutTags).normalize('NFC').replace(/\s+/g, ' ').trim()
}

/** A passage of a text around a match. */
export type Passage = {
  passage: string
  isCutBefore: number
  isCutAfter: number
  /** The passage of the folded text around the match, if that is stored. The position of `passage` is then an estimate. */
  foldedPassage: string | null
}

/** Converts a position in the folded text to one in the text. */
const toIndex = (text: string, folded: string, position: number) => {
  if (folded.length === text.length) return position
  let [index, length] = [0, 0]
  for (const [letter] of text.matchAll(/.\p{M}*/gsu)) {
    length += fold(letter).length
    if (length > position) break
    index += letter.length
  }
  return index
}

// Created at the first use: it takes about 10 ms, which every cold start would pay.
let segmenter: Intl.Segmenter | undefined
const segment = (text: string) => {
  segmenter ??= new Intl.Segmenter()
  return segmenter.segment(text)
}

/**
 * Plain text around a match; next to it if it is in HTML markup.
 * @param terms what the match may be, folded: the first one that the text has is shown
 */
export const toExcerpt = ({ passage, isCutBefore, isCutAfter, foldedPassage }: Passage, terms: string[]) => {
  const texts = [passage, foldedPassage ?? passage].map((text) => stripMarkup(text, isCutBefore, isCutAfter))
  const options = terms.flatMap((term) => texts.map((text) => ({ term, text })))
  const found = options.find(({ term, text }) => fold(text).includes(term))
  const { term, text } = found ?? { term: '', text: texts[0] ?? '' }
  const folded = fold(text)
  const match = Math.max(0, toIndex(text, folded, folded.indexOf(term)))
  const segments = segment(text)
  // Characters may be incomplete at the ends of a cut text.
  const first = isCutBefore ? Math.min(match, segments.containing(0)?.segment.length ?? 0) : 0
  const last = isCutAfter ? (segments.containing(text.length - 1)?.index ?? 0) : text.length
  const from = Math.max(first, Math.min(match - BEFORE, last - LENGTH))
  const to = Math.min(last, Math.max(from + LENGTH, match + term.length))
  const toBoundary = (index: number) => segments.containing(index)?.index ?? text.length
  const [start, end] = [toBoundary(from), toBoundary(to)]
  return `${isCutBefore || from > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
