import { asc, desc, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { isDeep, type Paging, toLimit } from '../values/paging'
import { type Buildable, type Builder, type RowOf, type Statement, statement, type Values } from './client'
import { limit, offset } from './parameters'

/** `asc` and `desc` are swapped when the list is read from its end. */
type Reading = {
  asc: typeof asc
  desc: typeof desc
  limit: Placeholder
  offset: Placeholder
  isFromEnd?: boolean
}

const toPlaceholder = (expression: SQL) => expression as unknown as Placeholder

/**
 * Prepares the statements that read a page of a list. SQLite reads all rows that an offset skips, so a deep page is read
 * from the nearer end of the list. Only the database knows which end that is: of two statements, one returns no rows.
 * @param totalElements the length of the list, as a scalar subquery. Null counts as 0
 */
export const pagesOf = <Q extends Buildable>(totalElements: SQL, build: (db: Builder, reading: Reading) => Q) => {
  const total = sql`coalesce(${totalElements}, 0)`
  const isInFirstHalf = sql`2 * ${offset} + ${limit} <= ${total}`
  const fromEnd = {
    isFromEnd: true,
    asc: desc,
    desc: asc,
    limit: toPlaceholder(sql`iif(${isInFirstHalf}, 0, max(0, min(${limit}, ${total} - ${offset})))`),
    offset: toPlaceholder(sql`max(0, ${total} - ${offset} - ${limit})`),
  }
  const fromStart = { asc, desc, limit: toPlaceholder(sql`iif(${isInFirstHalf}, ${limit}, 0)`), offset }
  const selectPage = statement((db) => build(db, { asc, desc, limit, offset }))
  const selectDeep = [fromStart, fromEnd].map((reading) => statement((db) => build(db, reading)))
  return (paging: Paging, values: Values = {}): Statement<RowOf<Q>>[] =>
    (isDeep(paging) ? selectDeep : [selectPage]).map((select) => select({ ...values, ...toLimit(paging) }))
}

/** The rows of a page, from the results of its statements. */
export const joinPage = <Row>([fromStart = [], fromEnd = []]: readonly Row[][]) => [
  ...fromStart,
  ...fromEnd.toReversed(),
]
