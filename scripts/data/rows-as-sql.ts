import { createHash } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'

/** D1 refuses statements of more than 100,000 bytes. */
const MAX_BYTES = 90_000
/** The code points of a long text that its row is inserted with, and those that each further statement appends. */
const PIECES = /^.{1,500}|.{1,10000}/gsu
const SEQUENCE = 'sqlite_sequence'

export type Table = { name: string; sql: string; columns: string[]; keys: string[] }

const quoteName = (name: unknown) => `"${String(name).replaceAll('"', '""')}"`

const CONTROLS = ['\n', '\r', '\0']
const markOf = (character: string) => `\\${character.charCodeAt(0)}`

/**
 * Replaces control characters by marks, so that every row is one line. A text that contains a mark is written in
 * hexadecimal: with longer marks instead, a hostile text could make the statement longer than D1 accepts.
 */
const toTextLiteral = (text: string) => {
  const found = CONTROLS.filter((character) => text.includes(character))
  if (found.some((character) => text.includes(markOf(character))))
    return `CAST(X'${Buffer.from(text).toString('hex')}' AS TEXT)`
  return found.reduce(
    (literal, character) =>
      `replace(${literal.replaceAll(character, markOf(character))},'${markOf(character)}',char(${character.charCodeAt(0)}))`,
    `'${text.replaceAll("'", "''")}'`,
  )
}

const toLiteral = (value: SQLOutputValue | undefined) => {
  if (value == null) return 'NULL'
  if (typeof value === 'string') return toTextLiteral(value)
  return typeof value === 'object' ? `X'${Buffer.from(value).toString('hex')}'` : String(value)
}

/** The tables of a database in an order in which their rows can be inserted: each after those that it references. */
export const listTables = (database: DatabaseSync) => {
  const tables = database
    .prepare(
      `select name, sql from main.sqlite_schema where type = 'table' and name not glob '_cf_*'
      and (name not glob 'sqlite_*' or name = '${SEQUENCE}') order by name = '${SEQUENCE}', rowid`,
    )
    .all()
  const ordered = new Set<unknown>()
  const add = (name: unknown) => {
    const parents = database.prepare(`pragma main.foreign_key_list(${quoteName(name)})`).all()
    for (const { table } of parents) if (table !== name) add(table)
    ordered.add(name)
  }
  for (const { name } of tables) add(name)
  return [...ordered].map((name): Table => {
    const columns = database.prepare(`pragma main.table_info(${quoteName(name)})`).all()
    return {
      name: quoteName(name),
      sql: String(tables.find((table) => table.name === name)?.sql),
      columns: columns.map((column) => quoteName(column.name)),
      keys: columns.filter(({ pk }) => pk !== 0).map((column) => quoteName(column.name)),
    }
  })
}

/** Yields the statements that insert a row: one, or more if it is longer than a statement may be. */
function* insertRow({ name, columns, keys }: Table, row: SQLOutputValue[]) {
  const insert = (values: (SQLOutputValue | undefined)[]) =>
    `INSERT INTO ${name} (${columns}) VALUES(${values.map(toLiteral)})`
  const statement = insert(row)
  if (Buffer.byteLength(statement) <= MAX_BYTES) {
    yield statement
    return
  }
  const isKey = (index: number) => keys.includes(columns[index] ?? '')
  const pieces = row.map((value, index) =>
    typeof value === 'string' && !isKey(index) ? (value.match(PIECES) ?? ['']) : [value],
  )
  yield insert(pieces.map(([first]) => first))
  const where = columns
    .map((column, index) => `${column} = ${toLiteral(row[index])}`)
    .filter((_, index) => isKey(index))
  for (const [index, [, ...further]] of pieces.entries()) {
    const column = columns[index]
    for (const piece of further)
      yield `UPDATE ${name} SET ${column} = ${column} || ${toLiteral(piece)} WHERE ${where.join(' AND ')}`
  }
}

/** Stands for a table of the definitions of indexes and triggers. */
export const DEFINITIONS = 'indexes and triggers'

/** By the name of a table: its number of rows, and the SHA-256 of the statements that insert them. */
export type Digests = Record<string, { rows: number; sha256: string }>

/** Yields the statements of each item, and adds their digest. */
function* digested<Item>(
  digests: Digests,
  name: string,
  items: Iterable<Item>,
  toStatements: (item: Item) => Iterable<string>,
) {
  const hash = createHash('sha256')
  let rows = 0
  for (const item of items) {
    rows += 1
    for (const statement of toStatements(item)) {
      hash.update(`${statement}\n`)
      yield statement
    }
  }
  digests[name] = { rows, sha256: hash.digest('hex') }
}

/**
 * Yields the statements that rebuild a database, in an order in which D1 can run them: tables, rows, indexes, triggers.
 * Triggers come last because the rows already have the counters that triggers would change again.
 * @param digests gets those of the tables, and that of the indexes and triggers. Rows are in the order of their keys
 */
export function* toStatements(database: DatabaseSync, digests: Digests = {}) {
  const tables = listTables(database)
  const isSequence = ({ name }: Table) => name === quoteName(SEQUENCE)
  for (const table of tables) if (!isSequence(table)) yield table.sql
  for (const table of tables) {
    if (isSequence(table)) yield `DELETE FROM ${table.name}`
    const { name, columns, keys } = table
    const rows = database.prepare(`select ${columns} from main.${name} order by ${keys.length > 0 ? keys : columns}`)
    rows.setReadBigInts(true)
    rows.setReturnArrays(true)
    yield* digested(digests, name.slice(1, -1), rows.iterate(), (row) =>
      insertRow(table, row as unknown as SQLOutputValue[]),
    )
  }
  const others = database
    .prepare(`select sql from main.sqlite_schema where type <> 'table' and sql is not null order by type, name`)
    .all()
  yield* digested(digests, DEFINITIONS, others, ({ sql }) => [String(sql)])
}

/** The number of rows of all tables. */
export const sumRows = ({ [DEFINITIONS]: _, ...tables }: Digests) =>
  Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)

/** The digests of a database: those of its copies are the same. */
export const digestTables = (database: DatabaseSync) => {
  const digests: Digests = {}
  for (const _ of toStatements(database, digests));
  return digests
}

/** Lists the tables in which a database differs from its original, a line each. */
export const compareDigests = (expected: Digests, found: Digests) =>
  [...new Set([...Object.keys(expected), ...Object.keys(found)])]
    .filter((name) => expected[name]?.sha256 !== found[name]?.sha256)
    .map((name) => {
      const [rows = 0, wanted = 0] = [found[name]?.rows, expected[name]?.rows]
      return rows === wanted ? `${name}: its ${rows} rows differ` : `${name}: ${rows} rows instead of ${wanted}`
    })
