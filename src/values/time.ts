export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * A point in time as `yyyy-MM-ddTHH:mm:ss` in an IANA time zone.
 * @param at milliseconds since 1970, by default now
 */
export const localTime = (timeZone: string, at = Date.now()) => {
  if (timeZone === 'UTC') return new Date(at).toISOString().slice(0, 19)
  // The Swedish date format is ISO 8601 with a space instead of the T.
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format.format(at).replace(' ', 'T')
}
