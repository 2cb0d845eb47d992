import { refuse } from '../limits'
import { type Database, refuseDamaged } from './database'
import { readTable, type Table } from './table'

/** Characters of a CREATE TABLE statement. Those of KOReader have about 400. */
const MAX_STATEMENT = 20_000

/** A comment, a string or name in quotes, a word, or another character. What is unclosed ends with the text. */
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|'(?:[^']|'')*'?|\[[^\]]*\]?|[\w$\u0080-\uffff]+|\S/g
const COMMENT = /^(?:--|\/\*)/
const QUOTED = /^["'`[]/
const TABLE_CONSTRAINT = /^(?:constraint|primary|unique|check|foreign)$/
/** The type of a column is nothing but INTEGER. */
const INTEGER = /^integer(?: (?:constraint|primary|not|null|unique|check|default|collate|references)|$)/
const ROWID = / primary key(?! desc)/
const ROWID_CONSTRAINT = /\bprimary key \( (\S+) (?:(?:asc|desc|autoincrement) )*\)/

const unquote = (token: string) => {
  const [mark = ''] = token
  return QUOTED.test(token) ? token.slice(1, -1).replaceAll(mark + mark, mark) : token
}

/** The definitions of CREATE TABLE, as tokens. Names of columns are unquoted, and all words in lower case. */
const toDefinitions = (sql: string) => {
  const definitions: string[][] = [[]]
  let depth = 0
  for (const [token] of sql.toLowerCase().matchAll(TOKEN)) {
    if (COMMENT.test(token)) continue
    if (token === ')' && --depth === 0) break
    if (depth === 1 && token === ',') definitions.push([])
    else if (depth > 0) definitions.at(-1)?.push(token)
    if (token === '(') depth++
  }
  return definitions
}

/** Reads the columns of a table from its CREATE TABLE statement. */
export const parseColumns = (sql: string): Omit<Table, 'root'> => {
  const definitions = toDefinitions(sql)
  const first = definitions.findIndex(([token = '']) => TABLE_CONSTRAINT.test(token))
  const count = first === -1 ? definitions.length : first
  const names = definitions.map(([name = '']) => unquote(name))
  const columns = new Map(names.slice(0, count).map((name, at) => [name, at]))
  const rules = definitions.map((tokens) =>
    tokens
      .slice(1)
      .map((token) => (QUOTED.test(token) ? '?' : token))
      .join(' '),
  )
  if (rules.slice(0, count).some((rule) => / as \(|^as \(/.test(rule))) refuse('The SQLite file has generated columns.')
  const isRowid = (rule: string) => INTEGER.test(rule) && ROWID.test(rule)
  const inColumn = rules.slice(0, count).findIndex(isRowid)
  if (inColumn >= 0) return { columns, rowidAt: inColumn }
  const constraints = definitions.slice(count).map((tokens) => tokens.map(unquote).join(' '))
  const [, key = ''] = constraints.map((text) => ROWID_CONSTRAINT.exec(text)).find((found) => found) ?? []
  const at = columns.get(key) ?? -1
  return { columns, ...(INTEGER.test(rules[at] ?? '') && { rowidAt: at }) }
}

const [TYPE, NAME, ROOT, SQL] = [0, 1, 3, 4]
const SCHEMA: Table = {
  root: 1,
  columns: new Map(['type', 'name', 'tbl_name', 'rootpage', 'sql'].map((name, at) => [name, at])),
}

/** Finds tables by their names, in lower case. */
export const findTables = (database: Database, names: readonly string[]) => {
  const tables = new Map<string, Table>()
  readTable(database, SCHEMA, (row) => {
    const name = row.text(NAME)?.toLowerCase() ?? ''
    if (row.text(TYPE) !== 'table' || !names.includes(name)) return
    if (tables.has(name)) refuseDamaged(`it has two tables ${name}`)
    const sql = row.text(SQL) ?? ''
    if (sql.length > MAX_STATEMENT) refuse(`The statement of the table ${name} has more than 20,000 characters.`)
    const root = row.integer(ROOT) ?? refuseDamaged(`the table ${name} has no root`)
    tables.set(name, { root, ...parseColumns(sql) })
  })
  return tables
}
