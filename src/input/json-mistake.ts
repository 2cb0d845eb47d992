// Why not the message of JSON.parse: it is that of one engine, quotes the body, and has no position in short texts.

const SPACE = /[\t\n\r ]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings must not contain them
const STRING_START = /"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\x00-\x1f]*)*/y
const STRING = new RegExp(`${STRING_START.source}"`, 'y')
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** Where the match that starts at `at` ends. `at` itself if the pattern does not match there. */
const after = (pattern: RegExp, text: string, at: number) => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

type State = 'value' | 'item' | 'name' | 'member' | 'colon' | 'next' | 'end'
const MISSING = (state: State, closer = '') =>
  ({
    value: 'a value is missing',
    item: 'a value or ] is missing',
    name: 'a name in double quotes is missing',
    member: 'a name in double quotes, or } is missing',
    colon: 'a colon is missing',
    next: `a comma or ${closer} is missing`,
    end: 'text after the end of the JSON value',
  })[state]

const inString = (text: string, at: number): [mistake: string, at: number] => {
  const end = after(STRING_START, text, at)
  if (end === text.length) return ['string without its closing quote', at]
  return [text[end] === '\\' ? 'invalid escape in a string' : 'line break or control character in a string', end]
}

/** What stands where a value or a name must begin. */
const atStart = (text: string, at: number, isName: boolean): [mistake: string, at: number] | undefined => {
  if (text[at] === '"' && after(STRING, text, at) === at) return inString(text, at)
  if (/['`‘’“”]/.test(text[at] ?? '')) return ['quotes other than straight double ones', at]
  if (/[\p{L}_$]/u.test(text[at] ?? '')) {
    return [isName ? 'name without double quotes' : 'word without double quotes, other than true, false and null', at]
  }
  return !isName && /[-+.\d]/.test(text[at] ?? '') ? ['number in a form that JSON does not have', at] : undefined
}

const findMistake = (text: string): [mistake: string, at: number] | undefined => {
  const closers: string[] = []
  let state: State = 'value'
  let comma = 0
  for (let at = after(SPACE, text, 0); ; at = after(SPACE, text, at)) {
    const [character, closer] = [text[at], closers.at(-1)]
    if (character === undefined) {
      return state === 'end' ? undefined : [`it ends too early: ${MISSING(state, closer)}`, at]
    }
    const isName: boolean = state === 'name' || state === 'member'
    const isValue: boolean = state === 'value' || state === 'item'
    const token = isName || character === '"' ? STRING : SCALAR
    const end = isName || isValue ? after(token, text, at) : at
    if (character === closer && (state === 'item' || state === 'member' || state === 'next')) {
      closers.pop()
      state = closers.length > 0 ? 'next' : 'end'
      at++
    } else if (character === closer && (state === 'name' || closer === ']')) {
      return ['trailing comma', comma]
    } else if (character === ',' && state === 'next') {
      state = closer === '}' ? 'name' : 'value'
      comma = at++
    } else if (character === ':' && state === 'colon') {
      state = 'value'
      at++
    } else if (isValue && (character === '{' || character === '[')) {
      state = character === '{' ? 'member' : 'item'
      closers.push(character === '{' ? '}' : ']')
      at++
    } else if (end > at) {
      state = isName ? 'colon' : closer ? 'next' : 'end'
      at = end
    } else if (character === '/' && /[/*]/.test(text[at + 1] ?? '')) {
      return ['comment', at]
    } else {
      const mistake = isName || isValue ? atStart(text, at, isName) : undefined
      return mistake ?? [MISSING(state, closer), at]
    }
  }
}

/** What is wrong with a text that JSON.parse refuses, and where. It contains nothing of the text. */
export const describeMistake = (text: string) => {
  const [mistake, at] = findMistake(text) ?? ['not JSON', 0]
  const lines = text.slice(0, at).split(/\r\n|[\r\n]/)
  return `${mistake} at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}
