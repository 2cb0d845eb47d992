import { MAX_INT } from '../../values/contract'
import { type Code, type Entry, type EntryMemo, type EntryReading, emptyEntry, type ImportOptions } from '../entry'
import { MAX_LOSSES, MAX_NAME, MAX_READINGS, MAX_SOURCE_IDS, MAX_TAG, MAX_TAGS, MAX_TEXT } from './normalize'
import { findMapped, type Shelf } from './status'
import {
  cutText,
  type DateOrder,
  parseDate,
  parseFormat,
  parseInteger,
  parseIsbn,
  parseLanguage,
  parseQuarters,
  parseTime,
  toSourceId,
} from './values'

/** The values of a record of a file, by the folded names of its columns or properties. */
export type RowSource = {
  line: number
  get: (column: string) => string
  /** The name as it is in the file. */
  nameOf?: (column: string) => string
  /** The order of days and months in a column. */
  orderOf?: (column: string) => DateOrder
}

/** An entry to fill from the columns of a record. What cannot be kept becomes a loss. */
export const createRow = ({ line, get: read, nameOf = (column) => column, orderOf }: RowSource) => {
  const entry = emptyEntry(line)
  const get = (column: string) => read(column).trim()
  const lose = (code: Code, column: string) => {
    // One more than are listed shows that there are more. To compare each with all others would take quadratic time.
    if (entry.losses.length > MAX_LOSSES) return
    const field = nameOf(column)
    if (!entry.losses.some((loss) => loss.code === code && loss.field === field)) entry.losses.push({ code, field })
  }
  /** The value, or null with a loss if it could not be read. */
  const orLose = <Value>(value: Value | undefined, code: Code, column: string) => {
    if (value === undefined) lose(code, column)
    return value ?? null
  }
  const text = (column: string, max = MAX_NAME) => {
    const value = get(column)
    if (value.length > max) lose('too-long', column)
    return cutText(value, max).trim() || null
  }
  const integer = (column: string, min = 0, max = MAX_INT) => {
    const value = parseInteger(get(column), max)
    return orLose(value !== null && value !== undefined && value < min ? undefined : value, 'bad-number', column)
  }
  const date = (column: string) => orLose(parseDate(get(column), orderOf?.(column)), 'bad-date', column)

  return {
    entry,
    get,
    lose,
    text,
    integer,
    date,
    /** A number of pages, which is unknown if it is 0. */
    pages: (column: string) => integer(column) || null,
    /** A number between 0 and 100,000, such as 2.5. */
    decimal: (column: string) => {
      const value = get(column).replace(',', '.')
      const isNumber = /^\d{1,6}(?:\.\d{0,20})?$/.test(value) && Number(value) <= 100_000
      return value ? orLose(isNumber ? Number(value) : undefined, 'bad-number', column) : null
    },
    isbn: (...columns: string[]) => {
      for (const column of columns) {
        const isbn = orLose(parseIsbn(get(column)), 'bad-isbn', column)
        if (isbn) entry.isbn ??= isbn
      }
    },
    rate: (column: string, scale = 5) => {
      const rating = parseQuarters(get(column), scale)
      if (!rating) return lose('bad-rating', column)
      if (rating.isRounded) lose('rating-rounded', column)
      entry.quarters = rating.quarters
    },
    /** When the book was added: a date, or a time if the file has one. */
    added: (column: string) => {
      const day = date(column)
      if (day && day.length < 10) return lose('partial-date', column)
      const cell = get(column)
      const time = cell.includes(':') ? parseTime(cell, orderOf?.(column)) : null
      entry.addedAt = time ?? day
    },
    language: (column: string, name = get(column)) => {
      entry.language = orLose(parseLanguage(name), 'not-supported', column)
    },
    format: (column: string, name = get(column)) => {
      entry.format = orLose(parseFormat(name), 'not-supported', column)
    },
    /** Joins the authors, up to a name that fits. */
    authors: (names: string[], column: string) => {
      const unique = [...new Set(names.slice(0, MAX_NAME).map((name) => name.replace(/\s+/g, ' ').trim()))].filter(
        Boolean,
      )
      let author = cutText(unique[0] ?? '', MAX_NAME)
      let kept = 1
      while (kept < unique.length && author.length + (unique[kept]?.length ?? 0) + 2 <= MAX_NAME) {
        author += `, ${unique[kept++]}`
      }
      if (kept < unique.length || (unique[0]?.length ?? 0) > MAX_NAME || names.length > MAX_NAME)
        lose('too-long', column)
      entry.author = author || null
    },
    tag: (names: string[], column: string) => {
      for (const name of names) {
        // Normalizing a long text can take minutes.
        const normalized = name
          .slice(0, 4 * MAX_TAG)
          .normalize('NFC')
          .trim()
        const tag = cutText(normalized, MAX_TAG).trim()
        if (!tag || entry.tags.includes(tag)) continue
        if (entry.tags.length === MAX_TAGS) return lose('too-many', column)
        if (normalized.length > MAX_TAG || name.length > 4 * MAX_TAG) lose('too-long', column)
        entry.tags.push(tag)
      }
    },
    identify: (source: string, id: string, column: string) => {
      if (!id.trim()) return
      const sourceId = toSourceId(source, id)
      if (!sourceId) return lose('not-supported', column)
      if (entry.sourceIds.includes(sourceId)) return
      if (entry.sourceIds.length === MAX_SOURCE_IDS) return lose('too-many', column)
      entry.sourceIds.push(sourceId)
    },
    /** Keeps a review or a note as a memo, HTML as it is. */
    memo: (review: string, column: string, createdAt: string | null = null): EntryMemo | undefined => {
      const content = review.trim()
      if (!content) return undefined
      if (content.length > MAX_TEXT) lose('review-truncated', column)
      const memo: EntryMemo = { type: 'THOUGHT', content: cutText(content, MAX_TEXT), page: 0, createdAt }
      entry.memos.push(memo)
      return memo
    },
    addReading: (startedAt: string | null, finishedAt: string | null, column: string) => {
      if (entry.readings.length === MAX_READINGS) return lose('too-many', column)
      const shared = Math.min(startedAt?.length ?? 0, finishedAt?.length ?? 0)
      const isInOrder = !startedAt || !finishedAt || finishedAt.slice(0, shared) >= startedAt.slice(0, shared)
      if (!isInOrder) lose('bad-date', column)
      entry.readings.push({
        startedAt: isInOrder ? startedAt : null,
        finishedAt,
        outcome: finishedAt ? 'FINISHED' : null,
        quarters: null,
        isPaused: false,
        note: null,
      })
    },
    /** Names the columns that have something the library has no place for. */
    refuse: (columns: string[]) => {
      for (const column of columns) {
        if (!/^(?:0|no|false|n\/a|unknown)?$/i.test(get(column))) lose('not-supported', column)
      }
    },
  }
}
export type Row = ReturnType<typeof createRow>

