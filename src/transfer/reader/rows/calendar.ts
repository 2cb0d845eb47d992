const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeapYear = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
/** Whether a date exists. Not by `Date`, which takes several times as long. */
export const isDate = (year: number, month = 1, day = 1) =>
  day >= 1 && day <= (month === 2 && isLeapYear(year) ? 29 : (DAYS[month - 1] ?? 0))
export const pad = (number: number, length: number) => String(number).padStart(length, '0')

/** In English, German, French, Spanish, Portuguese, Italian, Dutch and Russian. */
export const MONTHS = new Map(
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
const NAMES = [...MONTHS]

/** The number of a month, by its name or the beginning of it. Undefined if no month or several begin like that. */
export const findMonth = (word: string) => {
  const name = word.toLowerCase()
  const found = new Set(NAMES.filter(([month]) => month.startsWith(name)).map(([, number]) => number))
  return MONTHS.get(name) ?? (name.length > 2 && found.size === 1 ? [...found][0] : undefined)
}

const TIME = /(\d{1,2})[:时時시]\s?(\d{1,2})(?:[:分분]\s?(\d{1,2}))?/
// Only after the time: in German, `am` stands before the date.
const AFTER_TIME = /^\s?([ap])\.?\s?m\b/i
const BEFORE_TIME = /(?:(上午|午前|오전)|(下午|午後|오후))\s?$/

/** The first time of a lower-case text as HH:mm:ss, midnight if it has none, null if invalid; and what is before it. */
export const timeOf = (text: string) => {
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
