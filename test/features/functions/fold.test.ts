import { expect, it } from 'vitest'
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
