import { MAX_SERIES_NUMBER } from '../../../library/editions/schema'
import { MAX_INT } from '../../../values/contract'
import { toIsbn } from '../../../values/text/isbn'
import type { Cells } from '../../entries/entry'

// The values of cells. Functions return undefined for what they cannot read, and null for what is empty.

const MAX_VALUE = 100
/** Folds a name of a column, a shelf or a status for comparison. */
export const toKey = (name: string) => name.slice(0, MAX_VALUE).normalize('NFC').trim().toLowerCase()
/** Also without what separates its words: `Date Read`, `date_read`, `Date.Read` and `DateRead` are the same. */
export const toCompactKey = (name: string) => toKey(name).replace(/(?<=.)[\s_.-]+/g, '')

export const splitList = (list: string, separator: string | RegExp) =>
  list
    .split(separator)
    .map((item) => item.trim())
    .filter(Boolean)

const STARS = /^(?:[★⭐]{0,5}½?☆{0,5})$/u
const RATING =
  /^(\d{1,3}(?:\.\d{0,20})?)(?: ?(?:\/|out of|von|de|sur) ?(5|10)| ?(?:점|stars?|sterne?|estrellas?|estrelas?|étoiles?))?$/i

const toRating = (cell: string) => cell.slice(0, MAX_VALUE).replace(',', '.').replaceAll('\ufe0f', '')

/** The points of a rating such as `4.5` or `4 stars`, which does not say how many there are at most. */
export const pointsOf = (cell: string) => {
  const [, number, most] = RATING.exec(toRating(cell)) ?? []
  return number === undefined || most !== undefined ? undefined : Number(number)
}

/** The stars of `4.5`, `4/5`, `7/10`, `4 stars` or `★★★★☆`. Five hollow ones are none. */
const starsOf = (text: string, mostPoints: number) => {
  const [found, number, most = mostPoints] = RATING.exec(text) ?? []
  if (found) return Number(number) && (Number(number) * 5) / Number(most)
  const signs = STARS.test(text) ? [...text] : []
  const stars = signs.filter((sign) => sign !== '☆').length - (text.includes('½') ? 0.5 : 0)
  return stars > 0 || signs.length === 5 ? stars : Number.NaN
}

/**
 * Reads a rating as quarter stars: null for 0, which means unrated.
 * @param most the points that are five stars, unless the cell says it
 */
export const parseQuarters = (cell: string, most = 5) => {
  if (!cell) return { quarters: null, isRounded: false }
  const stars = starsOf(toRating(cell), most)
  if (!(stars <= 5)) return undefined
  const quarters = Math.round(stars * 4)
  // Rounding must not make a rated book an unrated one.
  return { quarters: stars > 0 ? Math.max(1, quarters) : null, isRounded: quarters !== stars * 4 }
}

/** Reads an integer, such as `312`, `312.0`, `1,024` or `312 p.`. */
export const parseInteger = (cell: string, min = 0, max = MAX_INT) => {
  if (!cell) return null
  const digits =
    /^(-?\d{1,10}|\d{1,3}(?:,\d{3}){1,2})(?:\.0{1,9})?(?: ?(?:p|pp|pages|쪽|페이지|páginas|Seiten|ページ|页|頁)\.?)?$/i.exec(
      cell,
    )?.[1]
  const number = Number(digits?.replaceAll(',', ''))
  return number >= min && number <= max ? number : undefined
}

/** Reads a number between 0 and 100,000, such as 2.5, which may have a decimal comma. */
export const parseDecimal = (cell: string) => {
  if (!cell) return null
  const text = cell.replace(',', '.')
  return /^\d{1,6}(?:\.\d{0,20})?$/.test(text) && Number(text) <= MAX_SERIES_NUMBER ? Number(text) : undefined
}

const LONGEST_ISBN_CELL = 60
/** Reads a cell with an ISBN, which may be a spreadsheet's formula such as `="0446675504"`. */
export const parseIsbn = (cell: string) => {
  if (cell.length > LONGEST_ISBN_CELL) return undefined
  const text = cell.replace(/[="'[\]\s]/g, '').replace(/\.0$/, '')
  if (/^0*$/.test(text)) return null
  // Spreadsheets drop a leading zero.
  const found = toIsbn(/^\d{8}[\dXx]$/.test(text) ? `0${text}` : text)
  return 'isbn' in found ? found.isbn : undefined
}

/** `Oh, Mina` as `Mina Oh`. Names with more than one comma stay as they are. */
export const toNaturalOrder = (name: string) => {
  const [last, first, ...others] = splitList(name, ',')
  return last && first && others.length === 0 ? `${first} ${last}` : name.trim()
}

/** Text as the database can store it: without NUL and halves of surrogate pairs. */
export const storable = (text: string) => text.toWellFormed().replaceAll('\0', '')

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const toObject = (value: unknown) => (isObject(value) ? value : {})

/** A value of a JSON file as the text of a cell. */
export const toCell = (value: unknown): string => {
  if (typeof value === 'string') return storable(value)
  if (value === undefined || value === null) return ''
  try {
    return JSON.stringify(value)
  } catch {
    // It is nested too deeply.
    return ''
  }
}

export const toCells = (object: Record<string, unknown>): Cells => ({
  names: Object.keys(object),
  values: Object.values(object).map(toCell),
})
