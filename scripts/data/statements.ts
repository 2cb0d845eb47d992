import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

const CHUNK_BYTES = 65_536
const CLOSING: Record<string, string> = { "'": "'", '"': '"', '`': '`', '/*': '*/' }

/** Only \n ends a line: texts can contain the other separators. */
function* readLines(path: string) {
  const file = openSync(path, 'r')
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const decoder = new StringDecoder('utf8')
    let rest = ''
    for (let bytes = readSync(file, chunk); bytes > 0; bytes = readSync(file, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, bytes))).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    yield rest
  } finally {
    closeSync(file)
  }
}

/**
 * Yields the statements of an SQL file of any size, which must each end at the end of a line.
 * @throws Error if the last one is incomplete
 */
export function* readStatements(path: string) {
  let statement = ''
  let closing: string | undefined
  for (const line of readLines(path)) {
    statement += statement ? `\n${line}` : line
    let hasComment = false
    for (const [token] of line.matchAll(/['"`]|--|\/\*|\*\//g)) {
      if (closing) closing = token === closing ? undefined : closing
      else if (token === '--') {
        hasComment = true
        break
      } else closing = CLOSING[token]
    }
    if (closing || hasComment || !line.trimEnd().endsWith(';')) continue
    if (/^\s*CREATE TRIGGER/i.test(statement) && !/\bEND;\s*$/i.test(line)) continue
    yield statement
    statement = ''
  }
  if (statement.trim()) throw new Error(`${path} ends within a statement`)
}
