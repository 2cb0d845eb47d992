import { fold } from '../../values/text/fold'
import { truncate } from '../../values/text/truncate'

// Titles and authors as keys for comparison: services write the same name in different ways.

const MAX_LENGTH = 500

const wordsOf = (text: string) =>
  fold(text)
    .replaceAll("'", '')
    .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []

/** `(Harbour, #2)` or `(Harbour Book 2)`, at the end. */
const SERIES =
  /^\s\(([^()#]*[^()#\s,])[\s,]+(?:#|(?:book|vol|volume|band|teil|tome|tomo|libro|livro|no)[\s.]+)(\d[\d.–-]*)[^()]*\)$/i
/** A subtitle that says only what kind of book it is. */
const GENRE =
  /(?:[:,]|\s[–—-])\s+(?:(?:an?|une?|una|ein|eine|um|uma)\s)?(?:novel|novella|memoir|thriller|roman|novela|romance|romanzo|krimi)$/i

/** Some services write `&` for these, and `&` is not a word. */
const CONJUNCTION = / (?:and|und|et|y)(?= )/g
/** Before a subtitle, a bracket, or an edition such as `, Second Edition`. */
const BOUNDARY = /:\s|\s[-–—]\s|\s[([]|,\s(?=[^,:]{0,40}(?:edition|édition|edición|edição|auflage|ausgabe)$)/i

// A text of punctuation only is compared as it is.
const keyOf = (text: string) => wordsOf(text).join(' ').replace(CONJUNCTION, '') || text

/** Splits off a title's series, and the number in it. `Saga (Saga, #2)` is not `Saga`, so its `name` stays whole. */
const splitSeries = (title: string) => {
  const start = title.lastIndexOf('(') - 1
  // Only the last bracket is tried: from each of many, it would take quadratic time.
  const isLast = start > 0 && title.indexOf(')', start) === title.length - 1
  const [group, series = '', digits = ''] = (isLast && SERIES.exec(title.slice(start))) || []
  if (group === undefined) return { name: title, bare: title }
  const name = title.slice(0, -group.length)
  const number = digits.replace(/\.0*$/, '')
  return { name: number !== '1' && keyOf(name) === keyOf(series) ? title : name, bare: name, number }
}

/** A title with its subtitle, as services without subtitles write it. */
export const toFullTitle = ({ title, subtitle }: { title: string | null; subtitle: string | null }) =>
  subtitle ? `${title}: ${subtitle}` : (title ?? '')

/**
 * How a title is compared: `bare`, without its series, and `head`, also without its subtitle; `key`, without its series,
 * `A Novel` and the like; and `shortKeys`, at most three: what comes before its first subtitle or edition, before its last
 * one, and that last one.
 */
export const toTitle = (title: string) => {
  const { name, bare, number } = splitSeries(truncate(title.trim(), MAX_LENGTH).trim())
  const whole = name.replace(GENRE, '')
  const key = keyOf(whole)
  const parts = whole.split(BOUNDARY)
  const last = /[)\]]$/.test(whole) ? '' : (parts.at(-1) ?? '')
  // A key for each part would take quadratic time.
  const shorter = [parts[0] ?? '', parts.slice(0, -1).join(' '), last].filter((part) => part && part !== whole)
  const shortKeys = shorter.map(keyOf).filter((short) => short !== key)
  return { bare, head: bare.split(BOUNDARY, 1)[0] ?? '', key, number, shortKeys: [...new Set(shortKeys)] }
}

/** Names in these scripts may be a single word: a comma after it separates authors. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u
const BETWEEN_INITIALS = /(?<=(?:^| )\p{L}) (?=\p{L}(?: |$))/gu

/** The words of a name. Initials in a row are one word, so that `J. R. R.` equals `J.R.R.` and `JRR`. */
const nameOf = (text: string) => wordsOf(text).join(' ').replace(BETWEEN_INITIALS, '').split(' ').filter(Boolean)

/**
 * The keys of the first author, regardless of the order of names: `Oh, Mina` equals `Mina Oh`. If a comma could also
 * separate two authors, there are two keys, and the first is that of the name before it.
 */
export const toAuthorKeys = (author: string | null): [string, ...string[]] => {
  const [first = ''] = truncate(author ?? '', MAX_LENGTH).split(/[;&]|\sand\s/)
  const [surname = '', given = ''] = first.split(',')
  if (UNSPACED.test(surname)) return [wordsOf(surname).join('')]
  const before = nameOf(surname)
  const natural = before.toSorted().join(' ')
  if (!given) return [natural]
  const after = nameOf(given)
  const inverted = [...before, ...after].sort().join(' ')
  if (natural === inverted) return [natural]
  const isList = before.length > 1 && after.length > 1 && after.at(-1)?.length !== 1
  return isList ? [natural, inverted] : [inverted]
}

/** More names tell nothing more, and each is compared with those of up to a hundred books. */
const MAX_NAMES = 40
/** The beginnings of the names of the authors, which other spellings often share. */
export const toNameStarts = (author: string | null) => {
  const names = wordsOf(truncate(author ?? '', MAX_LENGTH)).filter(({ length }) => length > 1)
  return new Set(names.slice(0, MAX_NAMES).map((name) => name.slice(0, 4)))
}
