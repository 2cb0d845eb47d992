const formats = new Map<string, Intl.DateTimeFormat>()

/** A moment (milliseconds since 1970, default now) as `yyyy-MM-ddTHH:mm:ss` on the wall clock of an IANA time zone. */
export const localTime = (timeZone: string, at = Date.now()) => {
  if (timeZone === 'UTC') return new Date(at).toISOString().slice(0, 19)
  // Swedish writes dates as ISO 8601 does, but for the T.
  const format =
    formats.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format.format(at).replace(' ', 'T')
}
