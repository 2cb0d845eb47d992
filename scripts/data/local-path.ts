import { createHash, createHmac } from 'node:crypto'
import { join } from 'node:path'
import { readConfig } from '../wrangler/config.ts'

const CLASS = 'miniflare-D1DatabaseObject'

/** The SQLite file of a local database, which workerd names after its identifier. */
export const localPath = (persistTo: string, binding: string) => {
  const name = readConfig().d1_databases.find((each) => each.binding === binding)?.database_id ?? binding
  const key = createHash('sha256').update(CLASS).digest()
  const digest = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const id = digest(name)
  return join(persistTo, 'v3', 'd1', CLASS, `${Buffer.concat([id, digest(id)]).toString('hex')}.sqlite`)
}
