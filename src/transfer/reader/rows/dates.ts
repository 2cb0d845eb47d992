import type { PartialDate } from '../../entries/entry'
import { findMonth, isDate, pad, timeOf } from './calendar'

export type DateOrder = 'YMD' | 'DMY' | 'MDY'

/** A date as it is written. */
export type FoundDate = {
  text: string
  /** Dates of the same style have the same order in a column: `short .` for `24.01.09`, `long /` for `1/9/2024`. */
  style: string
  /** The date that it is in each possible order. Only `YMD` if the order is certain. */
  dates: Partial<Record<DateOrder, PartialDate>>
}

/** Two digits are years from 1970 to 2069. */
const toYear = (digits: string) => Number(digits) + (digits.length > 2 ? 0 : Number(digits) < 70 ? 2000 : 1900)

const toDate = (year: string, month?: string | number, day?: string): PartialDate | undefined => {
  const [y, m, d] = [toYear(year), month ? Number(month) : undefined, day ? Number(day) : undefined]
  if (y < 1 || !isDate(y, m, d)) return undefined
  return [pad(y, 4), m && pad(m, 2), d && pad(d, 2)].filter(Boolean).join('-')
}

type Parts = Omit<FoundDate, 'text'>
const toParts = (style: string, dates: [DateOrder, PartialDate | undefined][]): Parts => ({
  style,
  dates: Object.fromEntries(dates.filter(([, date]) => date)),
})

const yearFirst = (year: string, separator: string, month: string, day: string) =>
  toParts(day && `year ${separator}`, [['YMD', toDate(year, month, day)]])
const inWords = (year: string, month: string, day: string) => toParts('words', [['YMD', toDate(year, month, day)]])
const ofMonth = (name: string, day: string, year: string) =>
  toParts('', [['YMD', toDate(year, findMonth(name) ?? 13, day)]])
/** `9-Jan-24`. The first number of `24-Jan-09` can also be the year. */
const inShort = (first: string, name: string, last: string) =>
  toParts('short name', [
    ['YMD', first.length === 2 ? toDate(first, findMonth(name) ?? 13, last) : undefined],
    ['DMY', toDate(last, findMonth(name) ?? 13, first)],
  ])
const monthFirst = (month: string, year: string) => toParts('', [['YMD', toDate(year, month)]])
const inNumbers = (first: string, separator: string, second: string, last: string) => {
  const [isLong, canEndWithYear] = [last.length === 4, last.length !== 1]
  return toParts(`${isLong ? 'long' : 'short'} ${separator}`, [
    ['YMD', !isLong && first.length === 2 ? toDate(first, second, last) : undefined],
    ['DMY', canEndWithYear ? toDate(last, second, first) : undefined],
    // With dots, no language writes the month first.
    ['MDY', canEndWithYear && separator !== '.' ? toDate(last, first, second) : undefined],
  ])
}

const FORMS: [RegExp, (...parts: string[]) => Parts][] = [
  // Not of eight digits that begin with a day or a month: in those, what would be the month is 19 or 20.
  [/((?:19|20)\d\d)(\d\d)(\d\d)(?!\d)/uy, (year, month, day) => toParts('', [['YMD', toDate(year, month, day)]])],
  [/(\d{4})(?:([-/.]) ?(\d{1,2})(?!\d)(?:\2 ?(\d{1,2})(?!\d))?\.?)?(?![\d년年])/uy, yearFirst],
  [/(\d{4}|\d\d)[년年] ?(?:(\d{1,2})[월月] ?(?:(\d{1,2})[일日]?)?)?/uy, inWords],
  [/(\d{1,2})([-/.]) ?(\d{1,2})\2 ?(\d{4}|\d{1,2})(?!\d)\.?/uy, inNumbers],
  [/(\d{1,2})[-/.] ?(\d{4})(?!\d)/uy, monthFirst],
  [
    /(\d{1,2})(?:\.|er|º|st|nd|rd|th)?[-/ ] ?(?:de |of )?(\p{L}{3,10})\.?,?[-/ ](?:de |del )?(\d{4})(?!\d)/iuy,
    (day, name, year) => ofMonth(name, day, year),
  ],
  [/(\d{1,2})[-/ ](\p{L}{3,10})\.?[-/ ](\d\d)(?!\d)/uy, inShort],
  [/(\p{L}{3,10})\.? (?:de |del )?(?:(\d{1,2})(?:st|nd|rd|th)?,? )?(\d{4})(?!\d)/iuy, ofMonth],
]

const WEEKDAY =
  / ?\((?:[월화수목금토일](?:요일)?|[月火水木金土日](?:曜日?)?|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6})\)/iuy
const TIME =
  /(?:T|,? )(?:at |um |à )?(?:(?:오전|오후|午前|午後|上午|下午|[ap]m) ?)?\d{1,2}[:시時时] ?\d{1,2}(?:[:분分] ?\d{1,2}(?:[.,]\d{1,9})?)?[분分초秒]?(?: ?[ap]\.? ?m\.?)?(?: uhr)?/iuy
