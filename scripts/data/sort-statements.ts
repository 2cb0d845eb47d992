/** Pragmas, tables, rows with parent tables first, then indexes and triggers. */
const PHASES = [
  /^PRAGMA/i,
  /^CREATE TABLE/i,
  /^INSERT INTO ["`]?members\b/i,
  /^INSERT INTO ["`]?books\b/i,
  /^(?!CREATE (?:UNIQUE )?(?:INDEX|TRIGGER))/i,
  /^/,
]
const phaseOf = (statement: string) => PHASES.findIndex((pattern) => pattern.test(statement))

/**
 * Sorts the statements of a D1 dump into an order that can be restored. An exported dump lists each table with its rows
 * alphabetically, so `books` would reference a missing `members`. Triggers come last: the dump already holds the counter
 * values, and triggers would add every restored row to them again.
 */
export const sortDump = (statements: string[]) => statements.toSorted((a, b) => phaseOf(a) - phaseOf(b))
