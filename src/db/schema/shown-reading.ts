// What the row of a book shows of its current reading: for the view, and for the triggers that log and delete. The file
// has no imports, so that scripts can read it.

/** The columns of a book that show or refine its current reading. */
export const READING_COLUMNS = [
  ...(['bookStatus', 'readStartDate', 'readEndDate', 'star', 'readingId', 'startedAt', 'finishedAt'] as const),
  ...(['isStopped', 'quarters', 'readingFormat', 'isPaused', 'readingSince'] as const),
  ...(['archivedId', 'archivedStart', 'archivedEnd', 'archivedStar', 'importId', 'note'] as const),
] as const

/** Quarters of a star as whole stars, rounded half up. Null stays null. */
export const toStars = (quarters: string) => `max(1, (${quarters} + 2) >> 2)`

/** The identifier of the current reading: that of the book, unless it has another one. */
export const currentId = (row = 'books.') => `coalesce(${row}readingId, ${row}bookId)`

/** The date of a column, unless the archived reading left it in the book. */
const ownDay = (row: string, column: string, archived: string) =>
  `nullif(substr(${row}${column}, 1, 10), ${row}${archived})`

/**
 * The columns of `readings` as the row of a book shows them: an expression for each.
 * @param row the prefix of the book's columns, such as `NEW.`
 */
export const shownReading = (row = '') => {
  const end = ownDay(row, 'readEndDate', 'archivedEnd')
  return {
    readingId: currentId(row),
    createdAt: `${row}readingSince`,
    startedAt: `coalesce(${ownDay(row, 'readStartDate', 'archivedStart')}, ${row}startedAt)`,
    finishedAt: `iif(${row}bookStatus = 'DONE', coalesce(${end}, ${row}finishedAt), NULL)`,
    outcome: `iif(${row}bookStatus <> 'DONE', NULL, ${row}isStopped AND ${end} IS NULL, 'STOPPED', 'FINISHED')`,
    quarters:
      `iif(${toStars(`${row}quarters`)} = ${row}star, ${row}quarters, ` +
      `${row}star IS ${row}archivedStar, NULL, nullif(${row}star * 4, 0))`,
    format: `${row}readingFormat`,
    note: `${row}note`,
    isPaused: `(${row}isPaused AND ${row}bookStatus = 'ING')`,
  }
}
