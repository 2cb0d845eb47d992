// Looking for texts in bytes, however they are spelled, and in the bytes of the databases' files.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

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
export const search = (places: [name: string, bytes: Uint8Array][], traces: string[]) =>
  traces.flatMap((trace) => {
    const spelled = spellings(trace)
    const where = places.filter(([, bytes]) =>
      spelled.some((spelling) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(spelling)),
    )
    return where.map(([name]) => `${trace} in ${name}`)
  })

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
