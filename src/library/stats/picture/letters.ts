// How wide a text will be depends on fonts that only the viewer has. The widths here, in em, are those of DejaVu Sans
// and Verdana, the widest of the usual system fonts.
const LATIN: [width: number, letters: string][] = [
  [0.3, "'Iijl"],
  [0.36, ' ,-./:;\\f|'],
  [0.42, '!()J[]rt'],
  [0.54, '"*?_`csz'],
  [0.7, 'ABCKRVXZ'],
  [0.8, '&DGHNOQUw'],
  [0.86, '#+<=>M^~'],
  [1, '%@Wm'],
]
const ASCII = Array.from({ length: 128 }, (_, code) => {
  const found = LATIN.find(([, letters]) => letters.includes(String.fromCharCode(code)))
  return found?.[0] ?? 0.64
})
const WEIGHTS = { 400: 1, 700: 1.14 }
export type Weight = keyof typeof WEIGHTS

const NO_WIDTH = /[\p{M}\p{Cf}]/u
/** Letters of scripts without a class of their own may be as wide as this. */
const UNKNOWN = 1.1
const toWidth = (code: number, letter: string) => {
  if (code < 128) return ASCII[code] ?? UNKNOWN
  if (NO_WIDTH.test(letter)) return 0
  // Latin, Greek, Cyrillic, Armenian, Hebrew
  if (code < 0x600) return 0.76
  // Arabic and its neighbours, and their presentation forms, of which some are whole words
  if (code < 0x900 || (code >= 0xfe70 && code < 0xff00)) return 0.72
  if (code >= 0xfdf0 && code < 0xfe00) return 8
  // Korean
  if (code >= 0xac00 && code < 0xd7b0) return 1
  // Cuneiform
  if (code >= 0x12000 && code < 0x12550) return 5
  // Emoji
  if (code >= 0x1f000 && code < 0x20000) return 1.3
  // Dashes of two and three em
  if (code === 0x2e3a || code === 0x2e3b) return 3
  return UNKNOWN
}

let segmenter: Intl.Segmenter | undefined
/** The start of the grapheme that contains an index of a text. */
const toBoundary = (text: string, index: number) => {
  segmenter ??= new Intl.Segmenter('en')
  return segmenter.segment(text).containing(index)?.index ?? 0
}

/** The largest font size, at most `most`, in which a text fits a width. */
export const fitSize = (text: string, width: number, most: number, weight: Weight = 400) => {
  const room = width / WEIGHTS[weight]
  let ems = 0
  for (const letter of text) {
    ems += toWidth(letter.codePointAt(0) ?? 0, letter)
    if (ems > room) return 1
  }
  return ems * most > room ? Math.floor(room / ems) : most
}

/** Cuts a text to a width in units of the picture, by graphemes, with an ellipsis. */
export const cutText = (text: string, width: number, fontSize: number) => {
  const room = width / fontSize
  let used = 0
  let end = 0
  let index = 0
  for (const letter of text) {
    used += toWidth(letter.codePointAt(0) ?? 0, letter)
    if (used > room) return `${text.slice(0, toBoundary(text, end)).trimEnd()}…`
    index += letter.length
    // The ellipsis is one em wide.
    if (used <= room - 1) end = index
  }
  return text
}

/** The most of a text that is looked at, in UTF-16 units: all of a title of 500 characters. */
const LOOKED_AT = 1000
/**
 * Makes a text safe to show on one line: valid in XML, without controls or embedded directions, and with at most three
 * marks on a letter, since a pile of them would reach into other lines. Empty if nothing would show.
 */
export const toLine = (text: string) => {
  const line = text
    .slice(0, LOOKED_AT)
    .toWellFormed()
    .normalize('NFC')
    .replace(/[[\p{Cf}\p{Noncharacter_Code_Point}]--[\u200c-\u200f]]/gv, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .replace(/(?<=[\u200c-\u200f])[\u200c-\u200f]+|(?<=\p{M}{3})\p{M}+/gu, '')
    .trim()
  return /[^\p{M}\p{Cf}\s]/u.test(line) ? line : ''
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
/** The first letter with a direction decides, as with dir="auto" in HTML. */
export const isRightToLeft = (text: string) => RIGHT_TO_LEFT.test(text.match(/[\p{L}\u200e\u200f]/u)?.[0] ?? '')
