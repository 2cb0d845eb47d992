import { MAX_INT } from '../../values/contract'
import { fold } from '../../values/fold'
import type { Cells, Entry, EntryMemo, EntryReading, Loss } from '../entry'
import { cutText, isDate } from './values'

// What every entry must satisfy before it is stored, whatever its format: a single row that the database refuses would stop
// an import for good.

export const MAX_NAME = 500
export const MAX_TEXT = 65_535
const MAX_COVER = 2048
export const MAX_TAG = 100
export const MAX_TAGS = 30
export const MAX_READINGS = 200
export const MAX_SOURCE_IDS = 20
/** Losses that a row of the report lists. */
export const MAX_LOSSES = 100
/** Says that a row has more losses than it lists. */
export const MORE_LOSSES: Loss = { code: 'too-many', field: 'losses' }
/** Characters of each cell that a failed row keeps, if together they have more than MAX_CELLS. */
const MAX_CELL = 2000
const MAX_CELLS = 100_000

/** The database stores neither NUL nor halves of surrogate pairs. */
export const storable = (text: string) => text.toWellFormed().replaceAll('\0', '')

const isPartialDate = (text: string) => {
  const [, year, month = 1, day = 1] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(text) ?? []
  return year !== undefined && isDate(Number(year), Number(month), Number(day))
}
/** yyyy-MM-ddTHH:mm:ss, or the date alone. */
const isTimestamp = (text: string) =>
  /^\d{4}-\d\d-\d\d(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)?$/.test(text) && isPartialDate(text.slice(0, 10))

const isUrl = (text: string) => text.length <= MAX_COVER && /^https?:\/\/[^\s\\]+$/i.test(text) && URL.canParse(text)
const isSourceId = (text: string) => text.length <= 200 && /^[a-z][a-z\d_-]*:[!-~]+$/.test(text)

const isIn = (value: number | null, min: number, max: number) => value !== null && value >= min && value <= max
const integerIn = (value: number | null, min: number, max: number) =>
  Number.isInteger(value) && isIn(value, min, max) ? value : null

/** The tags, without those that differ only in case from an earlier one. */
const uniqueTags = (tags: string[]) => {
  const spelled = new Map<string, string>()
  for (const tag of tags) if (!spelled.has(fold(tag))) spelled.set(fold(tag), tag)
  return [...spelled.values()]
}

/** The characters of cells, with their names. */
export const lengthOf = ({ names, values }: Cells) => {
  const add = (sum: number, text: string) => sum + text.length
  return values.reduce(add, names.reduce(add, 0))
}

const cutCells = (cells: Cells): Cells => {
  if (lengthOf(cells) <= MAX_CELLS) return cells
  const count = MAX_CELLS / MAX_CELL
  return {
    names: cells.names.slice(0, count).map((name) => cutText(name, MAX_NAME)),
    values: cells.values.slice(0, count).map((value) => cutText(value, MAX_CELL)),
  }
}

const clean = (entry: Entry, losses: Loss[]): Entry => {
  const lose = (code: Loss['code'], field: string) => {
    losses.push({ code, field })
    return null
  }
  const text = (value: string | null, field: string, max = MAX_NAME) => {
    if (value === null) return null
    const clean = storable(value)
    if (clean.length > max) lose('too-long', field)
    return cutText(clean, max).trim() || null
  }
  const limited = <Item>(items: Item[], max: number, field: string) => {
    if (items.length > max) lose('too-many', field)
    return items.slice(0, max)
  }
  const date = (value: string | null, isValid: (date: string) => boolean, field: string) =>
    value === null || isValid(value) ? value : lose('bad-date', field)

  const toReading = (reading: EntryReading): EntryReading => ({
    ...reading,
    startedAt: date(reading.startedAt, isPartialDate, 'startedAt'),
    finishedAt: reading.outcome === null ? null : date(reading.finishedAt, isPartialDate, 'finishedAt'),
    quarters: integerIn(reading.quarters, 1, 20),
    note: text(reading.note, 'note', MAX_TEXT),
  })
  const toMemo = (memo: EntryMemo): EntryMemo => ({
    ...memo,
    content: text(memo.content, 'memo', MAX_TEXT) ?? '',
    page: integerIn(memo.page, 0, MAX_INT) ?? 0,
    createdAt: date(memo.createdAt, (time) => time.length === 19 && isTimestamp(time), 'memo'),
  })
  const tags = entry.tags.flatMap((tag) => text(tag, 'tags', MAX_TAG) ?? [])

  return {
    ...entry,
    title: text(entry.title, 'title'),
    author: text(entry.author, 'author'),
    publisher: text(entry.publisher, 'publisher'),
    series: text(entry.series, 'series'),
    cover: entry.cover !== null && isUrl(entry.cover) ? entry.cover : null,
    pages: integerIn(entry.pages, 1, MAX_INT),
    currentPage: integerIn(entry.currentPage, 0, MAX_INT),
    publishedYear: integerIn(entry.publishedYear, -3000, 9999),
    seriesNumber: isIn(entry.seriesNumber, 0, 100_000) ? entry.seriesNumber : null,
    quarters: integerIn(entry.quarters, 1, 20),
    addedAt: date(entry.addedAt, isTimestamp, 'addedAt'),
    sourceIds: limited([...new Set(entry.sourceIds.filter(isSourceId))], MAX_SOURCE_IDS, 'sourceIds'),
    tags: limited(uniqueTags(tags), MAX_TAGS, 'tags'),
    readings: limited(entry.readings, MAX_READINGS, 'readings').map(toReading),
    memos: entry.memos.map(toMemo).filter(({ content }) => content !== ''),
  }
}

/**
 * Makes an entry storable. What must be cut or left out becomes a loss. Values of an export of this service are not changed:
 * its format has already removed what cannot be stored.
 */
export const normalize = (entry: Entry): Entry => {
  const losses: Loss[] = []
  const normalized = entry.exact ? entry : clean(entry, losses)
  const all = [...entry.losses, ...losses]
  const failure = entry.failure ?? (normalized.title === null ? 'no-title' : null)
  return {
    ...normalized,
    cells: cutCells(entry.cells),
    failure,
    losses: all.length > MAX_LOSSES ? [...all.slice(0, MAX_LOSSES), MORE_LOSSES] : all,
  }
}
