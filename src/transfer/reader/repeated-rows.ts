import { MAX_SOURCE_IDS } from '../../library/editions/schema'
import { isInOrder, MAX_LISTED_READINGS } from '../../library/readings/schema'
import { MAX_BOOK_TAGS } from '../../library/tags/schema'
import { fieldsOf } from '../../values/book-fields'
import { fold } from '../../values/text/fold'
import type { Code, Entry, EntryReading } from '../entries/entry'
import { toAuthorKeys, toNameStarts } from '../entries/names'
import { findSame, readingsOf } from '../entries/readings'

const VALUES = [...fieldsOf('fill'), 'currentPage', 'addedAt'] as const

/** Whether a row names no other authors, in whatever order their names are. */
const hasSameAuthors = (entry: Entry, row: Entry) =>
  toAuthorKeys(entry.author)[0] === toAuthorKeys(row.author)[0] &&
  toNameStarts(row.author).isSubsetOf(toNameStarts(entry.author))

const UNDATED = { startedAt: null, finishedAt: null, quarters: null, isPaused: false, note: null }
const isUndated = ({ startedAt, finishedAt, outcome, isPaused }: EntryReading) =>
  !startedAt && !finishedAt && outcome !== 'STOPPED' && !isPaused

/** The readings of a row, rated. A book that is read or being read has one, even if nothing else is known of it. */
const allReadingsOf = (entry: Entry) => {
  if (entry.readings.length > 0 || !entry.status || entry.status === 'YET') return readingsOf(entry)
  return readingsOf({ ...entry, readings: [{ ...UNDATED, outcome: entry.status === 'DONE' ? 'FINISHED' : null }] })
}

/**
 * Adds to an entry what a later row says of the same book, as a later file would. What contradicts the entry is a loss of
 * the row. Returns whether there was anything to add.
 * @param texts the contents of the entry's memos
 */
export const addRow = (entry: Entry, row: Entry, texts: Set<string>) => {
  let isAdded = false
  const lose = (field: string, code: Code = 'duplicate-in-file') => void row.losses.push({ code, field })
  const add = <Item>(items: Item[], item: Item, field: string, max = Number.POSITIVE_INFINITY) => {
    if (items.length >= max) return lose(field, 'too-many')
    items.push(item)
    isAdded = true
  }
  /** Sets a value that the entry does not have, or has less exactly. */
  const set = <Values, Name extends keyof Values>(values: Values, name: Name, value: Values[Name]) => {
    values[name] = value
    isAdded = true
  }

  for (const name of VALUES) {
    const [own, other] = [entry[name], row[name]]
    if (other === null || other === own) continue
    if (own === null) set(entry as Record<string, unknown>, name, other)
    else if (name !== 'author' || !hasSameAuthors(entry, row)) lose(name)
  }

  const addDate = (reading: EntryReading, other: EntryReading, name: 'startedAt' | 'finishedAt') => {
    const [own, date] = [reading[name], other[name]]
    if (!date || own?.startsWith(date)) return
    const isExact = own === null || date.startsWith(own)
    if (isExact && isInOrder({ ...reading, [name]: date })) set(reading, name, date)
    else lose(name)
  }
  const [readings, others] = [allReadingsOf(entry), allReadingsOf(row)]
  const unrated = readings.length === 0 ? entry.quarters : others.length === 0 ? row.quarters : null
  const left = new Set(readings)
  for (const other of others) {
    const same = findSame(
      [...left].filter(({ outcome }) => !outcome === !other.outcome),
      other,
    )
    if (!same) {
      add(readings, other, 'readings', MAX_LISTED_READINGS)
      continue
    }
    left.delete(same)
    if (same.outcome !== other.outcome) lose('status')
    addDate(same, other, 'finishedAt')
    addDate(same, other, 'startedAt')
    if (other.isPaused && !same.isPaused) set(same, 'isPaused', true)
    if (same.quarters === null && other.quarters !== null) set(same, 'quarters', other.quarters)
    else if (other.quarters !== null && same.quarters !== other.quarters) lose('rating')
  }
  const count = (rated: EntryReading[]) => rated.filter(({ quarters }) => quarters !== null).length
  if (readings.length === 0) {
    // Both are unread, or nothing is known of their status.
    if (entry.status === null && row.status !== null) set(entry, 'status', row.status)
    if (entry.quarters === null && row.quarters !== null) set(entry, 'quarters', row.quarters)
    else if (row.quarters !== null && row.quarters !== entry.quarters) lose('rating')
  } else {
    if (row.status === 'YET') lose('status')
    entry.readings = readingsOf({ ...entry, readings, quarters: unrated })
    entry.quarters = null
    const isUsed = count(entry.readings) > count(readings)
    if (unrated !== null && !isUsed) lose('rating')
    if (isUsed) isAdded = true
    const [only, ...more] = entry.readings
    entry.status = entry.readings.at(-1)?.outcome ? 'DONE' : 'ING'
    // A single reading without dates says no more than the status.
    if (only && more.length === 0 && isUndated(only)) Object.assign(entry, { readings: [], quarters: only.quarters })
  }

  const keys = new Set(entry.tags.map(fold))
  for (const tag of row.tags) if (!keys.has(fold(tag))) add(entry.tags, tag, 'tags', MAX_BOOK_TAGS)
  for (const id of row.sourceIds) {
    if (!entry.sourceIds.includes(id)) add(entry.sourceIds, id, 'sourceIds', MAX_SOURCE_IDS)
  }
  for (const memo of row.memos) {
    if (texts.has(memo.content)) continue
    texts.add(memo.content)
    // Of each column, one memo has it as source, so that a later import may replace its text. Those come first.
    const { source, ...text } = memo
    if (source === undefined || entry.memos.some((each) => each.source === source)) entry.memos.push(text)
    else entry.memos.unshift(memo)
    isAdded = true
  }
  return isAdded
}
