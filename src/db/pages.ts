import { type SQL, sql } from 'drizzle-orm'
import { isDeep, type Page, type Paging, toLimit, toPage } from '../values/paging'
import { type Caller, isCaller, runAsCaller } from './caller'
import { type Db, type Statement, sqlStatement, type Values } from './client'
import { limit, offset } from './parameters'

/** `asc` and `desc` are swapped when the list is read from its end. */
type Reading = { asc: SQL; desc: SQL; limit: SQL; offset: SQL; isFromEnd?: boolean }

const [asc, desc] = [sql`asc`, sql`desc`]

/**
 * Prepares the statements that read a page of a list. SQLite reads all rows that an offset skips, so a deep page is
 * read from the nearer end of the list. Only the database knows which end that is: of two statements, one returns no
 * rows.
 * @param totalElements the length of the list, as a scalar subquery. Null counts as 0
 */
export const pagesOf = <Row>(totalElements: SQL, build: (reading: Reading) => SQL) => {
  const total = sql`coalesce(${totalElements}, 0)`
  const isInFirstHalf = sql`2 * ${offset} + ${limit} <= ${total}`
  const fromEnd = {
    isFromEnd: true,
    asc: desc,
    desc: asc,
    limit: sql`iif(${isInFirstHalf}, 0, max(0, min(${limit}, ${total} - ${offset})))`,
    offset: sql`max(0, ${total} - ${offset} - ${limit})`,
  }
  const fromStart = { asc, desc, limit: sql`iif(${isInFirstHalf}, ${limit}, 0)`, offset }
  const prepare = (reading: Reading) => sqlStatement<Row>`${build(reading)}`
  const selectPage = [prepare({ asc, desc, limit, offset })]
  const selectDeep = [prepare(fromStart), prepare(fromEnd)]
  return (paging: Paging, values: Values = {}): Statement<Row>[] =>
    (isDeep(paging) ? selectDeep : selectPage).map((select) => select({ ...values, ...toLimit(paging) }))
}

/** The rows of a page, from the results of its statements. */
export const joinPage = <Row>([fromStart = [], fromEnd = []]: readonly Row[][]) => [
  ...fromStart,
  ...fromEnd.toReversed(),
]

/** Prepares a paged list of the caller. `counter`: its length, an SQL expression of columns of `members`. */
export const listOfCaller = <Row>(counter: SQL, build: (reading: Reading) => SQL) => {
  const selectTotal = sqlStatement<{ total: number }>`select ${counter} as total from members where ${isCaller}`
  const selectPage = pagesOf<Row>(sql`(select ${counter} from members where ${isCaller})`, build)
  return async (db: Db, caller: Caller, paging: Paging, values: Values = {}): Promise<Page<Row>> => {
    const batch = { guard: selectTotal(values), items: selectPage(paging, values) }
    const { guard, items } = await runAsCaller(db, caller, batch)
    return toPage(joinPage(items), guard.total, paging)
  }
}
