import type { Metadata } from './metadata'

/** How much of a text matches after one more character. `borders`: of each prefix, what also is its suffix. */
const extend = (text: string, borders: Int32Array, matched: number, character: number) => {
  let length = matched
  while (length > 0 && character !== text.charCodeAt(length)) length = borders[length - 1] ?? 0
  return character === text.charCodeAt(length) ? length + 1 : length
}

/** Whether one of two texts contains the other, in linear time (Knuth–Morris–Pratt), unlike `includes`. */
export const containsOther = (a: string, b: string) => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (long.startsWith(short)) return true
  const borders = new Int32Array(short.length)
  for (let at = 1; at < short.length; at++) {
    borders[at] = extend(short, borders, borders[at - 1] ?? 0, short.charCodeAt(at))
  }
  for (let at = 0, length = 0; at < long.length; at++) {
    length = extend(short, borders, length, long.charCodeAt(at))
    if (length === short.length) return true
  }
  return false
}

export type Clipping = Metadata & { text: string; isNote: boolean; field: string }

// Comparing a clipping with all others at its location would take quadratic time.
const MAX_CANDIDATES = 4

/**
 * Finds the clippings that were replaced: Kindle appends an edited clipping and leaves the old one in the file. They
 * have the same type and start location, and one text contains the other.
 */
export const findReplaced = (clippings: Clipping[]) => {
  const replaced = new Set<Clipping>()
  const recentByStart = new Map<string, Clipping[]>()
  for (const clipping of clippings) {
    if (!clipping.location) continue
    const key = `${clipping.isNote} ${clipping.location.start}`
    const recent = recentByStart.get(key) ?? []
    const others = recent.filter(({ text }) => !containsOther(text, clipping.text))
    for (const old of recent) if (!others.includes(old)) replaced.add(old)
    recentByStart.set(key, [...others, clipping].slice(-MAX_CANDIDATES))
  }
  return replaced
}

/** How often a book may have the same text. Messages of the device, in any language, are repeated far more often. */
const MAX_REPEATS = 5

/** Finds the clippings that repeat a text that the book has more than MAX_REPEATS times. */
export const findRepeated = (clippings: Clipping[]) =>
  new Set(
    [...Map.groupBy(clippings, ({ text }) => text).values()].flatMap((same) =>
      same.length > MAX_REPEATS ? same.slice(1) : [],
    ),
  )

/** KOReader writes a note right after its highlight, with the same page and time. */
const belongsToPrevious = (note: Clipping, previous: Clipping) =>
  previous.location === null &&
  note.page === previous.page &&
  note.createdAt !== null &&
  note.createdAt === previous.createdAt

/** Finds the highlights of notes: of those whose range contains the note's location, the one that starts last. */
export const findHighlights = (clippings: Clipping[]) => {
  const highlights = new Map<Clipping, Clipping>()
  let previous: Clipping | undefined
  for (const clipping of clippings) {
    if (!clipping.isNote) previous = clipping
    else if (!clipping.location && previous && belongsToPrevious(clipping, previous)) highlights.set(clipping, previous)
  }
  const located = clippings.flatMap((clipping) => (clipping.location ? [{ clipping, ...clipping.location }] : []))
  // A highlight comes before a note at its start.
  located.sort((a, b) => a.start - b.start || Number(a.clipping.isNote) - Number(b.clipping.isNote))
  const open: typeof located = []
  for (const item of located) {
    if (!item.clipping.isNote) {
      open.push(item)
      continue
    }
    // A range that ends before this note contains no later note either.
    while (open.length > 0 && (open.at(-1)?.end ?? 0) < item.start) open.pop()
    const highlight = open.at(-1)?.clipping
    if (highlight) highlights.set(item.clipping, highlight)
  }
  return highlights
}
