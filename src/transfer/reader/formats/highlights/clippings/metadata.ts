import { parseDate, toWords } from './dates'

export type Kind = 'highlight' | 'note' | 'bookmark' | null

export type Metadata = {
  /** Null if the language is unknown. */
  kind: Kind
  page: number
  location: { start: number; end: number; isRange: boolean } | null
  createdAt: string | null
}

// Words, or their beginnings, in English, German, French, Spanish, Portuguese, Italian, Dutch, Russian, Chinese,
// Japanese and Korean.
const KINDS: [Kind, RegExp][] = [
  ['bookmark', /bookmark|lesezeichen|signet|marcador|segnalibro|bladwijzer|закладк|书签|書籤|ブックマーク|북마크/],
  ['note', /note|nota|notiz|notitie|заметк|笔记|筆記|メモ|메모/],
  [
    'highlight',
    /highlight|markierung|surlign|subrayado|resaltado|destaque|evidenziazione|markering|выделен|标注|標註|ハイライト|하이라이트|clip|クリップ/,
  ],
]

/** `114-116`, in Dutch `114 t/m 116`. */
const RANGE = /(\d{1,9})(?:\s?(?:[-–—]|t\/m)\s?(\d{1,9}))?/
// Tools that replace words in a file write `Location na página 12 | posição 170-172`.
const LOCATION = new RegExp(String.raw`(?:loc|pos|empl|мест|位置|위치)(?:(?!p[aá]g)[^\d|]){0,20}${RANGE.source}`)
const PAGE = /(?:page|seite|p[aá]gina|стр\p{L}{0,10}|第|페이지|ページ)\s?(\d{1,9})|(\d{1,9})\s?(?:页|頁|ページ|페이지)/u

// Real metadata is far shorter. The limit bounds the time that the expressions take.
const MAX_LENGTH = 500

/** `145-46` is short for `145-146`. */
const toLocation = ([, start = '', end]: RegExpExecArray) => {
  const last = end && end.length < start.length ? start.slice(0, -end.length) + end : end
  return { start: Number(start), end: Math.max(Number(start), Number(last ?? 0)), isRange: end !== undefined }
}

/** The location in an unknown language: a range, or a number in the second part. */
const guessLocation = (parts: string[]) => {
  const ranges = parts.map((part) => RANGE.exec(part))
  return ranges.find((range) => range?.[2]) ?? ranges[1]
}

/** The page in an unknown language: a single number in the first part. */
const guessPage = (part: string) => {
  const range = LOCATION.test(part) ? null : RANGE.exec(part)
  return range && !range[2] ? range[1] : 0
}

const normalize = (line: string) => toWords(line.slice(0, MAX_LENGTH))

/**
 * The firmwares CrossInk and CrossPoint write the name of a chapter in place of a location, and no date without a clock.
 */
const CROSSINK =
  /^(- (?:Your )?Highlight on Page \d{1,9})(?: \| (?!Loc(?:\.|ation) \d|Added on ).*?)?( \| Added on [^|]*)?$/
export const isUndated = (line: string) => CROSSINK.exec(line)?.[2] === undefined && CROSSINK.test(line)

/** Whether a line can be the second one of a clipping. A dash is not enough: dialogue may start with one, too. */
export const isMetadata = (line: string) =>
  /^[-–—]/.test(line) &&
  (/\d/.test(line.slice(0, MAX_LENGTH)) || KINDS.some(([, words]) => words.test(normalize(line))))

/** Reads the second line of a clipping, in any language. */
export const parseMetadata = (line: string): Metadata => {
  const text = normalize(line.slice(0, MAX_LENGTH).replace(CROSSINK, '$1$2'))
  const parts = text.slice(1).split(/[|｜]/)
  const head = parts.length > 1 ? parts.slice(0, -1) : parts
  const page = PAGE.exec(text)
  const location = LOCATION.exec(text) ?? guessLocation(page ? ['', ...head.slice(1)] : head)
  return {
    kind: KINDS.find(([, words]) => words.test(head.join(' ')))?.[0] ?? null,
    page: Number(page ? (page[1] ?? page[2]) : guessPage(head[0] ?? '')),
    location: location ? toLocation(location) : null,
    createdAt: parseDate(parts.at(-1) ?? ''),
  }
}
