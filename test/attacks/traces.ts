// Searches bytes for texts in any encoding, and the files of SQLite databases.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A text in UTF-8, UTF-16 of both byte orders, hexadecimal, and base64 and base64url at each of three offsets. */
const encodings = (text: string): Buffer[] => {
  const bytes = Buffer.from(text)
  const utf16 = Buffer.from(text, 'utf16le')
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The first and last characters share bits with what surrounds the text.
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  const base64url = base64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_'))
  const hex = bytes.toString('hex')
  const texts = [hex, hex.toUpperCase(), ...base64, ...base64url]
  return [bytes, utf16, Buffer.from(utf16).swap16(), ...texts.map((each) => Buffer.from(each))]
}

export type Match = { trace: string; name: string }

/** Finds which texts occur in which of the named contents. */
export const findTraces = (contents: [name: string, bytes: Uint8Array][], traces: string[]): Match[] =>
  traces.flatMap((trace) => {
    const encoded = encodings(trace)
    return contents
      .filter(([, bytes]) => {
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
        return encoded.some((each) => buffer.includes(each))
      })
      .map(([name]) => ({ trace, name }))
  })

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** All files of a folder with their content. */
export const readFiles = (folder: string): [string, Buffer][] =>
  listFiles(folder).map((file) => [file.slice(folder.length + 1), readFileSync(file)])

/** Runs SQL on every database in a folder. */
export const runInDatabases = (folder: string, sql: string) => {
  for (const file of listFiles(folder).filter((name) => name.endsWith('.sqlite'))) {
    const database = new DatabaseSync(file)
    database.exec(sql)
    database.close()
  }
}
