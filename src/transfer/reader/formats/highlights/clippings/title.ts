const OPENING = '(（'
const CLOSING = ')）'

/** Where the bracket group at the end of a text begins, or -1. Groups may be nested. */
const lastGroup = (text: string) => {
  if (!text || !CLOSING.includes(text.slice(-1))) return -1
  for (let at = text.length - 1, depth = 0; at >= 0; at--) {
    const character = text.charAt(at)
    if (CLOSING.includes(character)) depth++
    else if (OPENING.includes(character) && --depth === 0) return at
  }
  return -1
}

/** Splits `Title (Author)`. Titles may have brackets too, so the last group is the author. */
export const splitTitle = (line: string) => {
  const start = lastGroup(line)
  const title = line.slice(0, Math.max(start, 0)).trim()
  return title ? { title, author: line.slice(start + 1, -1).trim() || null } : { title: line, author: null }
}
