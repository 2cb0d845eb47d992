// Values that fields reject, as JSON texts: JSON.stringify cannot write all of them.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../api'

/** JSON texts by what they are. The empty text leaves the field out. */
type Values = Record<string, string>

const repeated = (length: number) => JSON.stringify('x'.repeat(length))
/** Values that need no other name than their JSON text. */
export const values = (...texts: string[]): Values => Object.fromEntries(texts.map((text) => [text, text]))

export const ABSENT = { 'no value': '' }
export const NULL = values('null')
export const EMPTY = values('""')
export const QUOTED = values('"3"')
export const BLANK = { ...EMPTY, 'white space': '" \\t\\n\\u3000"' }
export const NOT_STRING = values('5', 'true', '["a"]', '{"a":"b"}')

/** Not a text of up to `max` characters that a database can store. */
export const notText = (max: number): Values => ({
  ...NOT_STRING,
  [`${max + 1} characters`]: repeated(max + 1),
  ...values('"a\\u0000b"', '"a\\u0000"', '"a\\ud800b"', '"\\udc00"', '"\\udc00\\ud800"'),
})

export const NOT_INT = {
  ...values('"many"', '""', '1.5', '"1.5"', '-1', '2147483648', '"2147483648"', '9007199254740993', '1e999'),
  ...values('true', '[1]', '{"a":1}'),
}

export const NOT_URL = {
  ...NOT_STRING,
  ...values('"cover.jpg"', '"//covers.example/1.jpg"', '"https:example.com/a b.png"', '" https://x.test/a.png"'),
  ...values('"javascript:alert(1)"', '"data:image/png;base64,AAAA"', '"ftp://covers.example/1.jpg"'),
  '2,049 characters': JSON.stringify('https://covers.example/'.padEnd(2049, 'x')),
}

export const NOT_TIMESTAMP = {
  ...values('"yesterday"', '""', '"2025-01-01"', '"2025-01-01 00:00:00"', '"2025-01-01T00:00:00Z"'),
  ...values('"2025-01-01T00:00:00+09:00"', '"2025-13-01T00:00:00"', '"2025-02-29T00:00:00"'),
  ...values('"2025-01-01T24:00:00"', '"2025-01-01T00:00:60"', '1700000000', '[]', '{}'),
}

/** Not one of these names, nor its index. */
export const notOneOf = (names: string[]) => ({
  ...values('"OTHER"', '-1', '0.5', 'true', '{}', `["${names[0]}"]`, `"${names[0]?.toLowerCase()}"`),
  ...values(`${names.length}`, `"${names.length}"`),
})

export const NOT_EMAIL = {
  ...NOT_STRING,
  ...NULL,
  ...EMPTY,
  ...values('"word"', '"@library.test"', '"a@library.test,b@library.test"', '"a b@library.test"', '"a@localhost"'),
  ...values('"a..b@library.test"', '"a\\u0000@library.test"', '"a\\ud800@library.test"'),
  'a line end': '"a@library.test\\r\\nBcc: b@library.test"',
}

export const NOT_PASSWORD = {
  ...NOT_STRING,
  ...NULL,
  ...values('"12345"', '"pass word"', '"passw\\u00f6rd"', '"한글비밀번호"', '"pass\\u0000word"', '"pass\\ud800word"'),
  '129 characters': repeated(129),
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

/** Not positive integers, as parts of a URL. */
export const NOT_POSITIVE = ['0', '-1', '1.5', 'x', '1e3', '0x1', '%201', '%00', '9007199254740993']
export const INVALID_IDS = [
  ...NOT_POSITIVE,
  ...['1%2F2', '%EF%BC%91', "1'%20or%201=1--", '9223372036854775808', '99999999999999999999'],
]

/** A row for `it.each` of each invalid value of each field. */
export const invalidCases = (fields: Record<string, Values>) =>
  Object.entries(fields).flatMap(([field, ofField]) =>
    Object.entries(ofField).map(([what, json]) => ({ field, what, json })),
  )

/** The request of a valid body in which one field has this value. */
const withField = (valid: object, field: string, json: string) => {
  const members = Object.entries(valid).filter(([name]) => name !== field)
  const texts = members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  if (json !== '') texts.push(`${JSON.stringify(field)}:${json}`)
  return { raw: `{${texts.join()}}`, headers: { 'Content-Type': 'application/json' } }
}

const REASON: unknown = expect.stringMatching(/^(is required|must )/)

/** The answer that rejects one field. What JSON cannot express is reported as null. */
export const fieldError = (field: string, json: string, reason = REASON) => {
  const rejectedValue = json === '' ? null : JSON.parse(JSON.stringify(JSON.parse(json)))
  const fieldErrors = [{ field, rejectedValue, reason }]
  return { status: 400, body: { status: 0, message: null, fieldErrors, violationErrors: null } }
}

/** The answer that rejects one parameter of the path or query. */
export const violation = (propertyPath: string, rejectedValue: unknown) => {
  const violationErrors = [{ propertyPath, rejectedValue, reason: REASON }]
  return { status: 400, body: { status: 0, message: null, fieldErrors: null, violationErrors } }
}

/** Tests that each of these values is rejected in an otherwise valid body, and that nothing of it is stored. */
export const itRejects = (
  fields: Record<string, Values>,
  valid: object,
  request: (body: ReturnType<typeof withField>) => Promise<Answer>,
  view?: () => Promise<unknown>,
  reason = REASON,
) =>
  describe('with an invalid field', () => {
    let before: unknown
    beforeAll(async () => {
      before = await view?.()
    })
    it.each(invalidCases(fields))('rejects $what as $field', async ({ field, json }) => {
      expect(await request(withField(valid, field, json))).toMatchObject(fieldError(field, json, reason))
    })
    if (view) it('stores nothing', async () => expect(await view()).toEqual(before))
  })
