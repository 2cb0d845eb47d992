// Looking for texts in all that is stored: by the interfaces of the stores, and in the bytes of their files.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Service } from './service'

/** A text as bytes may spell it: UTF-8, UTF-16 of both orders, hexadecimal, and base64 at each of its three offsets. */
const spellings = (text: string): Buffer[] => {
  const bytes = Buffer.from(text)
  const wide = Buffer.from(text, 'utf16le')
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // Without the letters that share bits with what stands before and after.
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  const urls = base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  return [
    bytes,
    wide,
    Buffer.from(wide).swap16(),
    ...[hex, hex.toUpperCase(), ...base64, ...urls].map((each) => Buffer.from(each)),
  ]
}

/** The traces that are in some of the texts or bytes, with where. */
export const search = (places: [name: string, bytes: Buffer][], traces: string[]) =>
  traces.flatMap((trace) => {
    const spelled = spellings(trace)
    const where = places.filter(([, bytes]) => spelled.some((spelling) => bytes.includes(spelling)))
    return where.map(([name]) => `${trace} in ${name}`)
  })

/** All that the database, the bucket and the lists answer when asked for all. */
export const readStores = async ({ database, bucket, lists }: Service): Promise<[string, Buffer][]> => {
  const { results: tables } = await database
    .prepare(`select name from sqlite_master where type = 'table'`)
    .all<{ name: string }>()
  const places: [string, Buffer][] = []
  for (const { name } of tables.filter(({ name }) => !name.startsWith('_cf_'))) {
    const { results } = await database.prepare(`select * from "${name}"`).all()
    places.push([`table ${name}`, Buffer.from(JSON.stringify(results))])
  }
  for (const { key } of (await bucket.list()).objects) {
    const object = await bucket.get(key)
    const bytes = Buffer.from((await object?.arrayBuffer()) ?? new ArrayBuffer())
    places.push([
      `object ${key}`,
      Buffer.concat([Buffer.from(`${key} ${JSON.stringify(object?.customMetadata)} `), bytes]),
    ])
  }
  for (const { name } of (await lists.list()).keys)
    places.push([`key ${name}`, Buffer.from(`${name} ${await lists.get(name)}`)])
  return places
}

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** The files of a folder with what they hold. */
export const readFiles = (folder: string): [string, Buffer][] =>
  filesOf(folder).map((file) => [file.slice(folder.length + 1), readFileSync(file)])

const inEveryDatabase = (folder: string, ...statements: string[]) => {
  for (const file of filesOf(folder).filter((name) => name.endsWith('.sqlite'))) {
    const database = new DatabaseSync(file)
    for (const statement of statements) database.exec(statement)
    database.close()
  }
}

/** Writes the logs back, as SQLite does by itself every thousand pages. */
export const checkpoint = (folder: string) => inEveryDatabase(folder, 'pragma wal_checkpoint(truncate)')
/** Gives away the space that was freed, with what stands in it: only the platform can. */
export const compact = (folder: string) => inEveryDatabase(folder, 'vacuum', 'pragma wal_checkpoint(truncate)')
