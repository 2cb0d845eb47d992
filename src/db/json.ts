import { type SQL, sql } from 'drizzle-orm'

/** D1 allows a function 32 arguments. */
const MAX_PAIRS = { json_object: 16, json_set: 15 }

/** An SQL expression for a JSON object with these properties. */
export const toJson = (properties: Record<string, SQL>) => {
  const all = Object.entries(properties)
  const pairs = (from: number, to: number, prefix = '') =>
    sql.join(
      all.slice(from, to).map(([name, value]) => sql`${sql.raw(`'${prefix}${name}'`)}, ${value}`),
      sql`, `,
    )
  let json = sql`json_object(${pairs(0, MAX_PAIRS.json_object)})`
  for (let at = MAX_PAIRS.json_object; at < all.length; at += MAX_PAIRS.json_set)
    json = sql`json_set(${json}, ${pairs(at, at + MAX_PAIRS.json_set, '$.')})`
  return json
}

/** Columns of a table as properties of their names. */
export const columnsOf = (table: string, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, sql.raw(`${table}.${name}`)]))
