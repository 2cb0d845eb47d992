import { DAY_MS, type Zone } from '../../../values/time'
import type { Entry, EntryProgress } from '../../entries/entry'

// The sittings of devices that an export lists become events with minutes: the devices are not those of this member.

/**
 * An event at noon, or now if that is later. Times in milliseconds since 1970. `from`, `to`: of its day. `mark`: the
 * milliseconds after noon, by which the day is known again after the member has moved to another time zone.
 */
export type SittingEvent = Record<'at' | 'minutes' | 'from' | 'to' | 'mark', number> & { date: string }

const MAX_MINUTES = 1440

/** Those of days that have begun, oldest first. */
export const toSittingEvents = ({ exact }: Entry, { toDate, toTime }: Zone): SittingEvent[] => {
  if (!exact || exact.sittings.length === 0) return []
  const now = Date.now()
  const today = toDate(now)
  const taken = new Set(exact.progress.map(({ at }) => Date.parse(at)))
  return exact.sittings
    .filter(({ date }) => date <= today)
    .map(({ date, minutes }) => {
      const [from, to] = [0, DAY_MS].map((later) => {
        return toTime(new Date(Date.parse(date) + later).toISOString().slice(0, 19))
      }) as [number, number]
      const mark = (Date.parse(date) / DAY_MS) % 1000
      let at = Math.min(toTime(`${date}T12:00:00`) + mark, now)
      while (taken.has(at)) at--
      return { at, date, minutes: Math.min(minutes, MAX_MINUTES), from, to, mark }
    })
}

/** Leaves out the minutes that the exported library ignored, because a device was read on the same day. */
export const withoutIgnored = (progress: EntryProgress[], { exact }: Entry, { toDate }: Zone) => {
  const dates = new Set(exact?.sittings.map(({ date }) => date))
  if (dates.size === 0) return progress
  return progress.map((event) => (dates.has(toDate(Date.parse(event.at))) ? { ...event, minutes: null } : event))
}
