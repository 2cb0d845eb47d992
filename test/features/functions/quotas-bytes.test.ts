import { expect, it } from 'vitest'
import { utf8Bytes } from '../../../src/values/quotas'

it.each([
  [[], 0],
  [[null, undefined, ''], 0],
  [['a', 'é', null, '한', '😀'], 10],
  // Each half of a surrogate pair is stored as U+FFFD, which has three bytes.
  [['a\ud83d', '\ude00'], 7],
])('counts the UTF-8 bytes of %j', (texts, bytes) => {
  expect(utf8Bytes(...texts)).toBe(bytes)
})
