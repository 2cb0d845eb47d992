import { createHash } from 'node:crypto'
import type { Service } from './service'

const TABLES = ['members', 'books', 'memos', 'retiredIds', 'joinCodes', 'purgeJobs']

/** A digest of every row, or of what is one member's. What counts attempts is left out: a refused request may count. */
export const digest = async ({ database }: Service, memberId?: number) => {
  const owned = memberId === undefined ? TABLES : ['members', 'books', 'memos']
  const where = memberId === undefined ? '' : ` where memberId = ${memberId}`
  const results = await database.batch(owned.map((table) => database.prepare(`select * from ${table}${where}`)))
  return createHash('sha256')
    .update(JSON.stringify(results.map(({ results }) => results)))
    .digest('hex')
}
