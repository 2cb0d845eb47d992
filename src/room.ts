type Part = { amount: number; until: number }

/**
 * Room for so much at once in this isolate. What is taken is given back by itself after `longestMs`: a request whose
 * client went away may be ended without a word.
 */
export const createRoom = (capacity: number, longestMs: number) => {
  const parts = new Set<Part>()
  let taken = 0
  const leave = (part: Part) => {
    if (parts.delete(part)) taken -= part.amount
  }
  /** Takes an amount, and answers what gives it back; undefined when there is no room for it. */
  return (amount: number) => {
    if (taken + amount > capacity) for (const part of parts) if (part.until <= Date.now()) leave(part)
    if (taken + amount > capacity) return undefined
    const part = { amount, until: Date.now() + longestMs }
    parts.add(part)
    taken += amount
    return () => leave(part)
  }
}
