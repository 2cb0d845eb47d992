// Parents first, whatever is deferred.
const PARENTS = ['members', 'books']

const PRAGMA = /^PRAGMA/i
const TABLE = /^CREATE TABLE/i
const ROW = /^INSERT INTO ["`]?(\w+)/i
const AFTERWARDS = /^CREATE (?:UNIQUE )?(?:INDEX|TRIGGER)/i

/** When a statement of a dump must run. */
const turnOf = (statement: string) => {
  if (PRAGMA.test(statement)) return -1
  if (TABLE.test(statement)) return 0
  const table = ROW.exec(statement)?.[1]
  if (table && PARENTS.includes(table)) return 1 + PARENTS.indexOf(table)
  return AFTERWARDS.test(statement) ? 4 : 3
}

/**
 * The statements of a dump in an order in which they can be restored. A dump names tables by the alphabet, each with
 * its rows: books would refer to a table that is not there yet. And triggers must come last: a row that is counted as it is
 * restored would be counted twice, since the counters are restored too.
 */
export const orderDump = (statements: string[]) => statements.toSorted((one, other) => turnOf(one) - turnOf(other))
