import { expect, it } from 'vitest'
import { toFoldedMemo } from '../../../src/values/quotas'
import { fold, toFoldedColumn } from '../../../src/values/text/fold'

it.each([
  ['Ünder DEM Rad', 'ünder dem rad'],
  ['ВОЙНА И МИР', 'война и мир'],
  ['Straße', 'strasse'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['İstanbul ILIK ılık', 'istanbul ilik ilik'],
  ['데미안'.normalize('NFD'), '데미안'],
])('folds %s', (text, folded) => {
  expect(fold(text)).toBe(folded)
  expect(toFoldedColumn(text)).toBe(folded)
})

it.each(['Demian', '데미안', 'über uns', '', null, undefined])('stores %s only once', (text) => {
  expect(toFoldedColumn(text)).toBeNull()
})

it('leaves a text with a long run of combining marks in its form', () => {
  expect(fold(`E\u0301${'\u0301'.repeat(40)} ÜBER`)).toBe(`e\u0301${'\u0301'.repeat(40)} über`)
})

it('stores no folded memo that is far longer than its text, as NFC of a musical symbol is', () => {
  const note = '\u{1d160}'
  expect(toFoldedMemo(note.repeat(20))).toBe(note.normalize('NFC').repeat(20))
  expect(toFoldedMemo(note.repeat(1000))).toBeNull()
  expect(toFoldedMemo('Ü'.repeat(1000))).toBe('ü'.repeat(1000))
  expect(toFoldedMemo(undefined)).toBeNull()
})
