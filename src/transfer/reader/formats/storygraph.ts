import * as read from '../rows/columns'
import { addDates, finishedLast, readCount, sortReadings } from '../rows/readings'
import type { ReadCell } from '../rows/row'
import { tableFormat } from '../rows/table'
import { splitList } from '../rows/values'

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
/** An ISBN, an Amazon identifier, an identifier of StoryGraph, or nothing. */
const isbnOrUid: ReadCell = (row, cell, column) => {
  if (UUID.test(cell)) read.identify(row, 'storygraph', cell.toLowerCase(), column)
  else if (/^B[\dA-Z]{9}$/.test(cell)) read.identify(row, 'asin', cell, column)
  else read.isbn(row, cell, column)
}

const DAY = /^\d{4}(?:\/\d\d?){0,2}$/
/** Readings, separated by commas: `start-finish`, or one date, which is a finish. */
const sessions: ReadCell = (row, cell, column) => {
  for (const session of splitList(cell, ',')) {
    const dates = session.split('-').map((date) => date.trim())
    const [finish = '', start = '', ...others] = dates.reverse()
    const isValid = others.length === 0 && dates.every((date) => !date || DAY.test(date))
    if (isValid) addDates(row, start, finish, column)
    else row.lose('bad-date', column)
  }
  sortReadings(row)
}

/** An answer of the member, who may also have said no. */
const answer: ReadCell = (row, cell, column) => {
  if (/^no$/i.test(cell)) row.lose('not-supported', column)
  else read.unsupported(row, cell, column)
}

export const storygraph = tableFormat(
  (has) => has('read status') && (has('star rating') || has('last date read') || has('isbn/uid')),
  {
    ...read.each('authors,author', read.authors(',')),
    contributors: read.unsupported,
    ...read.each('isbn/uid,isbn', isbnOrUid),
    'dates read': sessions,
    'last date read': finishedLast,
    'read count': readCount,
    tags: read.tags(','),
    ...read.each('moods,pace,character- or plot-driven?', read.unsupported),
    ...read.each('strong character development?,loveable characters?,diverse characters?,flawed characters?', answer),
    ...read.each('content warnings,content warning description,owned?', read.unsupported),
  },
)
