import { containsOther } from './contains'
import type { Metadata } from './metadata'

/** A highlight or note of a book. */
export type Clipping = Metadata & { text: string; isNote: boolean; field: string }

// Comparing a clipping with all others at its location would take quadratic time.
const MAX_CANDIDATES = 4

/**
 * Finds the clippings that were replaced: Kindle appends an edited clipping and leaves the old one in the file. They have
 * the same type and start location, and one text contains the other.
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

/** KOReader writes a note right after its highlight, with the same page and time. */
const belongsToPrevious = (note: Clipping, previous: Clipping) =>
  previous.location === null &&
  note.page === previous.page &&
  note.createdAt !== null &&
  note.createdAt === previous.createdAt

/**
 * Finds the highlights that notes belong to: of those whose range contains the note's location, the one that starts last.
 */
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
