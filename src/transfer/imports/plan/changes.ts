import { fieldsOf } from '../../../values/book-fields'
import { utf8Bytes } from '../../../values/quotas'
import { fold, toFoldedColumn } from '../../../values/text/fold'
import { BOOK_COLUMNS, type BookColumns } from '../../book-columns'
import { type Change, MEMO_PREFIX } from '../schema'
import { isCurrentChanged } from './current-reading'
import { MAX_EXCERPT } from './existing'
import type { Planned } from './plan'

/** The first characters of a text, like `substr` of SQL. */
const toExcerpt = (text: string) =>
  Array.from(text.slice(0, 2 * MAX_EXCERPT))
    .slice(0, MAX_EXCERPT)
    .join('')

/** Of these, the report says only how many readings there are. */
const REFINEMENTS = ['startedAt', 'finishedAt', 'isStopped', 'quarters', 'readingFormat', 'isPaused', 'note'] as const

/**
 * What a row changes in a book of the library: columns with their values, what is added with the number before and
 * after it, and the beginnings of replaced texts.
 */
export const changesOf = (planned: Planned): Record<string, Change> => {
  const { existing, changes = {}, readings, open, tags, memos, texts, progress } = planned
  if (!existing) return {}
  const columns = (Object.keys(changes) as (keyof BookColumns)[]).filter((name) => BOOK_COLUMNS.includes(name))
  const isUnread = existing.bookStatus === 'YET'
  const stored = existing.past.length + (isUnread ? 0 : 1)
  const isOneMore = open !== undefined || (isUnread && changes.bookStatus !== undefined)
  const isRefined = REFINEMENTS.some((name) => name in changes)
  const added: [string, number, number][] = [
    ['readings', stored, readings.length + Number(isOneMore)],
    ['tags', existing.tagKeys.length, tags.length],
    ['memos', existing.memoCount, memos.length],
    ['progress', existing.events, progress.length],
  ]
  const isSaid = ([name, , count]: (typeof added)[number]) =>
    name === 'readings' ? isRefined || open || readings.length > 0 : count > 0
  const replaced = texts.map(({ source = '', content, replaced }): [string, Change] => [
    MEMO_PREFIX + source.slice(source.indexOf(' ') + 1),
    [replaced.excerpt, toExcerpt(content)],
  ])
  return Object.fromEntries([
    ...columns.map((name) => [name, [existing[name], changes[name] ?? null]]),
    ...added.filter(isSaid).map(([name, before, count]) => [name, [before, before + count]]),
    ...replaced,
  ])
}

/** How to undo a row that updates a book. `writeChunk` replaces `reading` and `progress` with what the row overwrites. */
export const toUndo = (planned: Planned) => {
  const { existing, changes = {}, readings, open, tags, texts, progress } = planned
  if (!existing) return undefined
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
    reading: isCurrentChanged(changes) || open || readings.length > 0 ? 1 : undefined,
    progress: progress.length > 0 || 'currentPage' in changes ? 1 : undefined,
  }
}
