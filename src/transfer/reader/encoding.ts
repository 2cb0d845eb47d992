import { refuse } from './limits'

/** Bytes of the lines beyond ASCII that a guess looks at. */
const MAX_SAMPLE = 64 * 1024
/** Characters of a sample in a refusal, and how many it has. */
const SHOWN_LENGTH = 30
const MAX_SHOWN = 6

/** The letters of each Western language. Words that combine letters of several languages suggest another encoding. */
const WESTERN_WORDS = [
  /^[a-zàâæçéèêëîïôœùûüÿ]+$/i,
  /^[a-záàéèíïóòúüñç]+$/i,
  /^(?:[a-záâàçéêíóôúü]|ã(?=[oeis]|$)|õ(?=[eos]))+$/i,
  /^[a-zäöüßéåæø]+$/i,
  /^[a-zàèéìòùó]+$/i,
]
const WESTERN_SIGNS = /^[\s\p{ASCII}\p{L}«»‹›“”„‘’‚–—…·•¡¿°ºª€£©®™×½¼¾§&]*$/u
/** What accented letters and quotation marks become if UTF-8 is decoded as a Western encoding. */
const UTF8_AS_WESTERN = /[ÂÃ][\xa0-\xbf]|â€/

// Letters and characters that make up a large share of any text in these languages.
const CYRILLIC_COMMON = /[оеаинтсрвліОЕАИНТСРВЛІ]/g
const CHINESE_COMMON =
  /[的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运]/g
const KOREAN_COMMON =
  /[이다는의을에고가지한를사로하도기인과시자서나대어리아일정그스수보해라상부전장니조문주면있것김박최은없세계나무생각와만들국소책제목미유영동신안녕우]/g

const shareOf = (text: string, pattern: RegExp, of: number) => (of === 0 ? 0 : (text.match(pattern)?.length ?? 0) / of)

/** Whether a text decoded as an encoding is one that people write. `words` are those with letters beyond ASCII. */
type Evidence = (text: string, words: string[], letters: string) => boolean

/** Decoded with a wrong encoding, words have capitals in the middle. */
const CASED = /^(?:\p{Lu}?\p{Ll}*|\p{Lu}+)$/u

const isWestern: Evidence = (text, words) => {
  const fit = words.filter((word) => CASED.test(word) && WESTERN_WORDS.some((pattern) => pattern.test(word)))
  const isCased = words.every((word) => !/\p{Ll}\p{Lu}/u.test(word.replace(/^Mac|^Mc/, '')))
  return isCased && !UTF8_AS_WESTERN.test(text) && WESTERN_SIGNS.test(text) && fit.length >= 0.95 * words.length
}

/** Written by older Mac spreadsheets. Needs words: letters of windows-1252 can become signs, which prove nothing. */
const isMacRoman: Evidence = (text, words, letters) => words.length > 0 && isWestern(text, words, letters)

/**
 * Decoded wrongly, other texts have capitals in the middle of words or none, or mix Cyrillic and Latin letters in words.
 * A single Cyrillic letter may be an accented Latin one.
 */
const isCyrillic: Evidence = (_, words, letters) =>
  words.every((word) => CASED.test(word) && /^\p{Script=Cyrillic}+$/u.test(word)) &&
  words.some((word) => /^\p{Lu}/u.test(word)) &&
  letters.length >= 3 * words.length &&
  shareOf(letters, CYRILLIC_COMMON, letters.length) >= 0.5

/** Decoded with an encoding of two bytes, Western words mix Latin letters with East Asian characters. */
const isUnmixed = (words: string[]) => words.filter((word) => /[a-z]/i.test(word)).length < 0.5 * words.length

const isKorean: Evidence = (_, words, letters) =>
  isUnmixed(words) &&
  shareOf(letters, /\p{Script=Hangul}/gu, letters.length) >= 0.9 &&
  shareOf(letters, KOREAN_COMMON, letters.length) >= 0.2

/** Half-width forms are what single bytes of Western text become. */
const isJapanese: Evidence = (text, words, letters) =>
  isUnmixed(words) &&
  !/[\uff61-\uff9f]/.test(text) &&
  shareOf(letters, /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー]/gu, letters.length) >= 0.95 &&
  shareOf(letters, /[\p{Script=Hiragana}\p{Script=Katakana}ー]/gu, letters.length) >= 0.1

const isChinese: Evidence = (_, words, letters) =>
  isUnmixed(words) &&
  shareOf(letters, /\p{Script=Han}/gu, letters.length) >= 0.95 &&
  shareOf(letters, CHINESE_COMMON, letters.length) >= 0.3

/** A sign in the middle of a word, other than an apostrophe, dash or the like, is a letter in the right encoding. */
const SIGN_AMIDST = /[\p{L}\p{M}][^\p{L}\p{M}\p{Nd}\p{ASCII}\s’‘´·\xad–—][\p{L}\p{M}]/u

