import * as fc from 'fast-check'

// Values for fuzzed requests.

/** A JSON string that repeats a unit. */
export const repeat = (unit: string, count: number) => JSON.stringify(unit.repeat(count))

const words = (text: string) => text.trim().split(/\s+/)

const ESCAPES = ['\\ud800', '\\udfff\\ud800', '\\u0000', '\\uffff', '\\u202e', '\\u200d', '\\ufeff', 'e\\u0301', '\\n']

/** JSON texts that few fields accept, by kind. */
export const JSON_VALUES: Record<string, fc.Arbitrary<string>> = {
  'a wrong type': fc.constantFrom(...words(`null true false 0 1 "" [] {} [null] {"a":1} "0"`), '" "'),
  'a boundary number': fc.constantFrom(
    ...words(`-1 -0 0.1 1.0 5 6 2147483647 2147483648 -2147483649 9007199254740993 1e3 1e400 -1e400 1e-400 1E21
      123456789012345678901234567890 "2147483647" "2147483648" "01" "1e3" "0x10" "１" "-0"`),
    '" 1"',
  ),
  'a boundary length': fc
    .tuple(
      fc.constantFrom('a', '한', '👩‍👩‍👧', ' ', '\t'),
      fc.constantFrom(5, 6, 100, 101, 128, 129, 254, 255, 500, 501, 2048, 2049),
    )
    .map(([unit, count]) => repeat(unit, count)),
  'a long text': fc.constantFrom(65_535, 65_536, 200_000).map((count) => repeat('x', count)),
  'unusual Unicode': fc.oneof(
    fc
      .tuple(fc.constantFrom('', 'a', ' '), fc.constantFrom(...ESCAPES))
      .map(([before, escaped]) => `"${before}${escaped}"`),
    fc.string({ unit: 'binary', maxLength: 30 }).map((text) => JSON.stringify(text)),
    fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => JSON.stringify(text)),
  ),
  'an invalid date': fc.constantFrom(
    ...words(`"2026-02-29T00:00:00" "2024-02-29T23:59:59.999999999" "2026-13-01T00:00:00" "2026-01-01T24:00:00"
      "2026-01-01T00:00:60" "0000-01-01T00:00:00" "9999-12-31T23:59:59" "10000-01-01T00:00:00"
      "2026-01-01T00:00:00Z" "2026-01-01T00:00:00+09:00" "2026-1-1T0:0:0" "now"`),
    '"2026-01-01 00:00:00"',
  ),
  'an injection': fc.constantFrom(
    ...words(String.raw`"%" "_" "<script>alert(1)</script>" "#{7*7}" "{{7*7}}" "../../etc/passwd" "javascript:alert(1)"
      "http://" "HTTPS://EXAMPLE.COM/\\x" "=cmd|calc" "a@b" "ä@b.example" "done" "ALL" 3 "3"`),
    '"\' or 1=1 --"',
    '"\\"; drop table members; --"',
    '"http://a b"',
    '"\\r\\nX: 1"',
    '"a@b.c\\r\\nBcc: d@e.f"',
    '"a@b.example "',
    '" YET"',
  ),
  'deep nesting': fc
    .tuple(fc.constantFrom(10, 100, 1_000, 20_000), fc.constantFrom<[string, string]>(['[', ']'], ['{"a":', '}']))
    .map(([depth, [open, close]]) => `${open.repeat(depth)}0${close.repeat(depth)}`),
  'random JSON': fc.json({ maxDepth: 4 }),
}

export const KEYS = [
  ...words(`__proto__ constructor toString hasOwnProperty 0 memberId bookId memoId passwordHash tokenVersion`),
  '',
]

export const TYPES = [
  ...words(`text/plain APPLICATION/JSON application/jsonp application/x+json multipart/form-data
      application/x-www-form-urlencoded json */*`),
  '',
  ' ',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=',
  'a'.repeat(500),
]

export const PARAMETER_VALUES = [
  ...words(`0 -1 +1 1.5 1e3 01 %201 1%20 ١ 2147483647 2147483648 9007199254740991 9007199254740993
      99999999999999999999 NaN null undefined true %00 % %zz %ff %ED%A0%80 %F0%9F%91%A9 %2e%2e%2f ..%5c
      '%20or%201=1-- %22 %3Cscript%3E ALL all PUBLIC 3 4 YET,ING [] 1000 1001`),
  '',
  '9'.repeat(400),
  'x'.repeat(4_000),
]

const HEADER_VALUES = {
  Origin: ['null', 'https://evil.example', '%00'],
  Accept: ['text/html', 'a/b;q=x', '*/*;q=0'],
  'Accept-Encoding': ['zstd, br;q=0'],
  'X-D1-Bookmark': [
    'first-unconstrained',
    'ffffffff-ffffffff-ffffffff-ffffffffffffffffffffffffffffffff',
    '00000000-00000000-00000000-00000000000000000000000000000000',
    "'; drop table books",
  ],
  Range: ['bytes=0-0,-1', 'bytes=9-1'],
  'If-None-Match': ['*'],
  'If-Match': ['"x"'],
  'If-Modified-Since': ['yesterday'],
  'X-HTTP-Method-Override': ['DELETE'],
  'X-Forwarded-Host': ['evil.example'],
  'X-Original-URL': ['/members/me'],
  'X-Request-Id': ['mine'],
  Cookie: [`a=${'b'.repeat(4_000)}`],
  'X-Long': ['x'.repeat(8_000)],
  'Content-Language': ['\xff\xfe'],
  Authorization: ['Bearer x'],
  'Access-Control-Request-Method': ['TRACE'],
  'Upgrade-Insecure-Requests': ['1'],
  'Cache-Control': ['only-if-cached'],
  Prefer: ['return=minimal'],
}
export const HEADERS = Object.entries(HEADER_VALUES).flatMap(([name, values]) =>
  values.map((value): [string, string] => [name, value]),
)

export const PARTS = [
  'name="file"; filename="a.png"',
  'name="file"',
  'name=file; filename=',
  'name="file"; filename="\0"',
  'name="__proto__"',
  '',
  'name="file"; filename*=utf-8\'\'x',
]
