import * as read from '../rows/columns'
import { parseTime } from '../rows/dates'
import { shelve, status } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { splitList } from '../rows/values'

/** Authors, and others with their role in brackets, such as translators and narrators. */
const people: ReadCell = (row, cell, column) => {
  const people = splitList(cell, ',').map((name) => ({ name, role: /\(([^()]*)\)$/.exec(name)?.[1] }))
  const authors = people.filter(({ role }) => !role || /^(?:co-?)?author$/i.test(role))
  if (authors.length < people.length) row.lose('not-supported', column)
  const names = authors.map(({ name }) => name.split('(')[0] ?? '')
  read.addAuthors(row, names, column)
}

/** A series such as `Harbour (#2.0)`. Of several, separated by commas, the first. */
const series: ReadCell = (row, cell, column) => {
  const [first = '', ...others] = cell.split(/(?<=\)), /)
  if (others.length > 0) row.lose('not-supported', column)
  const open = first.lastIndexOf(' (#')
  const number = open > 0 ? /^(\d{1,5}(?:\.\d{1,3})?)\)$/.exec(first.slice(open + 3))?.[1] : null
  if (number === undefined) row.lose('bad-number', column)
  read.series(row, number ? first.slice(0, open) : first, column)
  row.entry.seriesNumber = number ? Number(number) : null
}

/** A status, or that Hardcover must not recommend the book. */
const statusOrIgnored: ReadCell = (row, cell, column) => {
  if (/^ignored$/i.test(cell)) shelve(row, cell, column, () => 'TAG')
  else status(row, cell, column)
}

/** Lists with the place of the book, such as `Owned, Sea (#19)`. */
const lists: ReadCell = (row, cell, column) => read.tags(',')(row, cell.replace(/ \(#\d+\)(?=,|$)/g, ''), column)

const review: ReadCell = (row, cell, column) => {
  read.addOnlyMemo(row, { content: cell, createdAt: parseTime(row.get('review date')) ?? null }, column)
}

export const hardcover = tableFormat((has) => has('hardcover book id') || has('hardcover edition id'), {
  'hardcover book id': read.identifier('hardcover'),
  'hardcover edition id': read.identifier('hardcover-edition'),
  asin: read.identifier('asin'),
  author: people,
  series,
  ...read.each('isbn 13,isbn 10', read.isbn),
  'publish date': read.published,
  'language code': read.language,
  // Most editions have no binding, but all are an Audio, an Ebook or, if printed, a Book.
  ...read.each('binding,media', read.format),
  'duration in seconds': read.seconds,
  status: statusOrIgnored,
  tags: read.tags(','),
  lists,
  review,
  'private notes': read.memo,
  ...read.each('review date,country code,compilation,review slate,privacy', read.ignored),
  ...read.each(
    'genres,moods,content warnings,review contains spoilers,sponsored review,review url,review media url,owned',
    read.unsupported,
  ),
})
