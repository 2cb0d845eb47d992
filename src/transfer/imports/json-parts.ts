/** Characters of a parameter: below D1's 2 MB even if each takes three bytes. */
const MAX_PART_SIZE = 512 * 1024

/** Splits items into JSON arrays that fit into a parameter. D1 allows a hundred parameters per statement. */
export const toJsonParts = (items: unknown[]) => {
  const parts: string[][] = []
  let left = 0
  for (const item of items) {
    const json = JSON.stringify(item)
    if (left < json.length) {
      parts.push([])
      left = MAX_PART_SIZE
    }
    parts.at(-1)?.push(json)
    left -= json.length
  }
  return parts.map((part) => `[${part.join(',')}]`)
}
