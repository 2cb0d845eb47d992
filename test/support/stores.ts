import { join } from './bytes'

/** Applies all migrations to an empty database, in one call. Does nothing to a database that has them. */
export const migrate = async (database: D1Database, statements: string[]) => {
  if (await database.prepare(`select name from sqlite_master where name = 'members'`).first()) return
  await database.batch(statements.map((statement) => database.prepare(statement)))
}

type Stores = { databases: D1Database[]; bucket: R2Bucket; lists: KVNamespace }

const toBytes = (value: unknown) => Uint8Array.from(new TextEncoder().encode(JSON.stringify(value)))

/** Reads every table, R2 object and KV key, each with a name that says where it was found. */
export const readStores = async ({ databases, bucket, lists }: Stores) => {
  const contents: [name: string, bytes: Uint8Array][] = []
  for (const database of databases) {
    const { results: tables } = await database
      .prepare(`select name from sqlite_master where type = 'table' and name not like '\\_cf\\_%' escape '\\'`)
      .all<{ name: string }>()
    for (const { name } of tables) {
      contents.push([`table ${name}`, toBytes((await database.prepare(`select * from "${name}"`).all()).results)])
    }
  }
  for (const { key, customMetadata } of (await bucket.list()).objects) {
    const object = new Uint8Array((await (await bucket.get(key))?.arrayBuffer()) ?? new ArrayBuffer())
    contents.push([`object ${key}`, join(toBytes([key, customMetadata]), object)])
  }
  for (const { name } of (await lists.list()).keys) {
    contents.push([`key ${name}`, toBytes([name, await lists.get(name)])])
  }
  return contents
}

/** The tables that hold a member's library. */
export const LIBRARY_TABLES = [
  'books',
  'memos',
  'images',
  'readings',
  'progress',
  'tags',
  'bookTags',
  'authors',
  'goals',
  'trash',
  'trashParts',
]
/** The tables of what a member's devices push. */
export const DEVICE_TABLES = ['documents', 'positions', 'sittings', 'statisticsFiles']
/** The tables of a member's imports. */
export const IMPORT_TABLES = ['imports', 'importRows']
const OWNED = ['members', ...LIBRARY_TABLES, ...DEVICE_TABLES, ...IMPORT_TABLES]
const DIRECTORY = ['addresses', 'settledClaims', 'slotCounters']
const TABLES = [...OWNED, 'retiredIds', 'joinCodes', 'dailyMails', 'purgeJobs', ...DIRECTORY]

/** Waits until no import has a file: imports run after their responses, and delete it last. */
export const waitForImports = async (databases: D1Database[]) => {
  const hasFile = async (database: D1Database) =>
    (await database.prepare('select 1 from imports where file is not null limit 1').first()) !== null
  for (let attempts = 0; attempts < 2000; attempts++) {
    if (!(await Promise.all(databases.map(hasFile))).includes(true)) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** All rows as JSON, or one member's. Leaves out `attempts`: a refused request may count as an attempt. */
export const takeSnapshot = async (databases: D1Database[], memberId?: number) => {
  const [tables, where] = memberId === undefined ? [TABLES, ''] : [OWNED, ` where memberId = ${memberId}`]
  await waitForImports(databases)
  const read = (database: D1Database) =>
    database.batch(tables.map((table) => database.prepare(`select * from ${table}${where}`)))
  const results = (await Promise.all(databases.map(read))).flat()
  return JSON.stringify(results.map(({ results }) => results))
}
