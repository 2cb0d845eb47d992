// The rows of one member: what a restore of the database brings back, and what a replica has. Other members stay as they are.
type Row = { name: string; sql: string; rows: string | null }

const REUSED = ['imageId', 'partId']
/** The values of a row, as SQL. A function has at most 32 arguments in D1. */
const quoteAll = (columns: string[]): string =>
  columns.length > 16
    ? `concat_ws(',', ${quoteAll(columns.slice(0, 16))}, ${quoteAll(columns.slice(16))})`
    : `concat_ws(',', ${columns.map((column) => `quote("${column}")`)})`

/** How to read and replace the rows of members. */
export const openStates = async (database: D1Database) => {
  const run = (statements: string[]) => database.batch<Row>(statements.map((each) => database.prepare(each)))
  const { results: names } = await database
    .prepare(`select name from sqlite_schema where type = 'table' and name not glob '_cf_*'`)
    .all<Row>()
  const columns = await run(names.map(({ name }) => `pragma table_info(${name})`))
  const tables = names
    .map(({ name }, at) => ({ name, columns: columns[at]?.results.map(({ name }) => name) ?? [] }))
    // Another member may have been given these identifiers since.
    .map(({ name, columns }) => ({ name, columns: columns.filter((column) => !REUSED.includes(column)) }))
    .filter(({ name, columns }) => columns.includes('memberId') && name !== 'purgeJobs')
  const { results: triggers } = await database
    .prepare(`select name, sql from sqlite_schema where type = 'trigger'`)
    .all<Row>()

  /** For each table, the rows of a member as the VALUES of an insert, or null. */
  const read = async (memberId: number) => {
    const selects = tables.map(
      ({ name, columns }) =>
        `select group_concat('(' || ${quoteAll(columns)} || ')') as "rows" from ${name} where memberId = ${memberId}`,
    )
    return (await run(selects)).map(({ results }) => results[0]?.rows ?? null)
  }
  return {
    read,
    isEmpty: async (memberId: number) => (await read(memberId)).every((rows) => rows === null),
    /** Runs some queries, and replaces the rows of a member in the same transaction. No trigger runs. */
    write: async (memberId: number, state: Awaited<ReturnType<typeof read>>, before: string[] = []) => {
      const replace = tables.flatMap(({ name, columns }, at) => {
        const rows = state[at]
        const insert = rows ? [`insert into ${name} (${columns}) values ${rows}`] : []
        // Deleting the member would delete everything else.
        return name === 'members'
          ? [
              ...insert.map((text) => `${text} on conflict do nothing`),
              ...(rows ? [`update members set (${columns}) = ${rows} where memberId = ${memberId}`] : []),
            ]
          : [`delete from ${name} where memberId = ${memberId}`, ...insert]
      })
      await run([
        'pragma defer_foreign_keys = on',
        ...triggers.map(({ name }) => `drop trigger ${name}`),
        ...before,
        ...replace,
        ...triggers.map(({ sql }) => sql),
      ])
    },
    dropTriggers: async () => {
      if (triggers.length > 0) await run(triggers.splice(0).map(({ name }) => `drop trigger ${name}`))
    },
  }
}
export type States = Awaited<ReturnType<typeof openStates>>
