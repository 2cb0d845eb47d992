import { expect, it } from 'vitest'
import { evaluateConditions, readRange } from '../../../src/library/images/conditions'

const image = { httpEtag: '"x"', uploaded: new Date('2026-05-06T07:08:09.500Z'), size: 100 }
const same = 'Wed, 06 May 2026 07:08:09 GMT'
const before = 'Wed, 06 May 2026 07:08:08 GMT'

it.each([
  ['unmodified', { 'If-Modified-Since': same }],
  ['send', { 'If-Modified-Since': before }],
  ['send', { 'If-Unmodified-Since': same }],
  ['failed', { 'If-Unmodified-Since': before }],
  ['send', { 'If-Match': '"x"', 'If-Unmodified-Since': before }],
  ['send', { 'If-None-Match': '"y"', 'If-Modified-Since': same }],
  ['failed', { 'If-Match': '"y"', 'If-None-Match': '"x"' }],
  ['failed', { 'If-Match': 'W/"x"' }],
  ['unmodified', { 'If-None-Match': '"y", W/"x"' }],
  ['send', {}],
])('the outcome is %s for the headers %o', (outcome, headers) => {
  expect(evaluateConditions(new Headers(headers as Record<string, string>), image)).toBe(outcome)
})

it.each([
  ['bytes=5-5', { offset: 5, length: 1 }],
  ['bytes=0-99', { offset: 0, length: 100 }],
  ['bytes=0-100', { offset: 0, length: 100 }],
  ['bytes=99-', { offset: 99, length: 1 }],
  ['bytes=100-', { offset: 100, length: 0 }],
  ['bytes=-1', { offset: 99, length: 1 }],
  ['bytes=-100', { offset: 0, length: 100 }],
  ['bytes=-101', { offset: 0, length: 100 }],
  ['bytes=5-4', undefined],
  ['bytes=-', undefined],
  ['bytes=1-2,4-5', undefined],
])('%s is the range %o', (Range, range) => {
  expect(readRange(new Headers({ Range }), image)).toEqual(range)
})
