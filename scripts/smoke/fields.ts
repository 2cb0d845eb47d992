import { equal } from 'node:assert/strict'
import { type Answer, answers, fieldErrors } from './answer.ts'
import { check, each } from './check.ts'

/** JSON texts, by what they are. Texts, since not every number and string outlives JSON.stringify. */
type Values = Record<string, string>

export const ABSENT: Values = { 'its absence': '' }
export const NULL: Values = { null: 'null' }
export const QUOTED: Values = { 'a quoted number': '"3"' }
export const BLANK: Values = { 'an empty text': '""', 'white space': '" \\t\\n\\u3000"' }
export const NOT_TEXT: Values = { 'a number': '5', true: 'true', 'an array': '["a"]', 'an object': '{"a":"b"}' }

export const longerThan = (max: number): Values => ({ [`${max + 1} characters`]: JSON.stringify('x'.repeat(max + 1)) })

export const NOT_INT: Values = {
  'a word': '"many"',
  'an empty text': '""',
  'a fraction': '1.5',
  'a quoted fraction': '"1.5"',
  '-1': '-1',
  '2^31': '2147483648',
  'quoted 2^31': '"2147483648"',
  '2^53+1': '9007199254740993',
  '1e999': '1e999',
  true: 'true',
  'an array': '[1]',
  'an object': '{"a":1}',
}

export const NOT_WEB_ADDRESS: Values = {
  ...NOT_TEXT,
  'a word': '"cover.jpg"',
  'a relative address': '"//covers.example/1.jpg"',
  'javascript:': '"javascript:alert(1)"',
  'data:': '"data:image/png;base64,AAAA"',
  'ftp:': '"ftp://covers.example/1.jpg"',
  '2,049 characters': JSON.stringify('https://covers.example/'.padEnd(2049, 'x')),
}

export const NOT_TIMESTAMP: Values = {
  'a word': '"yesterday"',
  'an empty text': '""',
  'a date alone': '"2025-01-01"',
  'a blank for the T': '"2025-01-01 00:00:00"',
  'a Z': '"2025-01-01T00:00:00Z"',
  'a zone': '"2025-01-01T00:00:00+09:00"',
  'a month 13': '"2025-13-01T00:00:00"',
  'a February 29 out of time': '"2025-02-29T00:00:00"',
  'an hour 24': '"2025-01-01T24:00:00"',
  'a second 60': '"2025-01-01T00:00:60"',
  'a number': '1700000000',
  'an array': '[]',
  'an object': '{}',
}

/** For a field whose names are so many. */
export const notOneOf = (names: readonly string[]): Values => ({
  'a name there is not': '"OTHER"',
  'a name in lower case': JSON.stringify(names[0]?.toLowerCase()),
  'a code there is not': String(names.length),
  'a quoted code there is not': `"${names.length}"`,
  'a negative code': '-1',
  'a fraction': '0.5',
  true: 'true',
  'an array': JSON.stringify([names[0]]),
  'an object': '{}',
})

/** What an error names as sent; null stands for what is absent, and for what JSON cannot say. */
const rejected = (json: string): unknown => (json === '' ? null : JSON.parse(JSON.stringify(JSON.parse(json))))

/** Sends every value that a field refuses, the other fields being right: a field error on just that field. */
export const checkRefusals = async (
  endpoint: string,
  send: (json: string) => Promise<Answer>,
  right: Record<string, unknown>,
  table: Record<string, Values>,
) => {
  for (const [field, values] of Object.entries(table)) {
    const others = Object.entries(right).filter(([name]) => name !== field)
    await check(`${endpoint}: ${field} refuses ${Object.keys(values).join(', ')}`, () =>
      each(Object.values(values), async (json) => {
        const members = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
        if (json !== '') members.push(`${JSON.stringify(field)}:${json}`)
        answers(await send(`{${members.join()}}`), 400, fieldErrors([field, rejected(json)]))
      }),
    )
  }
}

/** What must come back exactly as it was sent. */
const KEPT = {
  'right-to-left marks': '\u202e\u05e1\u05e4\u05e8\u200f \u2067x\u2069',
  'SQL characters': `'); drop table members; -- "\`;`,
  'LIKE characters': '%_\\%[a-z]*?',
  markup: '<script>alert(1)</script>&amp;{{x}}%{x}',
  'white space around': ' \t\u3000x\r\n ',
  'combining marks, not composed': 'e\u0301 \u1112\u1161\u11ab',
  'characters beyond the basic plane': '📚👩‍👩‍👧𝒳',
  'odd ones': '\u0001\u007f\ufeff\uffff\u2028',
}
/** What may be refused instead, for no database keeps it. JSON.stringify writes these as the escapes \u0000 and \ud800. */
const KEPT_OR_REFUSED = {
  'a NUL': 'a\0b',
  'a NUL at the end': 'a\0',
  'half a pair': 'a\ud800b',
  'the other half': '\udc00a',
  'halves in the wrong order': '\udc00\ud800',
}

/** Sends every odd text in a field: `read` finds it exactly as sent, or it is refused. */
export const checkTexts = (
  endpoint: string,
  field: string,
  send: (fields: Record<string, string>) => Promise<Answer>,
  read: (answer: Answer) => unknown,
) =>
  check(
    `${endpoint}: ${field} keeps ${Object.keys(KEPT).join(', ')}; keeps or refuses NUL and half pairs`,
    async () => {
      const refusable = new Set(Object.values(KEPT_OR_REFUSED))
      await each([...Object.values(KEPT), ...refusable], async (text) => {
        const answer = await send({ [field]: text })
        if (answer.status === 400 && refusable.has(text)) return answers(answer, 400, fieldErrors([field, text]))
        equal(answer.status < 300, true, `${answer.request} got ${answer.status}`)
        equal(await read(answer), text, answer.request)
      })
    },
  )
