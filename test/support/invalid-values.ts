// Values that fields reject, as JSON texts: JSON.stringify cannot write all of them.
import { expect } from 'vitest'

export type Values = Record<string, string>

const repeated = (length: number) => JSON.stringify('x'.repeat(length))

export const ABSENT: Values = { 'no value': '' }
export const NULL: Values = { null: 'null' }
export const EMPTY: Values = { 'an empty string': '""' }
export const QUOTED: Values = { 'a quoted number': '"3"' }
export const BLANK: Values = { ...EMPTY, 'white space': '" \\t\\n\\u3000"' }
export const NOT_STRING: Values = { 'a number': '5', true: 'true', 'an array': '["a"]', 'an object': '{"a":"b"}' }

/** Not a text of up to `max` characters that a database can store. */
export const notText = (max: number): Values => ({
  ...NOT_STRING,
  [`${max + 1} characters`]: repeated(max + 1),
  'a NUL': '"a\\u0000b"',
  'a NUL at the end': '"a\\u0000"',
  'a lone high surrogate': '"a\\ud800b"',
  'a lone low surrogate': '"\\udc00"',
  'surrogates in the wrong order': '"\\udc00\\ud800"',
})

export const NOT_INT: Values = {
  'a word': '"many"',
  ...EMPTY,
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

export const NOT_URL: Values = {
  ...NOT_STRING,
  'a file name': '"cover.jpg"',
  'a relative URL': '"//covers.example/1.jpg"',
  'a URL without slashes': '"https:example.com/a b.png"',
  'a URL after a space': '" https://x.test/a.png"',
  'a javascript: URL': '"javascript:alert(1)"',
  'a data: URL': '"data:image/png;base64,AAAA"',
  'an ftp: URL': '"ftp://covers.example/1.jpg"',
  '2,049 characters': JSON.stringify('https://covers.example/'.padEnd(2049, 'x')),
}

export const NOT_TIMESTAMP: Values = {
  'a word': '"yesterday"',
  ...EMPTY,
  'a date alone': '"2025-01-01"',
  'a space for the T': '"2025-01-01 00:00:00"',
  'a Z': '"2025-01-01T00:00:00Z"',
  'a zone offset': '"2025-01-01T00:00:00+09:00"',
  'month 13': '"2025-13-01T00:00:00"',
  'February 29 of a common year': '"2025-02-29T00:00:00"',
  'hour 24': '"2025-01-01T24:00:00"',
  'second 60': '"2025-01-01T00:00:60"',
  'a number': '1700000000',
  'an array': '[]',
  'an object': '{}',
}

/** Not one of these names, nor its index. */
export const notOneOf = (names: readonly string[]): Values => ({
  'an unknown name': '"OTHER"',
  'a name in lower case': JSON.stringify(names[0]?.toLowerCase()),
  'an unknown code': String(names.length),
  'a quoted unknown code': `"${names.length}"`,
  'a negative code': '-1',
  'a fraction': '0.5',
  true: 'true',
  'an array': JSON.stringify([names[0]]),
  'an object': '{}',
})

export const NOT_EMAIL: Values = {
  ...NOT_STRING,
  ...NULL,
  ...EMPTY,
  'a word': '"nobody"',
  'no local part': '"@library.test"',
  'two addresses': '"a@library.test,b@library.test"',
  'white space': '"a b@library.test"',
  'two dots': '"a..b@library.test"',
  'no top-level domain': '"a@localhost"',
  'a NUL': '"a\\u0000@library.test"',
  'a lone surrogate': '"a\\ud800@library.test"',
  'a line end': '"a@library.test\\r\\nBcc: b@library.test"',
}

export const NOT_PASSWORD: Values = {
  ...NOT_STRING,
  ...NULL,
  '5 characters': '"12345"',
  '129 characters': repeated(129),
  'white space': '"pass word"',
  'a letter beyond ASCII': '"passw\\u00f6rd"',
  'Hangul only': '"한글비밀번호"',
  'a NUL': '"pass\\u0000word"',
  'a lone surrogate': '"pass\\ud800word"',
}

/** Texts that come back exactly as they were sent. */
export const UNUSUAL_TEXTS = {
  'right-to-left marks': '\u202e\u05e1\u05e4\u05e8\u200f \u2067x\u2069',
  'SQL characters': `'); drop table members; -- "\`;`,
  'LIKE characters': '%_\\%[a-z]*?',
  markup: '<script>alert(1)</script>&amp;{{x}}%{x}',
  'surrounding white space': ' \t\u3000x\r\n ',
  'decomposed characters': 'e\u0301 \u1112\u1161\u11ab',
  'characters beyond the basic plane': '📚👩‍👩‍👧𝒳',
  'control characters and noncharacters': '\u0001\u007f\ufeff\uffff\u2028',
}

export const INVALID_IDS = [
  ...['0', '-1', '1.5', 'x', '1e3', '0x1', '%201', '%00', '1%2F2', '%EF%BC%91', "1'%20or%201=1--"],
  ...['9007199254740993', '9223372036854775808', '99999999999999999999'],
]

/** A row for `it.each` of each invalid value of each field. */
export const invalidCases = (fields: Record<string, Values>) =>
  Object.entries(fields).flatMap(([field, values]) =>
    Object.entries(values).map(([what, json]) => ({ field, what, json })),
  )

/** The request of a valid body in which one field has this value. */
export const withField = (valid: Record<string, unknown>, field: string, json: string) => {
  const { [field]: _, ...others } = valid
  const members = Object.entries(others).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  if (json !== '') members.push(`${JSON.stringify(field)}:${json}`)
  return { raw: `{${members.join()}}`, headers: { 'Content-Type': 'application/json' } }
}

/** The answer that rejects one field. What JSON cannot express is reported as null. */
export const fieldError = (field: string, json: string, reason = expect.any(String)) => {
  const rejectedValue = json === '' ? null : JSON.parse(JSON.stringify(JSON.parse(json)))
  const fieldErrors = [{ field, rejectedValue, reason }]
  return { status: 400, body: { status: 0, message: null, fieldErrors, violationErrors: null } }
}

/** The answer that rejects one parameter of the path or query. */
export const violation = (propertyPath: string, rejectedValue: unknown) => {
  const violationErrors = [{ propertyPath, rejectedValue, reason: expect.any(String) }]
  return { status: 400, body: { status: 0, message: null, fieldErrors: null, violationErrors } }
}