/** Whether nearly all words are of one script. Decoded wrongly, words mix scripts, or capitals and small letters. */
const isOf =
  (pattern: RegExp, isCased = false): Evidence =>
  (text, words) => {
    const fit = words.filter((word) => pattern.test(word) && (!isCased || CASED.test(word)))
    return words.length > 0 && fit.length >= 0.95 * words.length && !SIGN_AMIDST.test(text)
  }

/** Like `isWestern`, but allows any signs, and up to a fifth of words in other languages. */
const isMostlyWestern: Evidence = (text, words) => {
  const fit = words.filter((word) => CASED.test(word) && WESTERN_WORDS.some((pattern) => pattern.test(word)))
  return fit.length > 0 && fit.length >= 0.8 * words.length && !SIGN_AMIDST.test(text) && !UTF8_AS_WESTERN.test(text)
}

/**
 * In the order in which a refusal names those that are equally likely. `isPossible` decides if not exactly one is
 * evident. Encodings with neither are never guessed.
 */
const CANDIDATES: [encoding: string, isEvident?: Evidence, isPossible?: Evidence][] = [
  ['windows-1252', isWestern, isMostlyWestern],
  ['euc-kr', isKorean],
  ['shift_jis', isJapanese],
  ['gbk', isChinese],
  ['windows-1251', isCyrillic, isOf(/^\p{Script=Cyrillic}+$/u, true)],
  ['macintosh', isMacRoman, isMostlyWestern],
  ['windows-1250'],
  ['big5'],
  ['euc-jp'],
  ['windows-1253', undefined, isOf(/^\p{Script=Greek}+$/u, true)],
  ['windows-1254'],
  ['windows-1255', undefined, isOf(/^\p{Lo}\p{Script=Hebrew}*$/u)],
  ['windows-1256', undefined, isOf(/^\p{Script=Arabic}+$/u)],
]

export const decodeStrictly = (bytes: Uint8Array, encoding: string) => {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Characters of a wrong guess: C1 controls and those for private use. */
const NON_TEXT = /[\x80-\x9f\p{Co}]/u

/** The lines that have bytes beyond ASCII. No known encoding has a line break within a character. */
const sampleOf = (bytes: Uint8Array) => {
  const sample = new Uint8Array(MAX_SAMPLE)
  let length = 0
  let start = 0
  let isPlain = true
  for (let at = 0; at <= bytes.length && length < MAX_SAMPLE; at++) {
    const byte = bytes[at] ?? 0x0a
    if (byte >= 0x80) isPlain = false
    if (byte !== 0x0a) continue
    if (!isPlain) {
      const line = bytes.subarray(start, at + 1).subarray(0, MAX_SAMPLE - length)
      sample.set(line, length)
      length += line.length
    }
    start = at + 1
    isPlain = true
  }
  return sample.subarray(0, length)
}

const isBeyondAscii = (word: string) => /\P{ASCII}/u.test(word)

const isEvidentIn = (text: string, isEvident?: Evidence) => {
  if (!isEvident) return false
  const words = (text.match(/[\p{L}\p{M}]+/gu) ?? []).filter(isBeyondAscii)
  return isEvident(text, words, words.join('').replace(/\p{ASCII}/gu, ''))
}

const quote = (text: string) => {
  const start = text.search(/\P{ASCII}/u)
  const lineStart = text.lastIndexOf('\n', start) + 1
  return text
    .slice(Math.max(lineStart, start - 10))
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, SHOWN_LENGTH)
    .trim()
}

/**
 * The encoding of a file that is neither UTF-8 nor UTF-16: the only one in which its lines are text that people write.
 * @param utf8 sequences of the file that are valid in UTF-8, and others: a refusal shows it, too, if there are any
 * @throws ImportFileError with samples if none or several are possible
 */
export const guessEncoding = (bytes: Uint8Array, { valid, invalid }: { valid: number; invalid: number }) => {
  const sample = sampleOf(bytes)
  const texts = CANDIDATES.flatMap(([encoding, isEvident, isPossible]) => {
    const text = decodeStrictly(sample, encoding)
    if (text === undefined || NON_TEXT.test(text)) return []
    const isClear = isEvidentIn(text, isEvident)
    return [{ encoding, text, rank: isClear ? 0 : isEvidentIn(text, isPossible) ? 1 : 2 }]
  })
  const upTo = (rank: number) => texts.filter((each) => each.rank <= rank)
  const [found, ...others] = upTo(0).length === 1 ? upTo(0) : upTo(1)
  if (found && others.length === 0) return found.encoding
  const likeliestFirst = texts.toSorted((one, other) => one.rank - other.rank)
  const shown = likeliestFirst.slice(0, MAX_SHOWN).map(({ encoding, text }) => `${encoding} (${quote(text)})`)
  const asUtf8 = `utf-8 (${quote(new TextDecoder().decode(sample))})`
  if (valid > 0) shown.splice(valid < invalid ? shown.length : 0, 0, asUtf8)
  return refuse(
    `It is not certain how the file is encoded. Send encoding= with the name of what reads well: ${shown.join(', ')}.`,
  )
}
