import { fieldsOf } from '../../../values/book-fields'
import { utf8Bytes } from '../../../values/quotas'
import { fold, toFoldedColumn } from '../../../values/text/fold'
import type { BookColumns } from '../../book-columns'
import { type Change, MEMO_PREFIX } from '../schema'
import { MAX_EXCERPT } from './existing'
import { implicitReading } from './merge'
import type { Planned } from './plan'

/** The first characters of a text, like `substr` of SQL. */
const toExcerpt = (text: string) =>
  Array.from(text.slice(0, 2 * MAX_EXCERPT))
    .slice(0, MAX_EXCERPT)
    .join('')

/**
 * What a row changes in a book of the library: columns with their values, what is added with the number before and
 * after it, and the beginnings of replaced texts.
 */
export const changesOf = (planned: Planned): Record<string, Change> => {
  const { existing, changes = {}, readings, first, tags, memos, texts, progress } = planned
  if (!existing) return {}
  const columns = (Object.keys(changes) as (keyof BookColumns)[]).map((name): [string, Change] => [
    name,
    [existing[name], changes[name] ?? null],
  ])
  const added: [string, number, unknown[]][] = [
    ['readings', existing.readings.length + implicitReading(existing).length, readings],
    ['tags', existing.tagKeys.length, tags],
    ['memos', existing.memoCount, memos],
    ['progress', existing.events, progress],
  ]
  const replaced = texts.map(({ source = '', content, replaced }): [string, Change] => [
    MEMO_PREFIX + source.slice(source.indexOf(' ') + 1),
    [replaced.excerpt, toExcerpt(content)],
  ])
  return Object.fromEntries([
    ...columns,
    // A row for the book's own reading adds no reading.
    ...added.flatMap(([name, before, { length }]): [string, Change][] =>
      length > 0 ? [[name, [before, before + length - Number(name === 'readings' && first !== undefined)]]] : [],
    ),
    ...replaced,
  ])
}

/** How to undo a row that updates a book. `writeChunk` replaces `history` with what the row overwrites. */
export const toUndo = (planned: Planned) => {
  const { existing, changes = {}, readings, tags, texts, progress } = planned
  if (!existing) return undefined
  const hasHistory = readings.length + progress.length > 0 || fieldsOf('history').some((name) => name in changes)
  const bytes = [
    ...fieldsOf('text')
      .filter((name) => name in changes)
      .map((name) => utf8Bytes(existing[name]) - utf8Bytes(changes[name])),
    ...texts.map(({ content, replaced }) => replaced.bytes - utf8Bytes(content)),
  ]
  return {
    changes: changesOf(planned),
    /** Bytes that the undo can add. */
    growth: bytes.reduce((sum, each) => sum + Math.max(0, each), 0) || undefined,
    titleFolded: 'title' in changes ? toFoldedColumn(existing.title) : undefined,
    authorFolded: 'author' in changes ? toFoldedColumn(existing.author) : undefined,
    tags: tags.length > 0 ? tags.map(fold) : undefined,
    events: progress.length > 0 ? progress.map(({ at }) => Date.parse(at)) : undefined,
    history: hasHistory ? 1 : undefined,
  }
}
