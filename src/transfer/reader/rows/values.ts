import { MAX_SERIES_NUMBER } from '../../../library/editions/schema'
import { MAX_INT } from '../../../values/contract'
import { toIsbn } from '../../../values/text/isbn'
import type { Cells, PartialDate } from '../../entries/entry'

// The values of cells. Functions return undefined for what they cannot read, and null for what is empty.

const MAX_VALUE = 100
/** Folds a name of a column, a shelf or a status for comparison. */
export const toKey = (name: string) => name.slice(0, MAX_VALUE).normalize('NFC').trim().toLowerCase()

export const splitList = (list: string, separator: string | RegExp) =>
  list
    .split(separator)
    .map((item) => item.trim())
    .filter(Boolean)

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeapYear = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
/** Whether a date exists. Not by `Date`, which takes several times as long. */
export const isDate = (year: number, month = 1, day = 1) =>
  day >= 1 && day <= (month === 2 && isLeapYear(year) ? 29 : (DAYS[month - 1] ?? 0))
export const pad = (number: number, length: number) => String(number).padStart(length, '0')
/** Two digits are years from 1970 to 2069. */
const toYear = (digits: string) => Number(digits) + (digits.length > 2 ? 0 : Number(digits) < 70 ? 2000 : 1900)

const toDate = (year: number, month?: number, day?: number): PartialDate | undefined => {
  if (year < 1 || !isDate(year, month, day)) return undefined
  return [pad(year, 4), month && pad(month, 2), day && pad(day, 2)].filter(Boolean).join('-')
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
/** The number of a month, which may be its name in English. 0 if there is no such month. */
const monthOf = (month: string) => Number(month) || MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1

// With the places of year, month and day. A time may follow each.
const DATES: [RegExp, year: number, month: number, day: number][] = [
  [/^(\d{4})(?:[-/.년年] ?(\d{1,2})(?:[-/.월月] ?(\d{1,2})[일日.]?)?[월月]?)?[년年]?(?:[T ]|$)/, 1, 2, 3],
  [/^(\d{1,2})\.? ([A-Za-z]{3,9})\.?,? (\d{4})(?:\D|$)/, 3, 2, 1],
  [/^([A-Za-z]{3,9})\.? (?:(\d{1,2}),? )?(\d{4})(?:\D|$)/, 3, 1, 2],
]
const YEAR_LAST = /^(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d\d)(?:[T ]|$)/

export type DateOrder = 'DMY' | 'MDY' | undefined

/** The order of days and months in a column. Undefined if no date can be read only one way, or if they differ. */
export const detectOrder = (cells: Iterable<string>): DateOrder => {
  const orders = new Set<DateOrder>()
  for (const cell of cells) {
    const [, first, , second] = YEAR_LAST.exec(cell) ?? []
    if (Number(first) > 12) orders.add('DMY')
    if (Number(second) > 12) orders.add('MDY')
  }
  return orders.size === 1 ? [...orders][0] : undefined
}

/** Reads a date: undefined if it is not valid, or could be two dates. Dots imply that the day comes first. */
export const parseDate = (cell: string, order?: DateOrder): PartialDate | null | undefined => {
  const text = cell
    .slice(0, MAX_VALUE)
    .replace(/^[["' ]+/, '')
    .replace(/[\]"' ]{1,5}$/, '')
  if (!text) return null
  for (const [pattern, ...places] of DATES) {
    const found = pattern.exec(text)
    const [year, month, day] = places.map((place) => found?.[place])
    if (year) return toDate(Number(year), month ? monthOf(month) : undefined, day ? Number(day) : undefined)
  }
  const [local, first = '', separator, second = '', year = ''] = YEAR_LAST.exec(text) ?? []
  const known = local && (order ?? (separator === '.' || first === second ? 'DMY' : detectOrder([text])))
  if (known === 'DMY') return toDate(toYear(year), Number(second), Number(first))
  return known ? toDate(toYear(year), Number(first), Number(second)) : undefined
}

/** A time without its zone, as it is in the file. Undefined for a date that is not complete. */
export const parseTime = (cell: string, order?: DateOrder): string | null | undefined => {
  const date = parseDate(cell, order)
  if (date?.length !== 10) return date === null ? null : undefined
  const time = /[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?/.exec(cell.slice(0, MAX_VALUE))?.[0].slice(1)
  return `${date}T${(time ?? '00:00').padEnd(8, ':00')}`
}

/** Reads a rating of up to five stars as quarter stars: null for 0, which means unrated. */
export const parseQuarters = (cell: string) => {
  const text = cell.replace(',', '.')
  if (!text) return { quarters: null, isRounded: false }
  const stars = /^\d{1,3}(?:\.\d{0,20})?$/.test(text) ? Number(text) : Number.NaN
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
  if (!text) return null
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
