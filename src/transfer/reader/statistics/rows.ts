import { refuse } from '../limits'

/** The rows that a member's files have had in all. Two files and the rows that they lack fit into one call over RPC. */
export const MAX_STATISTICS_ROWS = 500_000

/** Refuses a file that has more with what was counted before. */
export const refuseAbove = (most: string) =>
  refuse(`The statistics have more than ${most} in all. DELETE /documents/statistics forgets those of earlier files.`)

/** Pages that were read, by document and start, then page. Each combination occurs once. */
export type Rows = {
  length: number
  /** Document and start: see `toKey`. */
  keys: Float64Array
  pages: Int32Array
  /** Seconds. */
  durations: Int32Array
}

const MAX_START = Date.parse('9999-12-31T23:59:59Z') / 1000
const MAX_PAGE = 2 ** 31 - 1
const MAX_DURATION = 86_400
const STARTS = 2 ** 38

/**
 * A number for the document and the start of a row.
 * @param document an index below 2,048
 * @param start seconds since 1970
 */
export const toKey = (document: number, start: number) => document * STARTS + start
export const documentOf = (key: number) => Math.floor(key / STARTS)
export const startOf = (key: number) => key % STARTS

/** Whether a row counts. This must not depend on anything else: a row that counted once always counts. */
export const isCounted = (start: number, page: number, duration: number) =>
  start >= 0 && start <= MAX_START && page >= 0 && page <= MAX_PAGE && duration > 0 && duration <= MAX_DURATION

const allocate = (size: number) => ({
  keys: new Float64Array(size),
  pages: new Int32Array(size),
  durations: new Int32Array(size),
})

/** Collects rows, in any order and with repetitions. */
export const createCollector = (expected = 1024) => {
  let size = Math.max(1, expected)
  let rows: Rows = { length: 0, ...allocate(size) }
  const grow = () => {
    if (size >= MAX_STATISTICS_ROWS) refuseAbove('500,000 rows')
    size = Math.min(2 * size, MAX_STATISTICS_ROWS)
    const grown = allocate(size)
    grown.keys.set(rows.keys)
    grown.pages.set(rows.pages)
    grown.durations.set(rows.durations)
    rows = { length: rows.length, ...grown }
  }
  return {
    add: (key: number, page: number, duration: number) => {
      if (rows.length === size) grow()
      rows.keys[rows.length] = key
      rows.pages[rows.length] = page
      rows.durations[rows.length++] = duration
    },
    collected: () => rows,
  }
}

const DIGIT = 2 ** 13

/**
 * The order of rows by columns of non-negative integers, of which the last counts most. A radix sort: no values make it
 * slow.
 */
export const orderBy = (length: number, ...columns: (Float64Array | Int32Array)[]) => {
  let order = new Uint32Array(length)
  for (let at = 0; at < length; at++) order[at] = at
  let moved = new Uint32Array(length)
  const digits = new Uint16Array(length)
  for (const column of columns) {
    let most = 0
    for (let at = 0; at < length; at++) most = Math.max(most, column[at] ?? 0)
    for (let unit = 1; unit <= most; unit *= DIGIT) {
      const ends = new Uint32Array(DIGIT)
      for (let at = 0; at < length; at++) {
        const digit = Math.floor((column[order[at] ?? 0] ?? 0) / unit) % DIGIT
        digits[at] = digit
        ends[digit] = (ends[digit] ?? 0) + 1
      }
      if (ends.includes(length)) continue
      for (let digit = 1; digit < DIGIT; digit++) ends[digit] = (ends[digit] ?? 0) + (ends[digit - 1] ?? 0)
      for (let at = length - 1; at >= 0; at--) {
        const digit = digits[at] ?? 0
        const place = (ends[digit] ?? 0) - 1
        ends[digit] = place
        moved[place] = order[at] ?? 0
      }
      ;[order, moved] = [moved, order]
    }
  }
  return order
}

/** Which of two rows comes first. Rows behind the last come after all others. */
const compare = (left: Rows, atLeft: number, right: Rows, atRight: number) => {
  if (atRight >= right.length) return -1
  if (atLeft >= left.length) return 1
  const byKey = (left.keys[atLeft] ?? 0) - (right.keys[atRight] ?? 0)
  return byKey || (left.pages[atLeft] ?? 0) - (right.pages[atRight] ?? 0)
}

/** Sorts collected rows. Of those that repeat, the longest stays. */
export const sortRows = (rows: Rows): Rows => {
  const { length, keys, pages, durations } = rows
  const order = orderBy(length, durations, pages, keys)
  const { add, collected } = createCollector(length)
  for (let at = 0; at < length; at++) {
    const row = order[at] ?? 0
    const isLast = compare(rows, row, rows, order[at + 1] ?? length) !== 0
    if (isLast) add(keys[row] ?? 0, pages[row] ?? 0, durations[row] ?? 0)
  }
  return collected()
}

/** Calls `visit` for the rows of two sets, in order: their indexes, of which one is -1 if only one set has the row. */
export const align = (left: Rows, right: Rows, visit: (atLeft: number, atRight: number) => void) => {
  let [atLeft, atRight] = [0, 0]
  while (atLeft < left.length || atRight < right.length) {
    const order = compare(left, atLeft, right, atRight)
    visit(order <= 0 ? atLeft++ : -1, order >= 0 ? atRight++ : -1)
  }
}

/** The rows of two sets, with the longer duration of each. */
export const unite = (left: Rows, right: Rows) => {
  const { add, collected } = createCollector(Math.max(left.length, right.length))
  align(left, right, (atLeft, atRight) => {
    const [rows, at] = atLeft >= 0 ? [left, atLeft] : [right, atRight]
    const duration = Math.max(left.durations[atLeft] ?? 0, right.durations[atRight] ?? 0)
    add(rows.keys[at] ?? 0, rows.pages[at] ?? 0, duration)
  })
  return collected()
}

/** The rows that another set lacks, or has with a shorter duration. */
export const subtract = (rows: Rows, other: Rows) => {
  const { add, collected } = createCollector()
  align(rows, other, (at, atOther) => {
    const duration = rows.durations[at] ?? 0
    if (duration > (other.durations[atOther] ?? 0)) add(rows.keys[at] ?? 0, rows.pages[at] ?? 0, duration)
  })
  return collected()
}
