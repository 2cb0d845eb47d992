import type { Entry, EntryReading } from './entry'

// How the readings of files, and of a file and a book, are compared and sorted.

export type Dates = Pick<EntryReading, 'startedAt' | 'finishedAt'>

const isEqual = (one: Dates, other: Dates) => one.startedAt === other.startedAt && one.finishedAt === other.finishedAt
/** Whether two dates are the same, as far as both are known. */
export const isSameDate = (one: string | null, other: string | null) =>
  one === other || Boolean(one && other && (one.startsWith(other) || other.startsWith(one)))
/** Whether two readings are the same, as far as both have dates. */
export const isAlike = (one: Dates, other: Dates) =>
  one.finishedAt || other.finishedAt
    ? isSameDate(one.finishedAt, other.finishedAt)
    : !one.startedAt || !other.startedAt || isSameDate(one.startedAt, other.startedAt)

/** The reading that is the same as another one, preferably with equal dates. */
export const findSame = <Reading extends Dates>(readings: Reading[], other: Dates) =>
  readings.find((reading) => isEqual(reading, other)) ?? readings.find((reading) => isAlike(reading, other))

type Rated = Dates & Pick<EntryReading, 'quarters'>
const isEqualAndRatedAlike = (one: Rated, other: Rated) => isEqual(one, other) && one.quarters === other.quarters

/** Pairs readings of a file with stored ones, each at most once, preferably with equal dates and ratings. */
export const findStored = <Stored extends Rated>(stored: Stored[], wanted: EntryReading[]) => {
  const left = new Set(stored)
  const pairs = new Map<EntryReading, Stored>()
  for (const isSame of [isEqualAndRatedAlike, isEqual, isAlike]) {
    for (const reading of wanted.toReversed()) {
      const same = pairs.has(reading) ? undefined : [...left].find((known) => isSame(known, reading))
      if (same && left.delete(same)) pairs.set(reading, same)
    }
  }
  return pairs
}

const dateOf = ({ startedAt, finishedAt }: EntryReading) => finishedAt ?? startedAt ?? ''
const oldestFirst = (one: EntryReading, other: EntryReading) =>
  Number(one.outcome === null) - Number(other.outcome === null) ||
  (dateOf(one) < dateOf(other) ? -1 : Number(dateOf(one) > dateOf(other)))

/** A past reading: one that is open was stopped. */
const toPast = (reading: EntryReading): EntryReading => ({
  ...reading,
  outcome: reading.outcome ?? 'STOPPED',
  isPaused: false,
})

/**
 * The readings of an entry, with the newest last: only that one can be open. The rating of the entry belongs to the last
 * one that has ended, if there is one.
 */
export const readingsOf = ({ readings, quarters, exact }: Entry): EntryReading[] => {
  if (exact) return [...readings.slice(0, -1).map(toPast), ...readings.slice(-1)]
  const sorted = readings.toSorted(oldestFirst)
  const rated = sorted.findLast(({ outcome }) => outcome) ?? sorted.at(-1)
  return sorted.map((reading, at) => ({
    ...(at < sorted.length - 1 ? toPast(reading) : reading),
    quarters: reading.quarters ?? (reading === rated ? quarters : null),
  }))
}
