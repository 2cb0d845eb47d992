import { join } from './bytes'

type Stores = { database: D1Database; bucket: R2Bucket; lists: KVNamespace }

const toBytes = (value: unknown) => Uint8Array.from(new TextEncoder().encode(JSON.stringify(value)))

/** All that the database, the bucket and the lists answer when asked for all. */
export const readStores = async ({ database, bucket, lists }: Stores) => {
  const places: [name: string, bytes: Uint8Array][] = []
  const { results: tables } = await database
    .prepare(`select name from sqlite_master where type = 'table' and name not like '\\_cf\\_%' escape '\\'`)
    .all<{ name: string }>()
  for (const { name } of tables) {
    places.push([`table ${name}`, toBytes((await database.prepare(`select * from "${name}"`).all()).results)])
  }
  for (const { key, customMetadata } of (await bucket.list()).objects) {
    const content = new Uint8Array((await (await bucket.get(key))?.arrayBuffer()) ?? new ArrayBuffer())
    places.push([`object ${key}`, join(toBytes([key, customMetadata]), content)])
  }
  for (const { name } of (await lists.list()).keys) places.push([`key ${name}`, toBytes([name, await lists.get(name)])])
  return places
}
