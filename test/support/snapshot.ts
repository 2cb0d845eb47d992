const OWNED = ['members', 'books', 'memos']
const TABLES = [...OWNED, 'retiredIds', 'joinCodes', 'purgeJobs']

/** All rows as JSON, or one member's. Leaves out `attempts`: a refused request may count as an attempt. */
export const takeSnapshot = async (database: D1Database, memberId?: number) => {
  const [tables, where] = memberId === undefined ? [TABLES, ''] : [OWNED, ` where memberId = ${memberId}`]
  const results = await database.batch(tables.map((table) => database.prepare(`select * from ${table}${where}`)))
  return JSON.stringify(results.map(({ results }) => results))
}
