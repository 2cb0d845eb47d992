const ROW_OF = /^INSERT INTO ["`]?(\w+)/i

/** Pragmas, tables, rows with parent tables first, then indexes and triggers. */
const PHASES: ((statement: string) => boolean)[] = [
  (statement) => /^PRAGMA/i.test(statement),
  (statement) => /^CREATE TABLE/i.test(statement),
  (statement) => ROW_OF.exec(statement)?.[1] === 'members',
  (statement) => ROW_OF.exec(statement)?.[1] === 'books',
  (statement) => !/^CREATE (?:UNIQUE )?(?:INDEX|TRIGGER)/i.test(statement),
  () => true,
]
const phaseOf = (statement: string) => PHASES.findIndex((matches) => matches(statement))

/**
 * Sorts the statements of a D1 dump into an order that can be restored. An exported dump lists each table with its rows
 * alphabetically, so `books` would reference a missing `members`. Triggers come last: the dump already holds the counter
 * values, and triggers would add every restored row to them again.
 */
export const sortDump = (statements: string[]) => statements.toSorted((a, b) => phaseOf(a) - phaseOf(b))