const ZONE =
  /(?: ?(?:\(?(?:Z|UTC|GMT|[A-Z]{2,4}T)(?:[+-]\d{1,2}(?::?\d\d)?)?\)?|[+-]\d\d(?::?\d\d)?(?![-/.\d])|\[[\w/]+\]?)){1,2}/uy
// Without a time, `-10` could be the end of a range.
const ZONE_OF_DAY = /Z|[+-]\d\d:\d\d(?![-/.\d])/uy
const RANGE = /\s*(?:[→⇒]|[-=]>|[-–—~〜～/])\s*|\s(?:to|until|bis|au|à|al|a|até|hasta)\s/iuy
const LIST = /\s*[,;&+|\n]\s*|\s(?:and|und|et|y|e)\s/iuy

const matchAt = (pattern: RegExp, text: string, at: number) => {
  pattern.lastIndex = at
  return pattern.exec(text)
}
const endOf = (pattern: RegExp, text: string, at: number) => (matchAt(pattern, text, at) ? pattern.lastIndex : at)

/** The date at a position of a text. `end`: where the date, or the time and zone after it, ends. */
const findDate = (text: string, start: number): { found: FoundDate; end: number } | undefined => {
  for (const [form, read] of FORMS) {
    const match = matchAt(form, text, start)
    if (!match) continue
    const [whole, ...parts] = match
    const ofDay = endOf(WEEKDAY, text, start + whole.length)
    const ofTime = endOf(TIME, text, ofDay)
    const end = endOf(ofTime > ofDay ? ZONE : ZONE_OF_DAY, text, ofTime)
    return { found: { text: whole, ...read(...parts.map((part) => part ?? '')) }, end }
  }
  return undefined
}

/** Characters of a cell: more than the most readings of a book take. */
const MAX_CELL = 10_000

/**
 * The dates of a cell: a list, of which each item is one date, or the two of a range. Null if the cell is empty,
 * undefined if it has anything else than dates with times.
 */
export const findDates = (cell: string): FoundDate[][] | null | undefined => {
  // Normalizing long runs of marks would take quadratic time.
  if (cell.length > MAX_CELL || /\p{M}{4}/u.test(cell)) return undefined
  const text = cell
    .normalize('NFC')
    .replace(/^[["' ]+/, '')
    .replace(/[\]"' ]{1,5}$/, '')
  if (!text) return null
  const items: FoundDate[][] = []
  let isRange = false
  for (let at = 0; ; ) {
    const { found, end } = findDate(text, at) ?? {}
    const item = items.at(-1)
    if (!found || end === undefined || (isRange && item?.length !== 1)) return undefined
    if (isRange) item?.push(found)
    else items.push([found])
    if (end === text.length) return items
    isRange = matchAt(RANGE, text, end) !== null
    at = isRange ? RANGE.lastIndex : endOf(LIST, text, end)
    if (at === end) return undefined
  }
}

const DAY_MS = 86_400_000
/** Whether it is later than today, wherever the reader lives. */
export const isFuture = (date: PartialDate) => date > new Date(Date.now() + DAY_MS).toISOString().slice(0, date.length)

/** The orders in which a date is not in the future, or in which it is a date, if it is in the future in all. */
export const ordersOf = ({ dates }: FoundDate) => {
  const orders = Object.keys(dates) as DateOrder[]
  const past = orders.length > 1 ? orders.filter((order) => !isFuture(dates[order] ?? '')) : orders
  return past.length > 0 ? past : orders
}

/** The dates that a text could mean, given the order of its column, if that is known. */
export const possibleDates = (
  found: FoundDate,
  orderOf: (found: FoundDate) => DateOrder | undefined,
): PartialDate[] => {
  const all = [...new Set(Object.values(found.dates))]
  if (all.length < 2) return all
  const order = orderOf(found)
  const chosen = order && found.dates[order]
  return chosen ? [chosen] : [...new Set(ordersOf(found).flatMap((order) => found.dates[order] ?? []))]
}

/** The time of a cell, on a date that was read from it, without its zone. */
export const withTime = (date: PartialDate, cell: string) => {
  const { time } = timeOf(
    cell
      .slice(0, 100)
      .toLowerCase()
      .replace(/[+-]\d\d:\d\d$/, ''),
  )
  return `${date}T${time ?? '00:00:00'}`
}

/** A time without its zone, as it is in the file. Undefined for anything but one complete date. */
export const parseTime = (cell: string): string | null | undefined => {
  const items = findDates(cell)
  const [[found, ...rest] = [], ...others] = items ?? []
  if (!found) return items === null ? null : undefined
  const [date, another] = possibleDates(found, () => undefined)
  if (date?.length !== 10 || another || rest.length + others.length > 0) return undefined
  return withTime(date, cell)
}