/** Sets the status, and what the last reading says about it. To be called after the readings are added. */
const applyShelf = ({ entry, addReading }: Row, shelf: Shelf) => {
  if (shelf === 'TAG') return
  const isEnded = shelf === 'DONE' || shelf === 'STOPPED'
  entry.status = isEnded ? 'DONE' : shelf === 'YET' ? 'YET' : 'ING'
  const last = entry.readings.at(-1)
  // A finished reading of a book that is unread or being read is an earlier one.
  const needsReading = isEnded ? !last && shelf === 'STOPPED' : last ? Boolean(last.finishedAt) : shelf === 'PAUSED'
  if (needsReading) addReading(null, null, 'status')
  const current = entry.readings.at(-1)
  if (!current) return
  if (isEnded) current.outcome = shelf === 'STOPPED' ? 'STOPPED' : 'FINISHED'
  else current.isPaused = shelf === 'PAUSED'
}

/**
 * Sets the status by a shelf: as the member maps it, else by the words of the format, else not at all.
 * @param unknown the loss if the shelf means nothing: the name of a custom shelf is kept as a tag
 * @returns whether the shelf is a status
 */
export const shelve = (
  row: Row,
  name: string,
  column: string,
  { shelfMap }: Pick<ImportOptions, 'shelfMap'>,
  find: (name: string) => Shelf | undefined,
  unknown: 'custom-shelf-needs-choice' | 'unknown-status' = 'custom-shelf-needs-choice',
) => {
  if (!name) return false
  const shelf = findMapped(name, shelfMap) ?? find(name)
  if (shelf === 'TAG' || (!shelf && unknown === 'custom-shelf-needs-choice')) row.tag([name], column)
  if (shelf) applyShelf(row, shelf)
  else row.lose(unknown, column)
  return shelf !== undefined && shelf !== 'TAG'
}

const order = ({ startedAt, finishedAt }: EntryReading) => finishedAt ?? `9999${startedAt}`
/** Sorts readings by their finish. A reading without one goes on. */
export const sortReadings = ({ entry }: Row) =>
  entry.readings.sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0))

/** Ends the reading of an entry: every entry needs a title. */
export const finish = ({ entry }: Row): Entry => {
  if (!entry.title) entry.failure = 'no-title'
  return entry
}
