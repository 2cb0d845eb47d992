import { isDate, pad } from '../../../rows/values'

const MONTHS = new Map(
  [
    'january february march april may june july august september october november december',
    'januar februar märz april mai juni juli august september oktober november dezember',
    'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
    'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
    'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
    'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
    'januari februari maart april mei juni juli augustus september oktober november december',
    'января февраля марта апреля мая июня июля августа сентября октября ноября декабря',
  ].flatMap((names) => names.split(' ').map((name, at) => [name, at + 1] as const)),
)

const TIME = /(\d{1,2})[:时時시]\s?(\d{1,2})(?:[:分분]\s?(\d{1,2}))?/
// Only after the time: in German, `am` stands before the date.
const AFTER_TIME = /^\s?([ap])\.?\s?m\b/i
const BEFORE_TIME = /(?:(上午|午前|오전)|(下午|午後|오후))\s?$/
const ZONED = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d{1,9})? ?(?:Z|([+-])(\d\d):?(\d\d)?)$/i

/** The time as yyyy-MM-ddTHH:mm:ss in UTC, or null if it is out of range. */
export const toLocal = (milliseconds: number) =>
  milliseconds > 0 && milliseconds < 253_402_300_800_000 ? new Date(milliseconds).toISOString().slice(0, 19) : null

/** A short text in NFC and lower case. Runs of combining marks, which no language has, would take quadratic time. */
export const toWords = (text: string) => (/\p{M}{4}/u.test(text) ? text : text.normalize('NFC')).toLowerCase()

// `4.45 Uhr GMT+07:29` of older German devices.
const GERMAN_TIME = /(\d{1,2})\.(\d\d) uhr.*/

const timeOf = (text: string) => {
  const time = TIME.exec(text)
  if (!time) return { before: text, time: '00:00:00' }
  const before = text.slice(0, time.index)
  const after = AFTER_TIME.exec(text.slice(time.index + time[0].length))
  const marker = BEFORE_TIME.exec(before)
  const isPm = marker?.[2] || after?.[1]?.toLowerCase() === 'p'
  const [shown, minute, second] = [Number(time[1]), Number(time[2]), Number(time[3] ?? 0)]
  // On a 12-hour clock, each half begins with 12.
  const hour = (marker || after) && shown <= 12 ? (shown % 12) + (isPm ? 12 : 0) : shown
  const isTime = hour < 24 && minute < 60 && second < 60
  return { before, time: isTime ? [hour, minute, second].map((part) => pad(part, 2)).join(':') : null }
}

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
