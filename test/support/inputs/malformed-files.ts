// Files of reading services, damaged as real and hostile files are.

const encoder = new TextEncoder()

/** A generator of the mulberry32 family: the function returns an integer from 0 to below its argument. */
export const randomFrom = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    return ((mixed ^ (mixed >>> 13)) >>> 0) % below
  }
}
type Random = ReturnType<typeof randomFrom>

const NOISE = [
  '"',
  '""',
  '\n',
  '\r',
  ',',
  ';',
  '\t',
  '\0',
  '=',
  '1/2/3',
  '\ufeff',
  '(#',
  '{',
  ']',
  '9'.repeat(400),
  'ß'.normalize('NFD'),
]
const FORMULAS = ['=HYPERLINK("http://evil.example","A")', '+1+cmd|/C calc!A0', '-2+3', '@SUM(A1)', '\t=1']

const pick = <Item>(items: readonly Item[], random: Random) => items[random(items.length)] as Item
const insert = (text: string, at: number, part: string) => text.slice(0, at) + part + text.slice(at)
const somewhere = (text: string, random: Random) => random(text.length + 1)

/** By the kind of damage. */
const DAMAGES: Record<string, (text: string, random: Random) => string | Uint8Array<ArrayBuffer>> = {
  'cut off at the end': (text, random) => text.slice(0, somewhere(text, random)),
  'cut off at the start': (text, random) => text.slice(somewhere(text, random)),
  'mixed encodings': (text, random) => {
    const bytes = new Uint8Array(encoder.encode(text))
    for (let times = 1 + random(8); times > 0; times--) bytes[random(bytes.length || 1)] = 0x80 + random(128)
    return bytes
  },
  'another encoding in its second half': (text) => {
    const bytes = encoder.encode(text)
    const half = bytes.length >> 1
    const wide = new Uint8Array(Uint16Array.from(text.slice(half), (unit) => unit.charCodeAt(0)).buffer)
    const joined = new Uint8Array(half + wide.length)
    joined.set(bytes.subarray(0, half))
    joined.set(wide, half)
    return joined
  },
  'wrapped lines': (text, random) =>
    text
      .split('\n')
      .map((line) => (random(3) ? line : `"${line.replaceAll('"', '""')}"`))
      .join('\n'),
  'broken lines': (text, random) => insert(text, somewhere(text, random), pick(['\n', '\r\n', '\r', '\u2028'], random)),
  'wrong delimiters': (text, random) =>
    text.replaceAll(pick([',', ';', '\t'], random), pick([',', ';', '\t', '|'], random)),
  'formula cells': (text, random) =>
    text.replaceAll(/(?<=,)[^",\n]*(?=,)/g, (cell) =>
      random(4) ? cell : `"${pick(FORMULAS, random).replaceAll('"', '""')}"`,
    ),
  'a million columns': (text, random) =>
    text
      .split('\n')
      .map((line, at) => (at === random(2) ? line + ','.repeat(1_000_000) : line))
      .join('\n'),
  'deep JSON': (text, random) => {
    const depth = 10 ** (1 + random(6))
    const deep = pick(['[', '{"a":'], random).repeat(depth)
    return random(2)
      ? deep
      : `{"1":{"title":"A","workcode":${deep}${'0'}${deep.startsWith('[') ? ']'.repeat(depth) : '}'.repeat(depth)}}}${text.slice(0, random(20))}`
  },
  'an unclosed quote': (text, random) => insert(text, somewhere(text, random), '"'),
  'other quotes': (text, random) => text.replaceAll('"', pick(['', "'", '“'], random)),
  'other line ends': (text, random) => text.replaceAll('\n', pick(['\r\n', '\r', '\n\n'], random)),
  noise: (text, random) => insert(text, somewhere(text, random), pick(NOISE, random).repeat(1 + random(50))),
  'repeated columns': (text) =>
    text
      .split('\n')
      .map((line) => `${line},${line}`)
      .join('\n'),
  'missing columns': (text) =>
    text
      .split('\n')
      .map((line, at) => (at === 0 ? line : line.split(',').slice(0, 2).join()))
      .join('\n'),
}

/**
 * Damages one of the files: with each kind of damage in turn, and at random with further ones.
 * @param run the number of the file, from 0
 */
export const damage = (files: string[], run: number, random: Random) => {
  const names = Object.keys(DAMAGES)
  const kinds = [names[run % names.length] as string]
  while (random(3) === 0) kinds.push(pick(names, random))
  let damaged: string | Uint8Array<ArrayBuffer> = pick(files, random)
  for (const kind of kinds) {
    const text: string = typeof damaged === 'string' ? damaged : new TextDecoder('latin1').decode(damaged)
    const next = DAMAGES[kind]?.(text, random)
    // An empty file is refused before it is read.
    if (next?.length) damaged = next
  }
  return { kinds: kinds.join(', '), bytes: typeof damaged === 'string' ? encoder.encode(damaged) : damaged }
}
