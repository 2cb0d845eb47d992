/** The beginning of a file of settings of KOReader. */
const START = /^\s*(?:--[^\n]*\n\s*)?return\s*(?=\{)/
export const isLua = (text: string) => START.test(text)

/** Those of KOReader have at most six. */
const MAX_DEPTH = 50
/** Many escaped characters in a string would take all memory. Real strings are descriptions at most. */
const MAX_STRING = 1_000_000
const BLANKS = /\s*/y
const PLAIN = /[^"\\]*/y
/** Escaped bytes of UTF-8, decoded together. Limited, because an array of them takes much memory. */
const CODES = /\d{1,3}(?:\\\d{1,3}){0,249999}/y
const NAME = /[A-Za-z_]\w{0,40}(?=\s{0,100}=)/y
const WORD = /[\w.+-]{1,40}/y
const decoder = new TextDecoder()
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/**
 * Reads the table that a Lua file returns, if it has only literals, as KOReader and its tools write them: strings in
 * double quotes, keys in brackets, as names, or none in a list. Keys become strings. Nothing is executed.
 * @returns undefined for any other text
 */
export const parseLua = (text: string): unknown => {
  let at = START.exec(text)?.[0].length ?? -1
  if (at === -1) return undefined
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  const skip = (character: string) => {
    take(BLANKS)
    if (text[at] !== character) return false
    at++
    return true
  }
  const expect = (character: string) => {
    if (!skip(character)) throw new SyntaxError(`${character} expected at ${at}`)
  }
  const readString = () => {
    const parts: string[] = []
    const end = Math.min(text.length, at + MAX_STRING)
    while (at < end) {
      parts.push(take(PLAIN))
      if (text[at++] === '"') return parts.join('')
      const codes = take(CODES)
      const escaped = text[at] ?? ''
      if (!codes) at++
      parts.push(codes ? decoder.decode(Uint8Array.from(codes.split('\\'), Number)) : (ESCAPES[escaped] ?? escaped))
    }
    throw new SyntaxError('unclosed or long string')
  }
  const readValue = (depth: number): unknown => {
    if (skip('"')) return readString()
    if (skip('{')) return readTable(depth)
    const word = take(WORD)
    if (!word) throw new SyntaxError(`value expected at ${at}`)
    if (word === 'true' || word === 'false') return word === 'true'
    return Number.isFinite(Number(word)) ? Number(word) : null
  }
  /** Undefined for an item of a list. */
  const readKey = (depth: number) => {
    const isBracketed = skip('[')
    const key = isBracketed ? String(readValue(depth + 1)) : take(NAME)
    if (isBracketed) expect(']')
    if (key) expect('=')
    return key || undefined
  }
  const readTable = (depth: number) => {
    if (depth > MAX_DEPTH) throw new SyntaxError('too deep')
    const table: Record<string, unknown> = Object.create(null)
    let items = 0
    while (!skip('}')) {
      const key = readKey(depth)
      table[key ?? ++items] = readValue(depth + 1)
      if (!skip(',') && !skip(';')) {
        expect('}')
        break
      }
    }
    return table
  }
  try {
    return readValue(0)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
