/** For each prefix, the length of its longest proper prefix that is also its suffix. */
const borders = (text: string) => {
  const lengths = new Int32Array(text.length)
  for (let at = 1, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== text.charCodeAt(length)) length = lengths[length - 1] ?? 0
    if (text.charCodeAt(at) === text.charCodeAt(length)) length++
    lengths[at] = length
  }
  return lengths
}

/**
 * Whether one of two texts contains the other. Takes linear time (Knuth–Morris–Pratt); `includes` takes quadratic
 * time for some texts.
 */
export const containsOther = (a: string, b: string) => {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (long.startsWith(short)) return true
  const lengths = borders(short)
  for (let at = 0, length = 0; at < long.length; at++) {
    while (length > 0 && long.charCodeAt(at) !== short.charCodeAt(length)) length = lengths[length - 1] ?? 0
    if (long.charCodeAt(at) === short.charCodeAt(length)) length++
    if (length === short.length) return true
  }
  return false
}
