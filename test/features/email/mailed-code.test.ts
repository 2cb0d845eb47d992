import { describe, expect, it } from 'vitest'
import { normaliseCode, randomCode } from '../../../src/accounts/codes/account-codes'

describe('a mailed code', () => {
  const codes = Array.from({ length: 2000 }, randomCode)

  it('has ten characters in two groups, without letters that look alike', () => {
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
  })

  it('is random: none repeats, and each position takes all 32 characters evenly', () => {
    expect(new Set(codes).size).toBe(codes.length)
    for (let at = 0; at < 10; at++) {
      const counts = Object.groupBy(codes, (code) => normaliseCode(code)[at] ?? '')
      expect(Object.keys(counts)).toHaveLength(32)
      // 62.5 expected, with a standard deviation of 7.8: seven of them are exceeded once in 10^10 runs.
      for (const found of Object.values(counts)) expect(Math.abs((found?.length ?? 0) - 62.5)).toBeLessThan(55)
    }
  })

  it.each([
    ['in lower case', 'k7qm2-9fxtr'],
    ['without the hyphen', 'K7QM29FXTR'],
    ['with spaces, line breaks and other dashes', ' K7QM2 – 9FX\u00a0TR\n'],
  ])('is recognized %s', (_, typed) => {
    expect(normaliseCode(typed)).toBe(normaliseCode('K7QM2-9FXTR'))
  })

  it('may be typed with O for 0, and I or L for 1', () => {
    expect(normaliseCode('oO0iI-lL1zz')).toBe(normaliseCode('00011-111ZZ'))
  })

  it('costs no more if a megabyte is sent for it', () => {
    expect(normaliseCode('O'.repeat(1_000_000)).length).toBeLessThanOrEqual(200)
    expect(normaliseCode(`${'K7QM2-9FXTR'.split('').join('   ')}\n`)).toBe('K7QM29FXTR')
  })

  it('differs from every other code', () => {
    expect(new Set(codes.map(normaliseCode)).size).toBe(codes.length)
    expect(normaliseCode('K7QM2-9FXTS')).not.toBe(normaliseCode('K7QM2-9FXTR'))
    expect(normaliseCode('K7QM2-9FXT')).not.toBe(normaliseCode('K7QM2-9FXTR'))
  })
})
