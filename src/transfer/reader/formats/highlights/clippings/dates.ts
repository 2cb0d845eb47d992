import { isDate, MONTHS, pad, timeOf } from '../../../rows/calendar'

const ZONED = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d{1,9})? ?(?:Z|([+-])(\d\d):?(\d\d)?)$/i

/** The time as yyyy-MM-ddTHH:mm:ss in UTC, or null if it is out of range. */
export const toLocal = (milliseconds: number) =>
  milliseconds > 0 && milliseconds < 253_402_300_800_000 ? new Date(milliseconds).toISOString().slice(0, 19) : null

/** A short text in NFC and lower case. Runs of combining marks, which no language has, would take quadratic time. */
export const toWords = (text: string) => (/\p{M}{4}/u.test(text) ? text : text.normalize('NFC')).toLowerCase()

// `4.45 Uhr GMT+07:29` of older German devices.
const GERMAN_TIME = /(\d{1,2})\.(\d\d) uhr.*/

/**
 * Reads a date in any language of Kindle, or with year, month and day as numbers in this order. Without a time, it is
 * midnight.
 * @returns yyyy-MM-ddTHH:mm:ss, or null
 */
export const parseDate = (text: string) => {
  const { before, time } = timeOf(toWords(text.slice(0, 200)).replace(GERMAN_TIME, '$1:$2'))
  if (!time) return null
  const numbers = (before.match(/\d+/g) ?? []).map(Number)
  const month = before
    .match(/\p{L}+/gu)
    ?.reduce<number | undefined>((found, word) => found ?? MONTHS.get(word), undefined)
  const [first = 0, second = 0] = numbers
  // The word for the month may stand on either side of the day. Older devices write `3 December 12`.
  const [year = 0, monthNumber = 0, day = 0] = !month
    ? numbers
    : Math.max(first, second) < 100
      ? [2000 + second, month, first]
      : [Math.max(first, second), month, Math.min(first, second)]
  if (numbers.length !== (month ? 2 : 3) || year < 1900 || year > 9999 || !isDate(year, monthNumber, day)) return null
  return `${year}-${pad(monthNumber, 2)}-${pad(day, 2)}T${time}`
}

/** As `parseDate`, but a time with a zone is converted to UTC. */
export const parseZonedDate = (text: string) => {
  const zoned = ZONED.exec(text)
  if (!zoned) return parseDate(text)
  const [, date, time, sign, hours = '0', minutes = '0'] = zoned
  const local = parseDate(`${date} ${time}`)
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000)
  return local && toLocal(Date.parse(`${local}Z`) - offset)
}
