export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** How many minutes a time of reading shows: rounded half up, but at least one of any. */
export const toMinutes = (seconds: number) => (seconds > 0 ? Math.max(1, Math.round(seconds / 60)) : 0)

const formats = new Map<string, Intl.DateTimeFormat>()

/** A point in time, in milliseconds since 1970, as `yyyy-MM-ddTHH:mm:ss` in an IANA time zone. */
export const localTime = (timeZone: string, at = Date.now()) => {
  if (timeZone === 'UTC') return new Date(at).toISOString().slice(0, 19)
  // The Swedish date format is ISO 8601 with a space instead of the T.
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format.format(at).replace(' ', 'T')
}

/** Whether it is the name of a time zone. Intl also accepts offsets, and names in any case. */
export const isTimeZone = (name: string) => {
  try {
    return /^[A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*$/.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}

// Intl writes years before 1000 with fewer than four digits. Before 1800, zones have a constant offset.
const [FIRST_DAY, LAST_DAY] = [Date.UTC(1800) / DAY_MS, Date.UTC(9999, 11, 30) / DAY_MS]
const [FIRST_TIME, LAST_TIME] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')]
const clamp = (min: number, max: number, value: number) => Math.min(Math.max(value, min), max)

/** The date of a number of days since 1970. */
export const formatDay = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Converts times of an IANA time zone in the years 0 to 9999. Asks Intl, which is slow, only once a day. */
export const createZone = (timeZone: string) => {
  const offsets = new Map<number, number>()
  /** The offset at the beginning of a UTC day, in milliseconds. */
  const offsetAt = (anyDay: number) => {
    const day = clamp(FIRST_DAY, LAST_DAY, anyDay)
    const known = offsets.get(day)
    if (known !== undefined) return known
    const offset = Date.parse(`${localTime(timeZone, day * DAY_MS)}Z`) - day * DAY_MS
    offsets.set(day, offset)
    return offset
  }
  /** The local day of a time in milliseconds since 1970, as days since 1970. */
  const toDay = (at: number) => {
    const day = Math.floor(at / DAY_MS)
    const offset = offsetAt(day)
    const isSame = offset === offsetAt(day + 1)
    const local = isSame ? clamp(FIRST_TIME, LAST_TIME, at + offset) : Date.parse(`${localTime(timeZone, at)}Z`)
    return Math.floor(local / DAY_MS)
  }
  /** The local date of a time in milliseconds since 1970. */
  const toDate = (at: number) => formatDay(toDay(at))
  /** The time of `yyyy-MM-ddTHH:mm:ss`. Of an hour that occurs twice, the first; in a skipped one, as much later. */
  const toTime = (local: string) => {
    const time = Date.parse(`${local}Z`)
    const day = Math.floor(time / DAY_MS)
    const [before, after] = [time - offsetAt(day - 1), time - offsetAt(day + 2)]
    const isAfter = before !== after && localTime(timeZone, before) !== local && localTime(timeZone, after) === local
    return clamp(FIRST_TIME, LAST_TIME, isAfter ? after : before)
  }
  return { toDay, toDate, toTime }
}
export type Zone = ReturnType<typeof createZone>
