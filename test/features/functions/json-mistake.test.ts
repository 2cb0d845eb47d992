import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeMistake } from '../../../src/input/json-mistake'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a mistake in JSON', () => {
  it.each([
    ['{"a":1,}', 'trailing comma at line 1, column 7'],
    ['{"a":[1,2,\n ] }', 'trailing comma at line 1, column 10'],
    ['{\r\n  "a": 1,\r\n  "b": 2,\r\n}', 'trailing comma at line 3, column 9'],
    ['{"a":1 "b":2}', 'a comma or } is missing at line 1, column 8'],
    ['[1 2]', 'a comma or ] is missing at line 1, column 4'],
    ['{"a":[1}', 'a comma or ] is missing at line 1, column 8'],
    ['{"a" 1}', 'a colon is missing at line 1, column 6'],
    ['{"a":}', 'a value is missing at line 1, column 6'],
    ['{"a":1,,"b":2}', 'a name in double quotes is missing at line 1, column 8'],
    ['{,}', 'a name in double quotes, or } is missing at line 1, column 2'],
    ['{1:2}', 'a name in double quotes, or } is missing at line 1, column 2'],
    ['[,1]', 'a value or ] is missing at line 1, column 2'],
    ['[1,,2]', 'a value is missing at line 1, column 4'],
    ["{'a':1}", 'quotes other than straight double ones at line 1, column 2'],
    ['{“a”: 1}', 'quotes other than straight double ones at line 1, column 2'],
    ['{"a": \'b\'}', 'quotes other than straight double ones at line 1, column 7'],
    ['{title: "x"}', 'name without double quotes at line 1, column 2'],
    ['{"a": Demian}', 'word without double quotes, other than true, false and null at line 1, column 7'],
    ['{"a": NaN}', 'word without double quotes, other than true, false and null at line 1, column 7'],
    ['{"a": True}', 'word without double quotes, other than true, false and null at line 1, column 7'],
    ['title=Demian', 'word without double quotes, other than true, false and null at line 1, column 1'],
    ['{"a": 01}', 'number in a form that JSON does not have at line 1, column 7'],
    ['{"a": .5}', 'number in a form that JSON does not have at line 1, column 7'],
    ['{"a": +1}', 'number in a form that JSON does not have at line 1, column 7'],
    ['{"a": 1_000}', 'number in a form that JSON does not have at line 1, column 7'],
    ['{"a": 2026-01-01}', 'number in a form that JSON does not have at line 1, column 7'],
    ['{"a": 1 // one\n}', 'comment at line 1, column 9'],
    ['/* a */ {}', 'comment at line 1, column 1'],
    ['{"a": "line\nbreak"}', 'line break or control character in a string at line 1, column 12'],
    ['{"a": "C:\\dir"}', 'invalid escape in a string at line 1, column 10'],
    ['{"a": "\\u12"}', 'invalid escape in a string at line 1, column 8'],
    ['{"a": "De', 'string without its closing quote at line 1, column 7'],
    ['{"a": {"b": 1}', 'it ends too early: a comma or } is missing at line 1, column 15'],
    ['{"a":', 'it ends too early: a value is missing at line 1, column 6'],
    [' \n', 'it ends too early: a value is missing at line 2, column 1'],
    ['{"a":1}}', 'text after the end of the JSON value at line 1, column 8'],
    ['{"a":1};', 'text after the end of the JSON value at line 1, column 8'],
    ['{"a":1}{"b":2}', 'text after the end of the JSON value at line 1, column 8'],
    ['{"a":\u00a01}', 'a value is missing at line 1, column 6'],
  ])('%j is named, with its position', (text, mistake) => {
    expect(isJson(text)).toBe(false)
    expect(describeMistake(text)).toBe(mistake)
  })

  it('is found in every text that is not JSON, and in no other', () => {
    const broken = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.nat(3),
        fc.constantFrom(...'{}[],:"\'\\/\n\t0-.eE1atrunl \u0000\ud800/*'),
      )
      .map(([json, at, removed, added]) => {
        const start = at % (json.length + 1)
        return json.slice(0, start) + added + json.slice(start + removed)
      })
    fc.assert(
      fc.property(fc.oneof(broken, fc.string(), fc.json()), (text) => {
        expect(describeMistake(text) === 'not JSON at line 1, column 1').toBe(isJson(text))
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['a string', `{"a":"${'x\\n'.repeat(200_000)}`],
    ['white space', `{"a":1${' '.repeat(1_000_000)}x`],
    ['an array', `[${'1,'.repeat(300_000)}]`],
    ['brackets', '['.repeat(1_000_000)],
  ])('is found at the end of a long text of %s', (_, text) => {
    expect(describeMistake(text)).toMatch(/ at line 1, column \d+$/)
  })
})
